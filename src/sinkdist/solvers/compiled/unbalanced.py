"""Scaling where marginals are held by a penalty: one pair, and pairs one by one.

The problem of histograms ``r, c`` of masses ``m, n`` is that of ``r / m, c / n`` with
``t = sqrt(m / n)``: plans are ``sqrt(m n)`` times those of

    min <P, M> + KL(P | r c^T) / lam + rho_1 KL(P 1 | t r) + rho_2 KL(P^T 1 | c / t),

so everything here sums to 1 and knows masses by ``log t`` alone. With ``P = diag(u) K diag(v)``,
``u = r exp(x)``, ``v = c exp(y)``, optimal are ``x = (tau_1 - log K v) k / (1 + k)`` with
``k = lam rho_1``, and the same for the columns. Adding a constant to one potential and taking it
from the other leaves the plan alone and changes the ``tau`` only, which are at their optimum after
each sweep (`kernels.masses.settle`); left to the sweeps, that constant would converge at the rate
``k^2 / (1 + k)^2`` and grow beyond all floats where masses differ.

The policy (when to over-relax, stop, hand over) is that of the balanced loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    shared,
)
from sinkdist.kernels.masses import (
    INVERSE1,
    INVERSE2,
    LAW,
    POWER1,
    POWER2,
    SHARE,
    SHIFT,
    first_tau,
    row_sums,
    settle,
    sums_of_columns,
    update,
    violation,
)
from sinkdist.kernels.pair import gather, plan_cost
from sinkdist.kernels.views import matrix_in
from sinkdist.kernels.work_space import aligned
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    OMEGA,
    OVERFLOW,
    RUNNING,
    SWEEPS,
    THETA2,
    begin,
    decide,
)
from sinkdist.solvers.compiled.scaling import LONG, most_bins, support

__all__ = ["PATIENCE", "Scaled", "law_of", "scale_each", "scale_one", "scratch_for"]

#: Sweeps that are worth waiting for: a step of Newton's, by a dense factorisation, takes as long as
#: some dozens of them.
PATIENCE = 400.0


class Scaled(NamedTuple):
    """Scaled pairs, one row or entry each; 0 on bins without mass.

    ``X, Y`` are log scalings, ``U, V`` scalings, ``tau`` what is pulled to; ``act`` as for balanced
    pairs, and rows of a pair that is CONVERGED or RUNNING are exact.
    """

    X: Array
    Y: Array
    U: Array
    V: Array
    tau: Array
    error: Array
    n_iter: Array
    act: Array
    relaxed: Array

    @classmethod
    def blank(cls, pairs: int, m: int, n: int) -> Scaled:
        """Nothing known yet."""
        return cls(
            np.zeros((pairs, m)), np.zeros((pairs, n)), np.zeros((pairs, m)), np.zeros((pairs, n)),
            np.zeros((pairs, 2)), np.full(pairs, np.inf), np.zeros(pairs, np.int64),
            np.full(pairs, RUNNING), np.zeros(pairs, bool),
        )  # fmt: skip


def law_of(lam: float, rho: tuple[float, float]) -> Array:
    """What all pairs share, as kernels take it; one penalty may be infinite.

    Examples
    --------
    >>> law_of(2.0, (0.5, float("inf"))).tolist()
    [0.5, 1.0, 1.0, 0.0, 0.0, 1.0]
    """
    law = np.empty(LAW)
    law[INVERSE1], law[INVERSE2] = (
        1.0 / (lam * side) if lam * side > 0.0 else 1e300 for side in rho
    )
    law[POWER1], law[POWER2] = 1.0 / (1.0 + law[INVERSE1]), 1.0 / (1.0 + law[INVERSE2])
    law[SHARE] = law[INVERSE2] / (law[INVERSE1] + law[INVERSE2])
    # 1 / (1 + 1 / (k1 + k2)), and k1 + k2 = (i1 + i2) / (i1 i2)
    both = law[INVERSE1] * law[INVERSE2] / (law[INVERSE1] + law[INVERSE2])
    law[SHIFT] = 1.0 / (1.0 + both)
    return law


@shared(
    MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR,
    INTEGERS, VECTOR, VECTOR, VECTOR, FLOAT, FLOAT, FLOAT, INT,
)  # fmt: skip
def scale_pair(
    K: Array, r: Array, c: Array, x: Array, y: Array, u: Array, v: Array, e: Array, h: Array,
    s: Array, work: Array, exponents: Array, tau: Array, state: Array, law: Array, log_t: float,
    tol: float, limit: float, sweeps: int,
) -> tuple[int, float]:  # fmt: skip
    """Sweep one pair at most ``sweeps`` times; how it stands and the last error.

    ``e, h`` are what `kernels.masses` calls ``e``, of both sides; ``s, work, exponents`` are
    scratch of the size of the larger one.
    """
    one_version()
    m, n = K.shape
    error = np.inf
    for _ in range(sweeps):
        w = state[OMEGA]
        row_sums(K, v, s[:m])
        error, far = violation(s[:m], r, u, e, tau[0], work[:m])
        if not error < 1e300:
            return OVERFLOW, np.inf
        if w == 1.0:
            error = 0.0
        pull, _ = update(
            s[:m], r, x, e, u, law[POWER1], law[INVERSE1], tau[0], w, far, work[:m], exponents[:m]
        )
        sums_of_columns(K, u, s[:n])
        columns, far = violation(s[:n], c, v, h, tau[1], work[:n])
        error += columns
        if not error < 1e300:
            return OVERFLOW, np.inf
        act = decide(state, error, tol, limit)
        if act == CONVERGED:
            return CONVERGED, error
        other, mass = update(
            s[:n], c, y, h, v, law[POWER2], law[INVERSE2], tau[1], w, far, work[:n], exponents[:n]
        )
        settle(law, log_t, pull, other, mass, y, v, h, tau)
        if act != RUNNING:
            return act, error
    return RUNNING, error


@shared(
    MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, INTEGERS,
    VECTOR, VECTOR,
)  # fmt: skip
def rows_exact(
    K: Array, r: Array, c: Array, x: Array, u: Array, v: Array, e: Array, h: Array,
    s: Array, work: Array, exponents: Array, tau: Array, law: Array,
) -> float:  # fmt: skip
    """End on a plain row update, so that what is returned has exact rows; the columns' error."""
    one_version()
    m, n = K.shape
    row_sums(K, v, s[:m])
    update(s[:m], r, x, e, u, law[POWER1], law[INVERSE1], tau[0], 1.0, 2.0, work[:m], exponents[:m])
    sums_of_columns(K, u, s[:n])
    return violation(s[:n], c, v, h, tau[1], work[:n])[0]


