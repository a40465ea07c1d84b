"""Elementwise halves of a sweep over a block of pairs; the other halves are matrix products.

``S = V K^T`` and ``A = U K`` are left to BLAS, one call for all pairs of a block. What lies between
them is fused here into one loop per half sweep, so that a block makes its way through the cache
once. Pairs lie on axis 0, bins on axis 1; bins without mass have weight 0 and scaling 0.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.pair import power


@compiled
def row_step(S: Array, R: Array, U: Array, omega: Array, error: Array) -> None:
    """``U <- R / S``, or relaxed by each pair's ``omega``; the rows' L1 error before relaxing."""
    shared = R.shape[0] == 1
    for k in range(S.shape[0]):
        r = R[0] if shared else R[k]
        s, u, w = S[k], U[k], omega[k]
        total = 0.0
        if w == 1.0:
            for i in range(s.size):
                u[i] = r[i] / s[i]
        else:
            for i in range(s.size):
                have = u[i] * s[i]
                if have > 0.0:
                    total += abs(have - r[i])
                    u[i] *= power(r[i] / have, w)
        error[k] = total


@compiled
def column_error(A: Array, C: Array, V: Array, error: Array) -> None:
    """Add the columns' L1 error; infinite where a sum is not representable."""
    for k in range(A.shape[0]):
        a, c, v = A[k], C[k], V[k]
        total = 0.0
        for j in range(a.size):
            total += abs(a[j] * v[j] - c[j])
        error[k] = error[k] + total if total < 1e30 else np.inf


@compiled
def column_step(A: Array, C: Array, V: Array, omega: Array) -> None:
    """``V <- C / A``, or relaxed by each pair's ``omega``; a pair with ``omega`` 0 stays put."""
    for k in range(A.shape[0]):
        a, c, v, w = A[k], C[k], V[k], omega[k]
        if w == 1.0:
            for j in range(a.size):
                v[j] = c[j] / a[j]
        elif w > 0.0:
            for j in range(a.size):
                have = v[j] * a[j]
                if have > 0.0:
                    v[j] *= power(c[j] / have, w)
