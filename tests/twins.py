"""Readable twins of the compiled passes: those of the array engine, and plain formulas beside them.

Each function has the name and the arguments of a compiled pass, without the arrays which that one
writes to or uses as scratch. It returns new arrays: what the pass writes, in the order of its
arguments, then what it returns. No tricks: what is computed is said here, and how it is made fast
in the passes. What the array engine has as well is taken from there, so that the two engines are
held equal; the rest, which only the compiled engine has, is written out here.

Arrays may come from any library of the standard; nothing is taken from NumPy. Over a block, pairs
lie on axis 0 and bins on axis 1.

One pair, two bins, one plain sweep from ``v = 1``: rows are exact after its first half, when the
columns are off by 0.05 each.

>>> import numpy as np
>>> K, R, C = np.array([[1.0, 0.25], [0.25, 1.0]]), np.array([[0.5, 0.5]]), np.array([[0.45, 0.55]])
>>> U, V, error = sweep(K, R, C, np.ones((1, 2)), np.ones((1, 2)), np.ones(1))
>>> U, V, error.round(12)
(array([[0.4, 0.4]]), array([[0.9, 1.1]]), array([0.1]))
"""

from __future__ import annotations

from typing import Any

from sinkdist.kernels.exponential import CEILING, FLOOR
from sinkdist.kernels.log_sums import NONE
from sinkdist.kernels.pair import LARGEST, SMALLEST
from sinkdist.solution.certificates import many_pairs
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.linear import Coupling
from sinkdist.solvers.arrays.operators import row_update
from sinkdist.solvers.arrays.products import BatchedKernel, SharedKernel
from sinkdist.solvers.arrays.sweeps import Scalings, sweeps

Array = Any  #: an array of the standard; 0-d for a number


def _namespace(array: Array) -> Any:
    """The library an array belongs to, as the standard spells it."""
    return array.__array_namespace__()


# ------------------------------------------------------------------------------ one pair


def gather(K: Array, rows: Array, columns: Array) -> Array:
    """The block of ``K`` on the given bins."""
    xp = _namespace(K)
    return xp.take(xp.take(K, rows, axis=0), columns, axis=1)


def column_sums(K: Array, u: Array) -> Array:
    """``K^T u``."""
    return _products(K).columns(u[None, :])[0, :]


def representable(s: Array) -> Array:
    """Where sums can be trusted to be representable; not where they are NaN."""
    return (s > SMALLEST) & (s < LARGEST)


def row_pass(K: Array, r: Array, v: Array) -> tuple[Array, Array, Array]:
    """``u = r / (K v)``, the column sums ``K^T u``, and whether all row sums are representable."""
    s = _products(K).rows(v[None, :])[0, :]
    u = r / s
    return u, column_sums(K, u), _namespace(K).all(representable(s))


def power(x: Array, w: Array) -> Array:
    """``x^w`` to second order around 1 for ``x`` within 1/2 of it; plain ``x`` elsewhere."""
    xp = _namespace(x)
    e = x - 1.0
    return xp.where(xp.abs(e) > 0.5, x, 1.0 + w * e + 0.5 * w * (w - 1.0) * e**2)


def relaxed_row(have: Array, want: Array, u: Array, w: Array) -> Array:
    """``u (want / have)^w``."""
    return u * power(want / have, w)


def relaxed_row_pass(
    K: Array, r: Array, v: Array, u: Array, w: float
) -> tuple[Array, Array, Array]:
    """``u (r / (u K v))^w``, its column sums, and the rows' L1 error before it.

    The error is infinite where a row sum is not representable.
    """
    xp = _namespace(K)
    s = K @ v
    error = xp.where(xp.all(representable(s)), xp.sum(xp.abs(u * s - r)), xp.inf)
    u = relaxed_row(u * s, r, u, w)
    return u, K.T @ u, error


def relaxed_column_step(c: Array, v: Array, acc: Array, w: float) -> tuple[Array, Array]:
    """``v (c / (v acc))^w`` and the columns' L1 error before it.

    The error is infinite, and the scaling of no use, where a column sum is not representable.
    """
    xp = _namespace(c)
    have = v * acc
    sound = xp.all((have > 0.0) & (have < LARGEST))
    error = xp.where(sound, xp.sum(xp.abs(have - c)), xp.inf)
    return relaxed_row(have, c, v, w), error


