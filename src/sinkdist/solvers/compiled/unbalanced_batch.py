"""Pairs of a batch where marginals are held by a penalty: sent to the passes that suit them.

One by one on their own bins where the block of the kernel they need is small, as matrix products
where it is large and pairs are many. Histograms sum to 1 here; ``log_t`` knows their masses.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.solvers.bins import all_bins, union
from sinkdist.solvers.compiled.unbalanced import PATIENCE, Scaled, scale_each, scratch_for
from sinkdist.solvers.compiled.unbalanced_products import scale_block
from sinkdist.solvers.prepared import Prepared

__all__ = ["scale_together"]

_CHUNK = 2e8  #: kernel entries read in one compiled call over pairs, so that Ctrl-C is answered
_BLOCK_PAIRS = 8  #: fewer pairs than this do not make a block
_BLOCK_ENTRIES = 160**2  #: of a pair's kernel above which a block is faster than pair after pair


def scale_together(
    task: Prepared, R: Array, C: Array, log_t: Array, law: Array
) -> tuple[Array, Scaled]:
    """Sweeps of all pairs: values, and scalings on all bins where they are kept."""
    sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
    if len(C) >= _BLOCK_PAIRS and sizes.mean() > _BLOCK_ENTRIES:
        return _in_block(task, R, C, log_t, law)
    return _one_by_one(task, R, C, log_t, law)


def _in_block(task: Prepared, R: Array, C: Array, log_t: Array, law: Array) -> tuple[Array, Scaled]:
    """All pairs together on the union of their bins; values, and scalings on all bins."""
    gibbs = task.gibbs
    assert gibbs is not None
    rows, columns = union(R), union(C)
    kernel = gibbs.on(rows, columns)
    rows, columns = all_bins(rows, columns, R, C)
    found = scale_block(
        kernel, np.ascontiguousarray(R[:, rows]), np.ascontiguousarray(C[:, columns]), log_t, law,
        task.tol, task.max_iter, task.stop,
    )  # fmt: skip
    value = gibbs.cost_on(rows, columns, found.U, found.V) / gibbs.lam
    if task.keep_potentials:
        X, Y = (np.zeros((len(C), d)) for d in gibbs.shape)
        X[:, rows], Y[:, columns] = found.X, found.Y
        found = found._replace(X=X, Y=Y)
    return value, found


def _one_by_one(
    task: Prepared, R: Array, C: Array, log_t: Array, law: Array
) -> tuple[Array, Scaled]:
    """Each pair on its own bins, in compiled chunks short enough to be interrupted between."""
    gibbs, pairs = task.gibbs, len(C)
    assert gibbs is not None
    found = Scaled.blank(pairs, *(gibbs.shape if task.keep_potentials else (0, 0)))
    value, following, scratch = np.full(pairs, np.nan), 0, scratch_for(R, C)
    while following < pairs and not task.stop.is_set():
        following = scale_each(
            gibbs.kernel, task.ground.dense, R, C, log_t, law, following, _CHUNK, task.tol,
            PATIENCE, task.max_iter, task.keep_potentials, value, found.error,
            found.n_iter, found.act, found.relaxed, found.tau, found.X, found.Y, *scratch,
        )  # fmt: skip
    return value, found
