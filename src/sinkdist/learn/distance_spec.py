"""Which distance is asked for: all that decides a number, beside the two histograms.

Two estimators that ask the same question share what is known of its answers (`book`), so a question
has a key that is made of its facts, not of objects: clones of an estimator ask the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist import classic
from sinkdist.api.pairs import pairwise
from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs.rows import Rows
from sinkdist.pairs.call import read_call
from sinkdist.pairs.job import ground_fingerprint
from sinkdist.scale import threads

__all__ = ["CLASSIC", "PRECOMPUTED", "TRANSPORT", "DistanceSpec", "SpecOptions", "check_distance"]

Array: TypeAlias = npt.NDArray[Any]

TRANSPORT, PRECOMPUTED = "transport", "precomputed"
#: Distances that look at one bin at a time, by name.
CLASSIC: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "euclidean": classic.euclidean,
        "sqeuclidean": classic.sqeuclidean,
        "hellinger": classic.hellinger,
        "chi2": classic.chi2,
        "total_variation": classic.total_variation,
    }
)
_USUAL_STRENGTH = 9.0  # lam times the median cost: the value that the paper finds best most often


@dataclass(frozen=True, slots=True, eq=False)
class SpecOptions:
    """What an estimator was told about the distance, as it was told."""

    distance: str
    ground: Any
    lam: Any
    reg: Any
    alpha: Any
    iterations: Any
    tol: Any
    max_iter: Any
    workers: Any

    def question(self, bins: int, dtype: np.dtype[Any]) -> DistanceSpec:
        """Check the options and ask for distances between histograms of so many bins."""
        check_distance(self.distance)
        threads.count(self.workers)
        if self.distance != TRANSPORT:
            facts = f"{self.distance} {dtype}"
            return DistanceSpec(self, None, None, dtype, True, facts)
        ground = Ground.grid(bins) if self.ground is None else Ground.of(self.ground)
        if ground.shape[0] != ground.shape[1]:
            raise InputError(
                "The 'ground' option must be square, one row and one column for each bin. "
                f"Got {ground.shape[0]} x {ground.shape[1]} instead."
            )
        lam = self.lam
        if self.lam is None and self.reg is None and self.alpha is None:
            lam = _USUAL_STRENGTH / (ground.median or ground.max or 1.0)
        call = read_call(
            ground, lam, self.reg, self.alpha, self.tol, self.max_iter, self.iterations, "auto",
            dtype,
        )  # fmt: skip
        facts = f"{call.strength} {call.stopping} {dtype} {ground_fingerprint(ground)}"
        return DistanceSpec(self, ground, lam, dtype, ground.is_symmetric, facts)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceSpec:
    """One member of the family, or a classic distance, with all that its numbers depend on.

    Attributes
    ----------
    options : SpecOptions
        What it was made from.
    ground : Ground or None
        Costs between bins, where there is transport.
    lam : float or None
        The strength, also where none was given.
    dtype : numpy.dtype
        What is computed in.
    is_symmetric : bool
        Whether the way from x to y costs what the way back costs.
    key : str
        The facts: questions with the same key have the same answers.
    """

    options: SpecOptions
    ground: Ground | None
    lam: Any
    dtype: np.dtype[Any]
    is_symmetric: bool
    key: str

    def solve(self, X: Rows, Y: Rows | None, workers: Any) -> Array:
        """All distances of one family, each pair once, or from one family to another."""
        o = self.options
        if self.ground is None:
            found = CLASSIC[o.distance](X, Y, workers=workers)
        else:
            if Y is None and not self.is_symmetric:
                Y = X
            found = pairwise(
                X, Y, ground=self.ground, lam=self.lam, reg=o.reg, alpha=o.alpha, tol=o.tol,
                max_iter=o.max_iter, iterations=o.iterations, dtype=self.dtype,
                workers=workers,
            )  # fmt: skip
        values: Array = np.asarray(found, self.dtype)
        return values


def check_distance(distance: Any) -> None:
    """Raise unless it is the name of a distance that estimators know."""
    names = (TRANSPORT, *CLASSIC, PRECOMPUTED)
    if not isinstance(distance, str) or distance not in names:
        listed = ", ".join(repr(name) for name in names[:-1])
        raise InputError(
            f"The 'distance' option must be {listed} or {names[-1]!r}. Got {distance!r} instead."
        )