def plan_cost(K: Array, M: Array, u: Array, v: Array) -> Array:
    """``<P, M>`` with ``P = diag(u) K diag(v)``."""
    return _namespace(K).sum(u * _products(K * M).rows(v[None, :])[0, :])


def mean_cost(M: Array, r: Array, c: Array) -> Array:
    """``r^T M c``."""
    return many_pairs.mean_cost(_namespace(M), M, r[None, :], c[None, :])[0]


def _products(K: Array) -> SharedKernel:
    """The array engine's products with a kernel; in float64, as passes sum."""
    xp = _namespace(K)
    return SharedKernel(xp, xp.astype(K, xp.float64))


def _coupling(products: Any, P: Array) -> Coupling:
    """A plan as products, without scalings."""
    xp = _namespace(P)
    return Coupling(products, xp.ones((1, P.shape[0])), xp.ones((1, P.shape[1])))


def _plan(K: Array, u: Array, v: Array) -> Array:
    """``diag(u) K diag(v)``."""
    return u[:, None] * K * v[None, :]


# ------------------------------------------------------------- exponentials and the log domain


def bounded_exp(x: Array) -> Array:
    """``exp(x)`` with ``x`` brought between `FLOOR` and `CEILING`; the twin of `exp_in_place`."""
    xp = _namespace(x)
    return xp.exp(xp.clip(x, FLOOR, CEILING))


def gibbs_kernel(M: Array, lam: float) -> Array:
    """``exp(-lam M)`` in float64; the pass rounds it to the dtype of the array it is given."""
    return bounded_exp(-lam * M)


def stabilised_kernel(M: Array, lam: float, f: Array, g: Array) -> Array:
    """``exp(lam (f_i + g_j - M_ij))``."""
    return bounded_exp(lam * (f[:, None] + g[None, :] - M))


def log_row_update(M: Array, lam: float, r: Array, g: Array) -> Array:
    """``f_i = (log r_i - log sum_j exp(lam (g_j - M_ij))) / lam``."""
    xp = _namespace(M)
    lams = xp.full((1, 1), lam, dtype=M.dtype)
    return row_update(xp, M, lams, r[None, :], g[None, :])[1][0, :]


def log_column_update(
    M: Array, lam: float, c: Array, f: Array, g: Array, tol: float
) -> tuple[Array, Array]:
    """``g_j = (log c_j - log sum_i exp(lam (f_i - M_ij))) / lam``; the columns' L1 error before it.

    Column ``j`` of the plan had ``exp(lam (g_j - new g_j))`` times its mass. ``g`` stays as it is
    when the error is at most ``tol``.
    """
    xp = _namespace(M)
    new = log_row_update(M.T, lam, c, f)
    error = xp.sum(c * xp.abs(xp.exp(xp.clip(lam * (g - new), None, 700.0)) - 1.0))
    return xp.where(error > tol, new, g), error


# ---------------------------------------------------------------------------- all triangles


def worst_triangle(M: Array) -> tuple[Array, Array, Array, Array]:
    """The largest ``M_ij - (M_ik + M_kj)`` and its ``i, j, k``; negative where none is violated."""
    xp = _namespace(M)
    d = M.shape[0]
    by_way_of = M[:, None, :] + M.T[None, :, :]  # axes i, j, k
    excess = xp.reshape(M[:, :, None] - by_way_of, (-1,))
    at = xp.argmax(excess)
    return excess[at], at // (d * d), at // d % d, at % d


def shortest_paths(M: Array) -> Array:
    """The length of the shortest path from i to j (Floyd and Warshall)."""
    for k in range(M.shape[0]):
        M = _namespace(M).minimum(M, M[:, k][:, None] + M[k, :][None, :])
    return M


# ------------------------------------------------------------------- sums over bins, and trees


def excess(X: Array, T: Array, least: float) -> Array:
    """``sum_k max(X_ik - T_kj, 0)`` over the bins with more than the ``least`` mass."""
    xp = _namespace(X)
    more = X[:, :, None] - T[None, :, :]
    return xp.sum(xp.where((X[:, :, None] > least) & (more > 0), more, 0.0 * more), axis=1)


def harmonic(X: Array, T: Array, least: float) -> Array:
    """``sum_k X_ik T_kj / (X_ik + T_kj)`` over the bins with more than the ``least`` mass."""
    xp = _namespace(X)
    x = X[:, :, None]
    both = xp.where(x > least, x + T[None, :, :], x * 0.0 + 1.0)
    return xp.sum(xp.where(x > least, x * T[None, :, :] / both, 0.0 * both), axis=1)


