"""The exact distance of pairs on a device: solved on the host, put back, and differentiable.

The network simplex is a program for CPUs, so histograms are fetched once and answers sent back. The
gradient is that of the linear function which touches the distance there: the dual potentials are
its slopes along r and c, the plan is its slope along M.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.ground import Ground
from sinkdist.inputs.array_context import ArrayContext
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.arrays.reading import Costs
from sinkdist.pairs.matched import matched
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.prepared import Wishes

__all__ = ["ExactPairs", "solve_exactly"]


class ExactPairs(NamedTuple):
    """One entry, or row, per pair; plans as ``mass`` at ``rows`` and ``columns``, padded with 0.

    ``low`` and ``high`` are proven bounds on the value, to the last bits where dtype is float64.
    """

    value: Array
    F: Array
    G: Array
    error: Array
    status: Array
    ran: Array
    rows: Array
    columns: Array
    mass: Array
    low: Array
    high: Array

    @property
    def plan(self) -> tuple[Array, Array, Array]:
        """Rows, columns and mass of its entries."""
        return self.rows, self.columns, self.mass


def solve_exactly(context: ArrayContext, costs: Costs, R: Array, C: Array) -> ExactPairs:
    """The exact distance of every pair; differentiable."""
    xp, M = context.xp, costs.array
    arrays = [context.constant(x) for x in (R, C, M)]
    dtype = np.dtype(str(C.dtype).rpartition(".")[2])
    solve = partial(_on_host, dtype=dtype, ground=costs.ground)
    if context.kind == "jax":
        from sinkdist.solvers.adjoint.jax_vjp import on_host

        found = ExactPairs(*on_host(solve, _shapes(dtype, R.shape[1], C.shape), arrays))
    else:
        known = [context.host(x) for x in arrays]
        if any(x is None for x in known):
            raise InputTypeError(
                "The exact distance is solved on the host, which torch.func.vmap does not allow: "
                "pass the batch as rows."
            )
        found = ExactPairs(*(context.put(x) for x in solve(*known)))
    change = xp.sum(_finite(xp, found.F) * (R - context.constant(R)), axis=1)
    change = change + xp.sum(_finite(xp, found.G) * (C - context.constant(C)), axis=1)
    if costs.learns:
        moved = xp.reshape(M - context.constant(M), (-1,))
        place = xp.reshape(found.rows * M.shape[1] + found.columns, (-1,))
        at = xp.reshape(xp.take(moved, place), tuple(found.mass.shape))
        change = change + xp.sum(found.mass * at, axis=1)
    return found._replace(value=found.value + change)


def _finite(xp: Any, potential: Array) -> Array:
    """A potential as a slope: 0 on bins without mass."""
    return xp.where(xp.isfinite(potential), potential, 0.0)


def _entries(d: int, e: int) -> int:
    """How many entries of a plan are kept: those of a basis, and the mass that stays in its bin."""
    return d + e + min(d, e) + 1


def _shapes(
    dtype: np.dtype[Any], d: int, shape: tuple[int, ...]
) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """Shape and dtype of each number that comes back."""
    n, e = shape
    entries = (n, _entries(d, e))
    return (
        ((n,), dtype), ((n, d), dtype), ((n, e), dtype), ((n,), dtype), ((n,), np.dtype(np.int32)),
        ((n,), np.dtype(np.int32)),
        (entries, np.dtype(np.int32)), (entries, np.dtype(np.int32)), (entries, dtype),
        ((n,), dtype), ((n,), dtype),
    )  # fmt: skip


def _on_host(
    R: Any, C: Any, M: Any, *, dtype: np.dtype[Any], ground: Ground | None
) -> tuple[npt.NDArray[Any], ...]:
    """The pairs by the solver for NumPy arrays."""
    R, C, M = (np.asarray(x, dtype=np.float64) for x in (R, C, M))
    costs = M if ground is None else ground
    problem = problem_of(costs, Options(lam=math.inf), np.dtype(np.float64))
    workers = threads.count(None)
    wishes = Wishes(True, pairs=len(C), workers=workers)
    r = Histograms(R / R.sum(axis=1, keepdims=True), len(R) == 1)
    c = Histograms(C / C.sum(axis=1, keepdims=True))
    found = matched(problem.member.prepare(problem, wishes), r, c, workers, False)
    out = [np.zeros(shape, kind) for shape, kind in _shapes(dtype, R.shape[1], tuple(C.shape))]
    numbers_of = (found.value, found.f, found.g, found.error, found.status, found.solver)
    for place, numbers in zip(out[:6], numbers_of, strict=True):
        place[...] = numbers
    for k, plan in enumerate(found.plans or []):
        if isinstance(plan, SparsePlan):
            entries = slice(0, plan.mass.size)
            out[6][k, entries], out[7][k, entries] = plan.rows, plan.columns
            out[8][k, entries] = plan.mass
    for k, known in enumerate(found.brackets or []):
        out[9][k], out[10][k] = known or (0.0, np.inf)
    return tuple(out)