def scratch_for(R: Array, C: Array) -> tuple[Array, Array, Array]:
    """Work space of `scale_each`: bins and exponents, vectors, and two blocks."""
    d1, d2 = R.shape[1], C.shape[1]
    most = max(d1, d2)
    largest = most_bins(R) * most_bins(C)
    vectors = np.empty(FIELDS + 4 * (d1 + d2) + 2 * most)
    return np.empty(d1 + d2 + most, np.int64), vectors, aligned(2 * largest)


@compiled
def scale_each(
    K: Array, M: Array, R: Array, C: Array, log_t: Array, law: Array, first: int, reads: float,
    tol: float, limit: float, max_iter: int, keep: bool, value: Array, error: Array, n_iter: Array,
    act: Array, relaxed: Array, tau: Array, X: Array, Y: Array, bins: Array, vectors: Array,
    blocks: Array,
) -> int:  # fmt: skip
    """Scale pairs from ``first`` on, one after another on their own bins; the pair to go on with.

    As `solvers.compiled.scaling.scale_each`, whose arguments these are. ``X, Y`` are log scalings
    on all bins, where ``keep`` says so.
    """
    d1, d2 = K.shape
    most = max(d1, d2)
    state, exponents = vectors[:FIELDS], bins[d1 + d2 : d1 + d2 + most]
    s, work = vectors[FIELDS : FIELDS + most], vectors[FIELDS + most : FIELDS + 2 * most]
    left = reads
    for k in range(first, C.shape[0]):
        if left <= 0.0:
            return k
        i = k if R.shape[0] > 1 else 0
        m, n = support(R[i], bins), support(C[k], bins[d1:])
        rows, columns = bins[:m], bins[d1 : d1 + n]
        at = FIELDS + 2 * most
        r, x, u, e = (
            vectors[at : at + m],
            vectors[at + m : at + 2 * m],
            vectors[at + 2 * m : at + 3 * m],
            vectors[at + 3 * m : at + 4 * m],
        )
        at += 4 * m
        c, y, v, h = (
            vectors[at : at + n],
            vectors[at + n : at + 2 * n],
            vectors[at + 2 * n : at + 3 * n],
            vectors[at + 3 * n : at + 4 * n],
        )
        for a in range(m):
            r[a], x[a], e[a] = R[i, rows[a]], 0.0, 1.0
            u[a] = r[a]
        for b in range(n):
            c[b], y[b], h[b] = C[k, columns[b]], 0.0, 1.0
            v[b] = c[b]
        tau[k, 0] = first_tau(law, log_t[k], 0.0)
        tau[k, 1] = tau[k, 0]
        whole = m == d1 and n == d2
        sub_K = K if whole else matrix_in(blocks, m, n)
        sub_M = M if whole else matrix_in(blocks[m * n :], m, n)
        if not whole:
            gather(K, rows, columns, sub_K)
        begin(state)
        sweeps = min(max_iter, int(reads / (2 * m * n)) + 1)
        act[k], error[k] = scale_pair(
            sub_K, r, c, x, y, u, v, e, h, s, work, exponents, tau[k], state, law, log_t[k], tol,
            limit, sweeps,
        )  # fmt: skip
        n_iter[k] = int(state[SWEEPS])
        left -= float(2 * n_iter[k] * m * n)
        relaxed[k] = state[THETA2] > 0.0
        if act[k] == RUNNING and sweeps < max_iter:
            act[k] = LONG
        if act[k] == RUNNING:
            error[k] = rows_exact(sub_K, r, c, x, u, v, e, h, s, work, exponents, tau[k], law)
        if act[k] == CONVERGED or act[k] == RUNNING:
            if not whole:
                gather(M, rows, columns, sub_M)
            value[k] = plan_cost(sub_K, sub_M, u, v)
            if keep:
                for a in range(m):
                    X[k, rows[a]] = x[a]
                for b in range(n):
                    Y[k, columns[b]] = y[b]
    return len(C)