def edge_flows(parent: Array, A: Array, B: Array) -> tuple[Array, Array, Array]:
    """Net mass of the normalised histograms and mass of the given ones below every node.

    Then what the totals differ from 1 by, in shares. Without the pass's second word of precision.
    """
    xp = _namespace(B)
    nodes, pairs = parent.shape[0], B.shape[0]
    below = xp.zeros((nodes, nodes), dtype=B.dtype)  # 1 where a node lies in the subtree of another
    for k in range(nodes):
        above = k
        below[above, k] = 1.0
        while above != 0:
            above = int(parent[above])
            below[above, k] = 1.0
    A = xp.broadcast_to(A, (pairs, nodes))
    over = [xp.sum(Z, axis=1) for Z in (A, B)]
    parts = [Z @ below.T for Z in (A, B)]
    moves = xp.any(A != B, axis=1)[:, None] & (xp.arange(nodes) > 0)[None, :]
    zero = xp.zeros((pairs, nodes), dtype=B.dtype)
    shares = [xp.abs(total - 1.0) / total for total in over]
    return (
        xp.where(moves, parts[0] / over[0][:, None] - parts[1] / over[1][:, None], zero),
        xp.where(moves, parts[0] + parts[1], zero),
        xp.maximum(shares[0], shares[1]),
    )


# ------------------------------------------------------------------------- Newton's method


def dense_product(K: Array, w: Array, scale: Array) -> Array:
    """``K^T diag(scale) K w``."""
    coupling = _coupling(_products(K), K)
    return coupling.columns(scale * coupling.rows(w[None, :]))[0, :]


def dense_diagonal(K: Array, scale: Array) -> Array:
    """The diagonal of ``K^T diag(scale) K``."""
    return _namespace(K).sum(scale[:, None] * K * K, axis=0)


def sparsify(
    K: Array, u: Array, v: Array, acc: Array, r: Array, c: Array, cut: float
) -> Array:  # fmt: skip
    """``P`` without entries up to ``cut * min(r_i, c_j, s_j)``, its rows rescaled to sum to ``r``.

    ``s = v acc`` are the sums of its columns.

    Dense, with zeros, where the compiled pass writes compressed rows.
    """
    xp = _namespace(K)
    P = _plan(K, u, v)
    low = cut * xp.minimum(r[:, None], xp.minimum(c, v * acc)[None, :])
    P = xp.where(low < P, P, 0.0)
    return P * (r / xp.sum(P, axis=1))[:, None]


def near_entries(
    M: Array, lam: float, f: Array, g: Array, low_rows: Array, low_columns: Array
) -> Array:
    """``exp(lam (f_i + g_j - M_ij))`` where the exponent is above the lower of two limits, else 0.

    Dense, where the compiled pass writes compressed rows; so do the two that follow.
    """
    xp = _namespace(M)
    x = lam * (f[:, None] + g[None, :] - M)
    near = x > xp.minimum(low_rows[:, None], low_columns[None, :])
    return xp.where(near, xp.exp(x), 0.0)


def near_row_pass(K: Array, r: Array, v: Array) -> tuple[Array, Array, Array]:
    """`row_pass`."""
    return row_pass(K, r, v)


def large_part(K: Array, u: Array, v: Array, acc: Array, r: Array, c: Array, cut: float) -> Array:
    """`sparsify`."""
    return sparsify(K, u, v, acc, r, c, cut)


def sparse_product(P: Array, r: Array, y: Array) -> Array:
    """``P^T diag(1/r) P y``."""
    coupling = _coupling(BatchedKernel(_namespace(P), P[None, :, :]), P)
    return coupling.columns(coupling.rows(y[None, :]) / r)[0, :]


def sparse_diagonals(P: Array, r: Array) -> tuple[Array, Array]:
    """The column sums of ``P`` and the diagonal of ``P^T diag(1/r) P``."""
    xp = _namespace(P)
    return xp.sum(P, axis=0), xp.sum(P**2 / r[:, None], axis=0)


# ------------------------------------------------------------------------ a block of pairs


