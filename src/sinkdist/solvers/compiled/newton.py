"""Newton's method on the dual of one pair: for where sweeps would be many.

Each step reads the kernel twice: once for the value and gradient (a row pass), once to copy the
entries of ``P`` that matter. The linear system is solved by preconditioned conjugate gradients on
that sparse copy, or on the dense kernel where ``P`` is not sparse. The kernel may itself come in
compressed rows (`kernels.near_entries`). A trust region in the maximum
norm of ``log v`` keeps steps honest: the dual is exponential in directions that hardly carry mass,
where a Newton step overshoots while all others are right, so steps are clipped bin by bin.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    BOOL,
    FLOAT,
    MATRIX,
    SHORT_INTEGERS,
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
from sinkdist.kernels.near_entries import large_part, near_row_pass
from sinkdist.kernels.pair import row_pass
from sinkdist.kernels.spanning_tree import heaviest_tree, solve_by_tree, weigh_tree
from sinkdist.kernels.views import matrix_in
from sinkdist.kernels.work_space import kept
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING

# A pair's control numbers; READS counts reads of the dense kernel, the unit of `n_iter`.
# TREE says whether near entries are solved by a tree, BY_DIAGONAL how many steps it took without.
RADIUS, DAMPING, READS, TREE, BY_DIAGONAL = range(5)
FIELDS = 5
UNTRIED, TAKEN, GIVEN_UP = 0.0, 1.0, 2.0  #: a tree

CUT = 1e-2  #: entries of P below this part of an even share are left out of the Hessian
DENSE = 0.06  #: density above which the dense kernel is the faster Hessian
FORCING = 0.1  #: the linear system's relative accuracy, tightened near the solution
ENOUGH = 0.1  #: of the part of the error that may stay: the last step is no more accurate
FAR = 1e80  #: scalings beyond this, or below its inverse, are absorbed into the potentials
CG_STEPS = 300
MANY_STEPS = 20  #: from which a tree is tried instead of the diagonal
REFUSALS = 12
DAMPED = 1e-2  #: how much of the diagonal is added at first
NARROWEST, WIDEST = 1.0, 64.0  #: limits of the trust region

# Rows of the work space over columns, and over rows of the kernel.
GRADIENT, STEP, V_BEFORE, ACC_BEFORE, SUMS, DIAGONAL = range(6)
RESIDUAL, PRECONDITIONED, DIRECTION, PRODUCT, SCRATCH = range(6, 11)
U_BEFORE, SCALE = range(2)
OVER_COLUMNS, OVER_ROWS = 11, 2


@part
def begin(control: Array) -> None:
    """A fresh pair."""
    control[RADIUS] = 4.0
    control[DAMPING] = DAMPED
    control[READS] = control[TREE] = control[BY_DIAGONAL] = 0.0


#: In place of a kernel in compressed rows, or of one that is a matrix.
NO_ENTRIES = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
NO_MATRIX = np.empty((0, 0))


@kept
def scratch_for(m: int, n: int, entries: int = 0) -> tuple[Array, Array]:
    """Work space of `newton_pair` for pairs of so many bins: numbers and indices.

    ``entries`` is how many compressed rows have.
    """
    room = max(int(DENSE * m * n) + n, entries)
    return np.empty(OVER_COLUMNS * n + OVER_ROWS * m + room), np.empty(m + 1 + room, np.int32)


@shared(
    MATRIX, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    FLOAT, FLOAT, VECTOR, SHORT_INTEGERS,
)  # fmt: skip
def newton_pair(
    K: Array, near: Array, near_columns: Array, near_values: Array, r: Array, c: Array, u: Array,
    v: Array, acc: Array, control: Array, tol: float, reads: float, numbers: Array, indices: Array,
) -> tuple[int, float]:  # fmt: skip
    """Newton until ``READS`` reaches ``reads``; how the pair stands and the columns' L1 error.

    The kernel is ``K``, or the compressed rows ``near...`` where ``K`` is `NO_MATRIX`. On return
    the rows of ``diag(u) K diag(v)`` are exact. HANDED_OVER means that no step was an improvement;
    RUNNING may also mean that the scalings have gone `far`. The last two are `scratch_for` the
    pair.
    """
    one_version()
    m, n = r.size, c.size
    at = OVER_COLUMNS * n + OVER_ROWS * m
    room = indices.size - (m + 1)
    is_near = K.shape[0] == 0
    W, S = matrix_in(numbers, OVER_COLUMNS, n), matrix_in(numbers[OVER_COLUMNS * n :], OVER_ROWS, m)
    starts, columns = indices[: m + 1], indices[m + 1 : m + 1 + room]
    values = numbers[at : at + room]
    sparse, stepping, refused = m > 0, False, 0
    tree = np.empty(4 * (m + n) if is_near else 0, np.int32)
    weights = np.empty(m + n if is_near else 0)
    error, dual, gain, radius, longest = np.inf, 0.0, 0.0, control[RADIUS], 0.0
    while True:
        control[READS] += 1.0
        if is_near:
            ok = near_row_pass(near, near_columns, near_values, r, v, u, acc)
        else:
            ok = row_pass(K, r, v, u, acc)
        if not ok and not stepping:
            return OVERFLOW, np.inf
        before = dual
        dual = _dual(r, c, u, v) if ok else before
        if stepping:
            ratio = (dual - before) / gain if ok else -1.0  # 1/2 if Newton was right
            if not (ok and (ratio > 1e-3 or _column_error(c, v, acc) < 0.5 * error)):
                dual = before
                refused += 1
                if refused == REFUSALS:
                    for i in range(m):
                        u[i] = S[U_BEFORE, i]
                    for j in range(n):
                        v[j], acc[j] = W[V_BEFORE, j], W[ACC_BEFORE, j]
                    return HANDED_OVER, error
                radius = 0.3 * min(radius, longest)
                gain = _step(v, W, radius)
                continue
            _adapt(control, ratio, radius, longest > radius)
        error = _gradient(c, v, acc, W)
        if error <= tol:
            return CONVERGED, error
        if control[READS] >= reads or needs_absorption(v):
            return RUNNING, error
        for i in range(m):
            S[U_BEFORE, i] = u[i]
        for j in range(n):
            W[V_BEFORE, j], W[ACC_BEFORE, j] = v[j], acc[j]
        control[READS] += 1.0
        damping = control[DAMPING]
        forcing = max(min(FORCING, math.sqrt(error)), ENOUGH * tol / error)
        if is_near:
            _solve_near(
                K, near, near_columns, near_values, r, c, u, v, acc, control, W, S, starts, columns,
                values, tree, weights, forcing,
            )  # fmt: skip
        else:
            if sparse:
                cut = CUT / max(m, n)
                sparse = sparsify(K, u, v, acc, r, c, cut, starts, columns, values) >= 0
            _diagonals(K, r, u, v, acc, W, S, starts, columns, values, damping, sparse)
            taken = _conjugate_gradients(
                K, r, v, W, S, starts, columns, values, damping, forcing, sparse
            )
            if not sparse:
                control[READS] += taken
        radius, longest = control[RADIUS], _centre(c, W)
        gain = _step(v, W, radius)
        stepping, refused = True, 0


@shared(VECTOR)
def needs_absorption(v: Array) -> bool:
    """Whether scalings have grown so large that the kernel should be made anew around them."""
    one_version()
    for j in range(v.size):  # noqa: SIM110, because Numba does not compile any()
        if v[j] > FAR or v[j] < 1.0 / FAR:
            return True
    return False


@shared(
    MATRIX, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    MATRIX, MATRIX, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, SHORT_INTEGERS, VECTOR, FLOAT,
)  # fmt: skip
def _solve_near(
    K: Array, near: Array, near_columns: Array, near_values: Array, r: Array, c: Array, u: Array,
    v: Array, acc: Array, control: Array, W: Array, S: Array, starts: Array, columns: Array,
    values: Array, tree: Array, weights: Array, forcing: float,
) -> None:  # fmt: skip
    """Newton's step where the kernel comes in compressed rows: by the diagonal, or by a tree.

    A tree is tried once the diagonal takes many steps, and kept while it takes fewer.
    """
    one_version()
    cut, damping, sparse = CUT / max(r.size, c.size), control[DAMPING], r.size > 0
    most = CG_STEPS + r.size - r.size  # a literal has a type of its own: a version of every callee
    large_part(near, near_columns, near_values, u, v, acc, r, c, cut, starts, columns, values)
    _diagonals(K, r, u, v, acc, W, S, starts, columns, values, damping, sparse)
    if control[TREE] == UNTRIED and control[BY_DIAGONAL] > MANY_STEPS:
        made = heaviest_tree(near, near_columns, near_values, u, v, tree)
        control[TREE] = TAKEN if made else GIVEN_UP
    if control[TREE] == TAKEN:
        weigh_tree(near_columns, near_values, u, v, tree, weights)
        taken = solve_by_tree(
            starts, columns, values, r, W[SUMS], W[GRADIENT], weights, tree, forcing, most,
            W[STEP],
        )  # fmt: skip
        if taken > control[BY_DIAGONAL]:
            control[TREE] = GIVEN_UP
    else:
        control[BY_DIAGONAL] = _conjugate_gradients(
            K, r, v, W, S, starts, columns, values, damping, forcing, sparse
        )


@part
def _gradient(c: Array, v: Array, acc: Array, W: Array) -> float:
    """The gradient ``c - P^T 1``; returns its L1 norm."""
    g = W[GRADIENT]
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


@shared(
    MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR,
    FLOAT, BOOL,
)  # fmt: skip
def _diagonals(
    K: Array, r: Array, u: Array, v: Array, acc: Array, W: Array, S: Array,
    starts: Array, columns: Array, values: Array, damping: float, sparse: bool,
) -> None:  # fmt: skip
    """Column sums of the plan, and the diagonal of the damped Hessian."""
    one_version()
    sums, diagonal, scale = W[SUMS], W[DIAGONAL], S[SCALE]
    if sparse:
        sparse_diagonals(starts, columns, values, r, sums, diagonal)
    else:
        for i in range(r.size):
            scale[i] = u[i] * u[i] / r[i]
        dense_diagonal(K, scale, diagonal)
        for j in range(v.size):
            sums[j] = v[j] * acc[j]
            diagonal[j] *= v[j] * v[j]
    for j in range(v.size):
        left = max(sums[j] - diagonal[j], 0.0)
        diagonal[j] = left + (damping + 1e-13) * sums[j]


@shared(
    MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, FLOAT, FLOAT,
    BOOL,
)  # fmt: skip
def _conjugate_gradients(
    K: Array, r: Array, v: Array, W: Array, S: Array,
    starts: Array, columns: Array, values: Array, damping: float, forcing: float, sparse: bool,
) -> int:  # fmt: skip
    """Solve ``H y = g`` to the accuracy ``forcing``, preconditioned by the diagonal; the steps."""
    one_version()
    n = v.size
    g, y, sums, diagonal = W[GRADIENT], W[STEP], W[SUMS], W[DIAGONAL]
    residual, z, p, Hp = W[RESIDUAL], W[PRECONDITIONED], W[DIRECTION], W[PRODUCT]
    scratch, scale = W[SCRATCH], S[SCALE]
    energy = 0.0
    for j in range(n):
        y[j] = 0.0
        residual[j] = g[j]
        z[j] = residual[j] / diagonal[j]
        p[j] = z[j]
        energy += z[j] * residual[j]
    target = forcing * forcing * energy
    for step in range(CG_STEPS):
        # Hp = (diag((1 + damping) sums) - P^T diag(1/r) P) p
        if sparse:
            sparse_product(starts, columns, values, r, p, Hp)
        else:
            for j in range(n):
                scratch[j] = v[j] * p[j]
            dense_product(K, scratch, scale, Hp)
            for j in range(n):
                Hp[j] *= v[j]
        for j in range(n):
            Hp[j] = (1.0 + damping) * sums[j] * p[j] - Hp[j]
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
            z[j] = residual[j] / diagonal[j]
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
def _centre(c: Array, W: Array) -> float:
    """Take the mean under ``c`` off a step, which only shifts mass between scalings; its length."""
    y = W[STEP]
    mean, longest = 0.0, 0.0
    for j in range(y.size):
        mean += c[j] * y[j]
    for j in range(y.size):
        y[j] -= mean
        longest = max(longest, abs(y[j]))
    return longest


@shared(VECTOR, MATRIX, FLOAT)
def _step(v: Array, W: Array, radius: float) -> float:
    """Go from ``v0`` along ``y``, clipped bin by bin; the gain that the gradient promises."""
    one_version()
    g, y, before = W[GRADIENT], W[STEP], W[V_BEFORE]
    gain = 0.0
    for j in range(v.size):
        step = min(max(y[j], -radius), radius)
        gain += g[j] * step
        v[j] = before[j] * math.exp(step)
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
