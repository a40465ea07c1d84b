"""Newton's method on the dual of one pair: for where sweeps would be many.

Each step reads the kernel twice: once for the value and gradient (a row pass), once to copy the
entries of ``P`` that matter. The linear system is solved by preconditioned conjugate gradients on
that sparse copy, or on the dense kernel where ``P`` is not sparse. A trust region in the maximum
norm of ``log v`` keeps steps honest: the dual is exponential in directions that hardly carry mass,
where a Newton step overshoots while all others are right, so steps are clipped bin by bin.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    MATRIX,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.hessian import (
    dense_diagonal,
    dense_product,
    sparse_diagonals,
    sparse_product,
    sparsify,
)
from sinkdist.kernels.pair import row_pass
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING

# A pair's control numbers; READS counts reads of the dense kernel, the unit of `n_iter`.
RADIUS, DAMPING, READS = range(3)
FIELDS = 3

CUT = 1e-2  #: entries of P below this part of an even share are left out of the Hessian
DENSE = 0.06  #: density above which the dense kernel is the faster Hessian
FORCING = 0.1  #: the linear system's relative accuracy, tightened near the solution
FAR = 1e80  #: scalings beyond this, or below its inverse, are absorbed into the potentials
CG_STEPS = 300
REFUSALS = 12
DAMPED = 1e-2  #: how much of the diagonal is added at first
NARROWEST, WIDEST = 1.0, 64.0  #: limits of the trust region

Work = namedtuple("Work", "g y v0 u0 acc0 sums diagonal scale cg starts columns values")


@part
def begin(control: Array) -> None:
    """A fresh pair."""
    control[RADIUS] = 4.0
    control[DAMPING] = DAMPED
    control[READS] = 0.0


@shared(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, FLOAT)
def newton_pair(
    K: Array, r: Array, c: Array, u: Array, v: Array, acc: Array, control: Array,
    tol: float, reads: float,
) -> tuple[int, float]:  # fmt: skip
    """Newton until ``READS`` reaches ``reads``; how the pair stands and the columns' L1 error.

    On return the rows of ``diag(u) K diag(v)`` are exact. HANDED_OVER means that no step was an
    improvement; RUNNING may also mean that the scalings have gone `far`.
    """
    one_version()
    m, n = K.shape
    room = int(DENSE * m * n) + n
    work = Work(
        np.empty(n), np.empty(n), np.empty(n), np.empty(m), np.empty(n), np.empty(n), np.empty(n),
        np.empty(m), np.empty((5, n)), np.empty(m + 1, np.int32), np.empty(room, np.int32),
        np.empty(room),
    )  # fmt: skip
    sparse, stepping, refused = m > 0, False, 0
    error, dual, gain, radius, longest = np.inf, 0.0, 0.0, control[RADIUS], 0.0
    while True:
        control[READS] += 1.0
        ok = row_pass(K, r, v, u, acc)
        if not ok and not stepping:
            return OVERFLOW, np.inf
        if stepping:
            ratio = (_dual(r, c, u, v) - dual) / gain if ok else -1.0  # 1/2 if Newton was right
            if not (ok and (ratio > 1e-3 or _column_error(c, v, acc) < 0.5 * error)):
                refused += 1
                if refused == REFUSALS:
                    u[:], v[:], acc[:] = work.u0, work.v0, work.acc0
                    return HANDED_OVER, error
                radius = 0.3 * min(radius, longest)
                gain = _step(c, v, work, radius)
                continue
            _adapt(control, ratio, radius, longest > radius)
        error, dual = _gradient(c, v, acc, work.g), _dual(r, c, u, v)
        if error <= tol:
            return CONVERGED, error
        if control[READS] >= reads or needs_absorption(v):
            return RUNNING, error
        work.u0[:], work.v0[:], work.acc0[:] = u, v, acc
        sparse = _assemble(K, r, c, u, v, acc, control, work, sparse)
        forcing = min(FORCING, math.sqrt(error))
        taken = _conjugate_gradients(K, r, v, work, control[DAMPING], forcing, sparse)
        if not sparse:
            control[READS] += taken
        radius, longest = control[RADIUS], _centre(c, work.y)
        gain = _step(c, v, work, radius)
        stepping, refused = True, 0


@shared(VECTOR)
def needs_absorption(v: Array) -> bool:
    """Whether scalings have grown so large that the kernel should be made anew around them."""
    one_version()
    for j in range(v.size):  # noqa: SIM110, because Numba does not compile any()
        if v[j] > FAR or v[j] < 1.0 / FAR:
            return True
    return False


@part
def _gradient(c: Array, v: Array, acc: Array, g: Array) -> float:
    """``g = c - P^T 1``; returns its L1 norm."""
    error = 0.0
    for j in range(c.size):
        g[j] = c[j] - v[j] * acc[j]
        error += abs(g[j])
    return error


@part
def _dual(r: Array, c: Array, u: Array, v: Array) -> float:
    """The dual's value in units of 1 / lam."""
    total = 0.0
    for i in range(r.size):
        total += r[i] * math.log(u[i])
    for j in range(c.size):
        total += c[j] * math.log(v[j])
    return total


