"""A figure with its measurements, from which the report is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sinkdist_paper.figure import Claim, Experiment, Records, View
from sinkdist_paper.manifest import Manifest

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure that has been measured, completely or far enough to be drawn.

    Attributes
    ----------
    experiment : Experiment
        The figure.
    records : sequence of dict
        Its measurements.
    manifest : Manifest
        How they were taken.
    missing : int
        How many of its cells are not measured yet.
    """

    experiment: Experiment
    records: Records
    manifest: Manifest
    missing: int = 0

    @property
    def label(self) -> str:
        """Its name in texts, such as "Figure 1"."""
        return "Figure " + self.experiment.name.removeprefix("fig")

    def claims(self) -> Sequence[Claim]:
        """The claims of the paper about it, judged."""
        return self.experiment.claims(self.records)

    def remark(self) -> str:
        """A sentence on what is missing; empty if nothing is."""
        if not self.missing:
            return ""
        return (
            f"Not measured completely: {self.missing:,} cells are missing. What is missing is left "
            "out of the drawing and is a dash in the tables; the same command continues."
        )

    def views(self) -> Sequence[View]:
        """Its tables."""
        return self.experiment.views(self.records)
