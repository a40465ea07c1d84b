"""A figure with its measurements, from which the report is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sinkdist_paper.figure import Claim, Experiment, Records, View
from sinkdist_paper.manifest import Manifest

__all__ = ["Finding", "verdict"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure that has been measured completely.

    Attributes
    ----------
    experiment : Experiment
        The figure.
    records : sequence of dict
        Its measurements.
    manifest : Manifest
        How they were taken.
    """

    experiment: Experiment
    records: Records
    manifest: Manifest

    @property
    def label(self) -> str:
        """Its name in texts, such as "Figure 1"."""
        return "Figure " + self.experiment.name.removeprefix("fig")

    def claims(self) -> Sequence[Claim]:
        """The claims of the paper about it, judged; `holds` is a Python bool or None."""
        return [
            replace(claim, holds=None if claim.holds is None else bool(claim.holds))
            for claim in self.experiment.claims(self.records)
        ]

    def views(self) -> Sequence[View]:
        """Its tables."""
        return self.experiment.views(self.records)


def verdict(claim: Claim) -> str:
    """The verdict on a claim, in words.

    Examples
    --------
    >>> verdict(Claim("The sky is blue.", "It was, on 3 of 3 days.", True))
    'Holds'
    """
    return {True: "Holds", False: "Does not hold", None: "Not decided here"}[claim.holds]
