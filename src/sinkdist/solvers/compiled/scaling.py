"""Scaling of pairs one by one, each on its own bins: plain and over-relaxed sweeps.

The loops are compiled whole, so a small pair costs its arithmetic and no more. A pair's bins
without mass are left out by copying the block of the kernel it needs; a pair of full support reads
the kernel in place.
"""

from __future__ import annotations

import numpy as np

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
from sinkdist.kernels.pair import gather, plan_cost, relaxed_column_step, relaxed_row_pass, row_pass
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

#: Beside those of `relaxation`: too many reads for one compiled call over many pairs.
LONG = 5


@shared(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, FLOAT, INT)
def scale_pair(
    K: Array, r: Array, c: Array, u: Array, v: Array, acc: Array, state: Array,
    tol: float, limit: float, sweeps: int,
) -> tuple[int, float]:  # fmt: skip
    """Sweep one pair at most ``sweeps`` times; returns how it stands and the last error.

    Where it ends with CONVERGED the rows of ``diag(u) K diag(v)`` are exact and the error is the
    columns'.
    """
    one_version()
    n = c.size
    error = np.inf
    for _ in range(sweeps):
        w = state[OMEGA]
        if w == 1.0:
            if not row_pass(K, r, v, u, acc):
                return OVERFLOW, np.inf
            error = 0.0
            for j in range(n):
                error += abs(acc[j] * v[j] - c[j])
        else:
            error = relaxed_row_pass(K, r, v, u, acc, w)
            error += relaxed_column_step(c, v, acc, w)
        if not error < 1e300:
            return OVERFLOW, np.inf
        act = decide(state, error, tol, limit)
        if act == CONVERGED:
            return CONVERGED, error
        if w == 1.0:
            for j in range(n):
                v[j] = c[j] / acc[j]
        if act != RUNNING:
            return act, error
    return RUNNING, error


@shared(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
def rows_exact(K: Array, r: Array, c: Array, u: Array, v: Array, acc: Array) -> float:
    """End on a plain row pass, so that what is returned has exact rows; the columns' error."""
    one_version()
    row_pass(K, r, v, u, acc)
    error = 0.0
    for j in range(c.size):
        error += abs(acc[j] * v[j] - c[j])
    return error


@shared(VECTOR, INTEGERS)
def support(weights: Array, out: Array) -> int:
    """Write the indices of the positive weights; their number."""
    one_version()
    count = 0
    for j in range(weights.size):
        if weights[j] > 0.0:
            out[count] = j
            count += 1
    return count


def scratch_for(R: Array, C: Array) -> tuple[Array, Array, Array]:
    """Work space of `scale_each`: bins, vectors, and two blocks for the largest pair."""
    d1, d2 = R.shape[1], C.shape[1]
    largest = most_bins(R) * most_bins(C)
    return np.empty(d1 + d2, np.int64), np.empty(2 * d1 + 3 * d2 + FIELDS), aligned(2 * largest)


def most_bins(H: Array) -> int:
    """The most bins with mass that one of the histograms has."""
    return int(np.count_nonzero(H, axis=1).max(initial=0))


@compiled
def scale_each(
    K: Array, M: Array, R: Array, C: Array, first: int, reads: float,
    tol: float, limit: float, max_iter: int, keep: bool,
    value: Array, error: Array, n_iter: Array, act: Array, relaxed: Array, U: Array, V: Array,
    bins: Array, vectors: Array, blocks: Array,
) -> int:  # fmt: skip
    """Scale the pairs of a tile from ``first`` on, one after another on their own bins.

    Ends when ``reads`` kernel entries have been read, so that Ctrl-C is answered; returns the pair
    to go on with. ``R`` has one row (shared) or one per pair. Scalings go to ``U, V`` where
    ``keep`` says so, 0 on bins without mass. A pair that has not converged within ``max_iter``
    sweeps keeps RUNNING; HANDED_OVER and OVERFLOW ones are left for another solver, and so is, as
    LONG, one that would take more than ``reads`` by itself. The last three are `scratch_for`.
    """
    d1, d2 = K.shape
    state = vectors[:FIELDS]
    left = reads
    for k in range(first, C.shape[0]):
        if left <= 0.0:
            return k
        i = k if R.shape[0] > 1 else 0
        m, n = support(R[i], bins), support(C[k], bins[d1:])
        rows, columns = bins[:m], bins[d1 : d1 + n]
        at = FIELDS
        r, u = vectors[at : at + m], vectors[at + m : at + 2 * m]
        at += 2 * m
        c, v, acc = (
            vectors[at : at + n],
            vectors[at + n : at + 2 * n],
            vectors[at + 2 * n : at + 3 * n],
        )
        for a in range(m):
            r[a], u[a] = R[i, rows[a]], 1.0
        for b in range(n):
            c[b], v[b] = C[k, columns[b]], 1.0
        whole = m == d1 and n == d2
        sub_K = K if whole else matrix_in(blocks, m, n)
        sub_M = M if whole else matrix_in(blocks[m * n :], m, n)
        if not whole:
            gather(K, rows, columns, sub_K)
        begin(state)
        sweeps = min(max_iter, int(reads / (m * n)) + 1)
        act[k], error[k] = scale_pair(sub_K, r, c, u, v, acc, state, tol, limit, sweeps)
        n_iter[k] = int(state[SWEEPS])
        left -= float(n_iter[k] * m * n)
        relaxed[k] = state[THETA2] > 0.0
        if act[k] == RUNNING and sweeps < max_iter:
            act[k] = LONG
        if act[k] == RUNNING:
            error[k] = rows_exact(sub_K, r, c, u, v, acc)
        if act[k] == CONVERGED or act[k] == RUNNING:
            if not whole:
                gather(M, rows, columns, sub_M)
            value[k] = plan_cost(sub_K, sub_M, u, v)
            if keep:
                for a in range(m):
                    U[k, rows[a]] = u[a]
                for b in range(n):
                    V[k, columns[b]] = v[b]
    return len(C)