@part
def _assemble(
    K: Array, r: Array, c: Array, u: Array, v: Array, acc: Array, control: Array,
    work: Work, sparse: bool,
) -> bool:  # fmt: skip
    """Prepare products with the Hessian; whether a sparse copy of ``P`` is good for them."""
    m, n = K.shape
    control[READS] += 1.0
    if sparse:
        cut = CUT / max(m, n)
        sparse = sparsify(K, u, v, r, c, cut, work.starts, work.columns, work.values) >= 0
    if sparse:
        sparse_diagonals(work.starts, work.columns, work.values, r, work.sums, work.diagonal)
    else:
        for i in range(m):
            work.scale[i] = u[i] * u[i] / r[i]
        dense_diagonal(K, work.scale, work.diagonal)
        for j in range(n):
            work.sums[j] = v[j] * acc[j]
            work.diagonal[j] *= v[j] * v[j]
    for j in range(n):
        left = max(work.sums[j] - work.diagonal[j], 0.0)
        work.diagonal[j] = left + (control[DAMPING] + 1e-13) * work.sums[j]
    return sparse


@part
def _hessian(
    K: Array, r: Array, v: Array, work: Work, damping: float, sparse: bool,
    p: Array, Hp: Array, scratch: Array,
) -> None:  # fmt: skip
    """``Hp = (diag((1 + damping) sums) - P^T diag(1/r) P) p``."""
    if sparse:
        sparse_product(work.starts, work.columns, work.values, r, p, Hp)
    else:
        for j in range(p.size):
            scratch[j] = v[j] * p[j]
        dense_product(K, scratch, work.scale, Hp)
        for j in range(p.size):
            Hp[j] *= v[j]
    for j in range(p.size):
        Hp[j] = (1.0 + damping) * work.sums[j] * p[j] - Hp[j]


@part
def _conjugate_gradients(
    K: Array, r: Array, v: Array, work: Work, damping: float, forcing: float, sparse: bool
) -> int:
    """Solve ``H y = g`` to the accuracy ``forcing``, preconditioned by the diagonal; the steps."""
    n = v.size
    y, residual, z, p, Hp = work.y, work.cg[0], work.cg[1], work.cg[2], work.cg[3]
    energy = 0.0
    for j in range(n):
        y[j] = 0.0
        residual[j] = work.g[j]
        z[j] = residual[j] / work.diagonal[j]
        p[j] = z[j]
        energy += z[j] * residual[j]
    target = forcing * forcing * energy
    for step in range(CG_STEPS):
        _hessian(K, r, v, work, damping, sparse, p, Hp, work.cg[4])
        curvature = 0.0
        for j in range(n):
            curvature += p[j] * Hp[j]
        if not curvature > 0.0:
            return step
        length = energy / curvature
        previous = energy
        energy = 0.0
        for j in range(n):
            y[j] += length * p[j]
            residual[j] -= length * Hp[j]
            z[j] = residual[j] / work.diagonal[j]
            energy += z[j] * residual[j]
        if energy <= target:
            return step + 1
        for j in range(n):
            p[j] = z[j] + energy / previous * p[j]
    return CG_STEPS


@part
def _column_error(c: Array, v: Array, acc: Array) -> float:
    """The columns' L1 error."""
    error = 0.0
    for j in range(c.size):
        error += abs(c[j] - v[j] * acc[j])
    return error


@part
def _centre(c: Array, y: Array) -> float:
    """Take the mean under ``c`` off a step, which only shifts mass between scalings; its length."""
    mean, longest = 0.0, 0.0
    for j in range(y.size):
        mean += c[j] * y[j]
    for j in range(y.size):
        y[j] -= mean
        longest = max(longest, abs(y[j]))
    return longest


@part
def _step(c: Array, v: Array, work: Work, radius: float) -> float:
    """Go from ``v0`` along ``y``, clipped bin by bin; the gain that the gradient promises."""
    gain = 0.0
    for j in range(v.size):
        step = min(max(work.y[j], -radius), radius)
        gain += work.g[j] * step
        v[j] = work.v0[j] * math.exp(step)
    return gain


@part
def _adapt(control: Array, ratio: float, radius: float, clipped: bool) -> None:
    """Trust the next step more or less, by how this one did."""
    if ratio > 0.4:
        control[DAMPING] /= 10.0
        if clipped:
            radius *= 2.0
    elif ratio < 0.15:
        control[DAMPING] = min(4.0 * control[DAMPING] + 1e-6, 1.0)
    control[RADIUS] = min(max(radius, NARROWEST), WIDEST)
