"""One large pair on bins with mass: sweeps at one lam after another, finished in float64.

A kernel in float32 halves the traffic of a sweep; its entries are right to a rounding of 6e-8,
which marginals of a usual tolerance do not see. What is returned rests on one last sweep in float64
whose rows of the kernel are made from the costs and not kept: value, error and potentials are of
that plan. So memory is half a kernel, and entries that float32 holds as 0 are back.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.chunks import ACC, FILL, FINISH, C, F, G, R, U, V
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.work_space import aligned
from sinkdist.solution.plans import ScaledPlan
from sinkdist.solvers.compiled import mixing
from sinkdist.solvers.compiled.relaxation import OVERFLOW, RUNNING
from sinkdist.solvers.compiled.team import LAM, Helpers, arrays_for, helped, lead
from sinkdist.solvers.policy import ACCELERATED_SWEEPS, SHARED_ENTRIES

__all__ = ["FINEST", "WITHIN", "Finished", "LargePair"]

FINEST = 2e-7  #: marginal error that sweeps on a float32 kernel can be asked for
WITHIN = 0.9  #: of the tolerance: a float32 kernel measures an error to a few per cent of it
AT_ONCE = 1e8  #: kernel entries read in one compiled call, so that Ctrl-C is answered


class Finished(NamedTuple):
    """A plan in float64 whose rows are exact: value, columns' L1 error, potentials, the plan."""

    value: float
    error: float
    f: Array
    g: Array
    plan: ScaledPlan


class LargePair:
    """The state of a pair: potentials ``f, g``, and ``made`` reads of the kernel.

    ``K`` is memory for the kernel, or the kernel of the first lam (`solve_at` is told so).
    """

    def __init__(
        self, M: Array, r: Array, c: Array, max_iter: int, stop: Stop, workers: int,
        K: Array | None = None,
    ) -> None:  # fmt: skip
        if K is None:
            K = aligned(M.size, np.float32).reshape(M.shape)
        self.max_iter, self.stop, self.made = max_iter, stop, 0
        self.arrays = arrays_for(M, K, workers if M.size >= SHARED_ENTRIES else 1)
        self.rows, self.columns = self.arrays.rows, self.arrays.columns
        self.rows[R], self.columns[C] = r, c
        self.history = np.empty((mixing.VECTORS, c.size))

    def helped(self) -> AbstractContextManager[Helpers]:
        """Threads share the passes while inside."""
        return helped(self.arrays)

    @property
    def potentials(self) -> tuple[Array, Array]:
        """Copies of ``f, g``."""
        return self.rows[F].copy(), self.columns[G].copy()

    @potentials.setter
    def potentials(self, both: tuple[Array, Array]) -> None:
        self.rows[F], self.columns[G] = both

    def solve_at(self, lam: float, goal: float, *, known: bool = False) -> tuple[int, float]:
        """Sweep until the columns' L1 error is at most ``goal``; how the pair stands, that error.

        On a kernel around the potentials, which take the scalings in; ``known`` says that it is
        there already.
        """
        self.arrays.strength[LAM] = lam
        if not known:
            lead(FILL, *self.arrays)
            self.made += 1
        self.columns[V] = 1.0
        control = np.zeros(mixing.FIELDS)
        control[mixing.AGE] = -1.0
        step, act = max(4, int(AT_ONCE / self.arrays.K.size)), RUNNING
        left = max(1, self.max_iter - self.made)
        while act == RUNNING and control[mixing.MADE] < left:
            self.stop.check()
            act = mixing.mixed_sweeps(
                *self.arrays, self.history, control, goal, ACCELERATED_SWEEPS,
                min(step, left - int(control[mixing.MADE])),
            )  # fmt: skip
        self.made += int(control[mixing.MADE])
        if act == OVERFLOW:
            return act, np.inf
        self.rows[F] += np.log(self.rows[U]) / lam
        self.columns[G] += np.log(self.columns[V]) / lam
        return act, float(control[mixing.ERROR])

    def finish(self, lam: float) -> Finished:
        """The plan of the potentials in float64, its rows made exact."""
        f, g = self.potentials
        self.arrays.strength[LAM] = lam
        value = lead(FINISH, *self.arrays)
        self.made += 1
        error = float(np.abs(self.columns[ACC] - self.columns[C]).sum())
        u = self.rows[U].copy()
        new_f = f + np.log(u) / lam
        self.rows[F] = new_f
        return Finished(value, error, new_f, g, ScaledPlan(f, g, u, np.ones(g.size)))

    def update_columns(self, lam: float) -> None:
        """A plain step of the columns, by the sums of `finish`."""
        self.columns[G] += np.log(self.columns[C] / self.columns[ACC]) / lam
