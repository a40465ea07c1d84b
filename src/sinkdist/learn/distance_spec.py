"""Which distance is asked for: all that decides a number, beside the two histograms.

Two estimators with the same specification share a table of known distances (`distance_table`), so
its key is made of facts, not of objects: clones of an estimator have the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist import classic
from sinkdist.api.pairs import pairwise
from sinkdist.errors import InputError, ScaleWarning, warn_caller
from sinkdist.ground import Ground
from sinkdist.inputs.rows import Rows
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem
from sinkdist.problem.scale_check import check_scale
from sinkdist.scale import threads
from sinkdist.wording import option

__all__ = ["CLASSIC", "PRECOMPUTED", "TRANSPORT", "DistanceSpec", "check_distance", "spec_of"]

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
_SMALLEST_IMAGE = 8  # pixels along a side
_USUAL = "9/median"  # the value that the paper finds best most often


@dataclass(frozen=True, slots=True, eq=False)
class DistanceSpec:
    """One member of the family, or a classic distance, with all that its numbers depend on.

    Attributes
    ----------
    distance : str
        Its name among those that estimators know.
    problem : Problem or None
        What is asked, where there is transport.
    dtype : numpy.dtype
        What is computed in.
    key : str
        The facts: specifications with the same key have the same distances.
    workers : int or None
        Threads.
    progress : bool
        Whether progress is shown while pairs are solved.
    """

    distance: str
    problem: Problem | None
    dtype: np.dtype[Any]
    key: str
    workers: int | None
    progress: bool = False

    @property
    def ground(self) -> Ground | None:
        """Costs between bins, where there is transport."""
        return None if self.problem is None else self.problem.ground

    @property
    def is_symmetric(self) -> bool:
        """Whether the way from x to y costs what the way back costs."""
        return self.ground is None or self.ground.is_symmetric

    def solve(self, X: Rows, Y: Rows | None, workers: Any, progress: bool = False) -> Array:
        """All distances of one family, each pair once, or from one family to another."""
        if self.problem is None:
            found = CLASSIC[self.distance](X, Y, workers=workers)
        else:
            if Y is None and not self.is_symmetric:
                Y = X
            o = self.problem.options
            found = pairwise(
                X, Y, ground=self.problem.ground, lam=o.lam, reg=o.reg, alpha=o.alpha, tol=o.tol,
                max_iter=o.max_iter, iterations=o.iterations, dtype=self.dtype, workers=workers,
                progress=progress,
            )  # fmt: skip
        values: Array = np.asarray(found, self.dtype)
        return values


def spec_of(
    distance: str, ground: Any, options: Options, bins: int, dtype: np.dtype[Any]
) -> DistanceSpec:
    """Check an estimator's options; a distance between histograms of so many bins."""
    check_distance(distance)
    threads.count(options.workers)
    if distance != TRANSPORT:
        return DistanceSpec(distance, None, dtype, f"{distance} {dtype}", options.workers)
    if ground is None:
        _warn_of_images(bins)
    ground = Ground.grid(bins) if ground is None else Ground.of(ground)
    if ground.shape[0] != ground.shape[1]:
        raise InputError(
            "The {} option must be square, one row and one column for each bin. Got {} x {} "
            "instead.",
            option("ground"), *ground.shape,
        )  # fmt: skip
    if options.lam is None and options.reg is None and options.alpha is None:
        options = replace(options, lam=_USUAL if ground.median > 0.0 else 9.0 / (ground.max or 1.0))
    problem = problem_of(ground, options, dtype)
    check_scale(problem.member.lam, options.lam, ground)
    ground.know_unit()  # what estimators call for each fit says no more about it
    key = f"{problem.facts()} {ground.fingerprint}"
    return DistanceSpec(distance, problem, dtype, key, options.workers, options.progress)


def _warn_of_images(bins: int) -> None:
    """Warn where bins that are taken to lie on a line may be the pixels of a square."""
    side = math.isqrt(bins)
    if side >= _SMALLEST_IMAGE and side * side == bins:
        warn_caller(
            ScaleWarning(
                f"Without {{}} the {bins} bins are taken to lie on a line, one apart. For images "
                f"of {side} x {side} pixels pass Ground.grid({side}, {side}); where the line is "
                f"meant, Ground.grid({bins}).",
                option("ground"),
            )
        )


def check_distance(distance: Any) -> None:
    """Raise unless it is the name of a distance that estimators know."""
    names = (TRANSPORT, *CLASSIC, PRECOMPUTED)
    if not isinstance(distance, str) or distance not in names:
        listed = ", ".join(repr(name) for name in names[:-1])
        raise InputError(
            "The {} option must be {} or {!r}. Got {!r} instead.",
            option("distance"), listed, names[-1], distance,
        )  # fmt: skip
