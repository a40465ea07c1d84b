"""Unequal masses on a device: solved on the host, put back, and differentiable.

The loops over penalties are compiled ones, so histograms are fetched once and answers sent back, as
for the exact distance; gradients are implicit (`solvers.adjoint.masses`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.arrays.call import Call
from sinkdist.pairs.matched import matched
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.solvers.adjoint import masses
from sinkdist.solvers.adjoint.on_host import HostFunction, call_on_host
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.transport import Answer
from sinkdist.solvers.members import Unbalanced
from sinkdist.solvers.prepared import Wishes

__all__ = ["solve_masses"]

_INTEGER = np.dtype(np.int32)


def solve_masses(call: Call, R: Array, C: Array) -> Answer:
    """Every pair; ``R`` has one row, shared, or one per pair."""
    member = call.member
    assert isinstance(member, Unbalanced)
    dtype = np.dtype(str(C.dtype).rpartition(".")[2])
    (n, e), d = C.shape, R.shape[1]
    numbers, whole = ((n,), dtype), ((n,), _INTEGER)
    shapes = (
        numbers, numbers, ((n, d), dtype), ((n, e), dtype), numbers, whole, whole, numbers, whole
    )  # fmt: skip
    function = HostFunction(
        partial(_solved, call=call, member=member), partial(_pulled, member=member), shapes, 2
    )
    M = call.costs.array if call.costs.learns else call.context.constant(call.costs.array)
    return Answer(*call_on_host(call.context, function, R, C, M))


def _solved(
    R: npt.NDArray[Any], C: npt.NDArray[Any], M: npt.NDArray[Any], *, call: Call,
    member: Unbalanced,
) -> list[Any]:  # fmt: skip
    """The fields of an `Answer`, by the solver for NumPy arrays."""
    costs, stop = M if call.costs.ground is None else call.costs.ground, call.stopping
    options = Options(lam=member.lam, mass_penalty=member.rho, tol=stop.tol, max_iter=stop.max_iter)
    problem, workers = problem_of(costs, options, np.dtype(np.float64)), threads.count(None)
    wishes = Wishes(True, pairs=len(C), workers=workers)
    one = len(R) == 1
    task = problem.member.prepare(problem, wishes)
    found = matched(task, Histograms(R, one), Histograms(C), workers, False)
    F, G = (np.zeros((len(C), H.shape[1])) for H in (R, C))
    F[...], G[...] = found.f, found.g
    dual = np.full(len(C), math.nan)
    for k in range(len(C)):
        i = 0 if one else k
        rows, columns = R[i] > 0.0, C[k] > 0.0
        dual[k] = masses.objective(
            R[i, rows], C[k, columns], F[k, rows], G[k, columns], member.lam, member.rho
        )
    lam = np.full(len(C), member.lam)
    return [found.value, dual, F, G, found.error, found.n_iter, found.status, lam, found.solver]


def _pulled(arrays: Any, outputs: Any, by: Any, *, member: Unbalanced) -> Any:
    """Gradients by both histograms and the costs."""
    R, C, M = arrays
    by_value, by_objective = by
    F, G = outputs[2:4]
    return masses.gradients(R, C, M, F, G, member.lam, member.rho, by_value, by_objective)
