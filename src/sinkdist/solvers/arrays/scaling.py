"""Scaling on one kernel ``K = exp(-lam M)`` that all pairs share, where it fits the dtype."""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.products import Array, SharedKernel
from sinkdist.solvers.arrays.sweeps import (
    ConvergenceState,
    Scalings,
    begin,
    decide,
    start,
    sweeps,
)
from sinkdist.solvers.policy import LOOK

__all__ = ["to_tolerance"]


class _Pairs(NamedTuple):
    """What belongs to the pairs: their histograms; ``R`` may have one row, shared."""

    R: Array
    C: Array


class _State(NamedTuple):
    """Scalings, and how the pairs are getting on."""

    scalings: Scalings
    course: ConvergenceState

    @property
    def going(self) -> Array:
        """Which pairs are still at work."""
        return self.course.going


def to_tolerance(
    control: Control,
    products: SharedKernel,
    R: Array,
    C: Array,
    tol: Any,
    max_iter: Any,
    relax: bool,
) -> tuple[Scalings, ConvergenceState]:
    """Sweep until the marginal error of every pair is at most ``tol``, or ``max_iter`` is reached.

    A pair that has ended keeps its scalings: its result does not depend on the others.
    """
    xp = products.xp

    def step(pairs: _Pairs, state: _State, count: Any) -> _State:
        old, course = state.scalings, state.course
        omega = course.omega if relax else None
        new = sweeps(control, products, pairs.R, pairs.C, old, omega, count)
        going = course.going[:, None]
        kept = Scalings(*(xp.where(going, b, a) for a, b in zip(old, new, strict=True)))
        return _State(kept, decide(xp, course, new, pairs.C, tol, count, relax))

    first = start(xp, products, R, C)
    course = decide(xp, begin(xp, C), first, C, tol, 1, relax=False)
    state = _State(first, course)
    state, _ = control.until_done(xp, step, _Pairs(R, C), state, LOOK, max_iter - 1)
    return state.scalings, state.course
