"""Products with the Gibbs kernel in the log domain, for many rows at once.

``log sum_j exp(l_j - lam C_ij)`` is a product with ``exp(-lam C)`` that no lam can take out of the
range of floats. Bins without mass take no time: of a sparse row only the bins with mass are read.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import exp_in_place

#: Stands for the logarithm of 0: finite, so that it can be scaled and added to.
NONE = -1e30
_ABSENT = 0.5 * NONE


@compiled
def log_sums(C: Array, lam: float, L: Array, wanted: Array, out: Array) -> None:
    """``out[p, i] = log sum_j exp(L[p, j] - lam C[i, j])`` where ``wanted[p, i]`` is not 0.

    Entries of ``L`` around ``NONE`` are skipped; a row without any other gives ``NONE``.
    """
    bins, columns = C.shape
    index, row = np.empty(columns, np.int64), np.empty(columns)
    for p in range(L.shape[0]):
        count = 0
        for j in range(columns):
            if L[p, j] > _ABSENT:
                index[count] = j
                count += 1
        terms = row[:count]
        for i in range(bins):
            if wanted[p, i] == 0:
                continue
            top = NONE
            for k in range(count):
                terms[k] = L[p, index[k]] - lam * C[i, index[k]]
                top = max(top, terms[k])
            for k in range(count):
                terms[k] -= top
            exp_in_place(terms)
            total = 0.0
            for k in range(count):
                total += terms[k]
            out[p, i] = top + math.log(total) if count > 0 else NONE