def row_step(S: Array, R: Array, U: Array, omega: Array) -> tuple[Array, Array]:
    """``R / S`` for pairs with ``omega`` 1, else ``U (R / (U S))^omega``; and the rows' L1 errors.

    Plain pairs have error 0: their rows are exact now. ``R`` has one row, shared, or one per pair.
    """
    xp = _namespace(S)
    plain = (omega == 1.0)[:, None]
    have = U * S
    error = xp.where(plain | ~(have > 0.0), 0.0, xp.abs(have - R))
    U = xp.where(plain, R / S, _relaxed_where_mass(have, R, U, omega))
    return U, xp.sum(error, axis=1, dtype=xp.float64)


def column_error(A: Array, C: Array, V: Array, error: Array) -> Array:
    """The rows' errors plus the columns'; infinite where a sum is not representable."""
    xp = _namespace(A)
    total = xp.sum(xp.abs(A * V - C), axis=1, dtype=xp.float64)
    return xp.where(total < 1e30, error + total, xp.inf)


def column_step(A: Array, C: Array, V: Array, omega: Array) -> Array:
    """``C / A`` for pairs with ``omega`` 1, else ``V (C / (V A))^omega``; 0 leaves ``V``."""
    plain = (omega == 1.0)[:, None]
    return _namespace(A).where(plain, C / A, _relaxed_where_mass(V * A, C, V, omega))


def _relaxed_where_mass(have: Array, want: Array, scaling: Array, omega: Array) -> Array:
    """Relaxed updates of a block; bins without mass keep their scaling, and so do pairs at 0."""
    xp = _namespace(have)
    moves = (have > 0.0) & (omega > 0.0)[:, None]
    new = relaxed_row(xp.where(moves, have, 1.0), want, scaling, omega[:, None])
    return xp.where(moves, xp.astype(new, scaling.dtype), scaling)


def sweep(
    K: Array, R: Array, C: Array, U: Array, V: Array, omega: Array
) -> tuple[Array, Array, Array]:
    """One sweep of a block: new ``U``, new ``V``, and each pair's L1 error in between.

    With ``omega`` 1 this is the update in the loop of Algorithm 1, with ``u = 1 / x``.
    """
    xp = _namespace(K)
    products = SharedKernel(xp, K)
    old_U, old_V = U, V
    U, error = row_step(products.rows(V), R, U, omega)
    A = products.columns(U)
    error = column_error(A, C, V, error)
    V = column_step(A, C, V, omega)
    if bool(xp.all(omega == 1.0)):  # the array engine's plain sweep is this one, half a step on
        start = Scalings(old_U, old_V, A)
        V = sweeps(Control(), products, R, C, start, None, 1).V
    return U, V, error


def log_sums(C: Array, lam: float, L: Array, wanted: Array) -> Array:
    """``log sum_j exp(L[p, j] - lam C[i, j])`` for every row ``p`` and bin ``i``; 0 if unwanted."""
    xp = _namespace(C)
    terms = L[:, None, :] - lam * C[None, :, :]
    top = xp.max(terms, axis=2, keepdims=True)
    sums = xp.log(xp.sum(xp.exp(terms - top), axis=2)) + top[:, :, 0]
    return xp.where(wanted > 0.0, sums, 0.0)


def move_columns(
    log_v: Array, sums: Array, B: Array, log_B: Array, histogram: Array, omega: Array
) -> Array:
    """``omega`` times as far towards exact columns, on bins with mass; ``NONE`` elsewhere."""
    xp = _namespace(log_v)
    b, log_b = xp.take(B, histogram, axis=0), xp.take(log_B, histogram, axis=0)
    w = xp.astype(omega, log_v.dtype)[:, None]
    return xp.where(b > 0, log_v + w * (log_b - log_v - sums), NONE)


def column_errors(sums: Array, log_v: Array, B: Array, histogram: Array) -> Array:
    """The L1 error of ``exp(sums + log_v)`` on bins with mass."""
    xp = _namespace(log_v)
    b = xp.take(B, histogram, axis=0)
    return xp.sum(xp.where(b > 0, xp.abs(xp.exp(sums + log_v) - b), 0.0), axis=1)


def move_rows(
    log_u: Array, row_log: Array, mean: Array, old_z: Array, z: Array, owner: Array, omega: Array
) -> Array:
    """From ``z``: differences from the last one, relaxed towards exact rows."""
    xp = _namespace(log_u)
    mean, old_z, z = (xp.take(x, owner, axis=0) for x in (mean, old_z, z))
    w = xp.astype(xp.take(omega, owner), log_u.dtype)[:, None]
    return z + (1.0 - w) * (log_u - old_z) + w * (mean - row_log)