def scale_one(
    K: Array, r: Array, c: Array, log_t: float, law: Array, tol: float, max_iter: int, stop: Stop,
    at_once: float,
) -> tuple[Array, Array, Array, Array, Array, int, float, int, bool]:  # fmt: skip
    """One pair on its bins with mass: ``x, y, u, v, tau, act, error, n_iter, relaxed``."""
    m, n = K.shape
    most = max(m, n)
    x, y, u, v, e, h = np.zeros(m), np.zeros(n), r.copy(), c.copy(), np.ones(m), np.ones(n)
    s, work, exponents = np.empty(most), np.empty(most), np.empty(most, np.int64)
    state, tau = np.empty(FIELDS), np.full(2, first_tau(law, log_t, 0.0))
    begin(state)
    step, left = max(1, int(at_once / (2 * K.size))), max_iter
    act, error = RUNNING, np.inf
    while act == RUNNING and left > 0:
        stop.check()
        some = min(step, left)
        act, error = scale_pair(
            K, r, c, x, y, u, v, e, h, s, work, exponents, tau, state, law, log_t, tol, PATIENCE,
            some,
        )  # fmt: skip
        left -= some
    if act == RUNNING:
        error = rows_exact(K, r, c, x, u, v, e, h, s, work, exponents, tau, law)
    return x, y, u, v, tau, act, error, int(state[SWEEPS]), bool(state[THETA2] > 0.0)
