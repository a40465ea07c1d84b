"""Families matched row by row: cut into tiles, run on threads, put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.inputs.arrays import is_sparse
from sinkdist.inputs.fingerprints import identities
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.messages import unmatched
from sinkdist.pairs.report import SHORT
from sinkdist.scale import threads
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.solvers.members import solve_batch
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared

__all__ = [
    "TILE_PAIRS",
    "Postprocess",
    "coincide",
    "empty_rows",
    "matched",
    "pairs_at_once",
    "some_rows",
]

Array = npt.NDArray[Any]
#: Rewrites the answers of a tile, given its histograms and where they stand in their families.
Postprocess = Callable[[Answers, Array, Array, Array, Array], None]

TILE_PAIRS = 512  #: solved together: enough for products at full speed, few enough for the cache
_ROWS = 1 << 23  #: masses of the histograms of a batch, where bins are so many that it matters


def pairs_at_once(ground: Ground, sparse: bool = False) -> int:
    """How many pairs a batch has: fewer where histograms are large, and not sparse."""
    return TILE_PAIRS if sparse else max(1, min(TILE_PAIRS, _ROWS // max(ground.shape)))


def matched(
    task: Prepared, R: Histograms, C: Histograms, workers: int, progress: Any,
    postprocess: Postprocess | None = None,
) -> Answers:  # fmt: skip
    """Row by row; one histogram against every row where one side has only one.

    What ``postprocess`` reads of a tile beside its numbers is not kept.
    """
    if not (R.is_vector or C.is_vector or R.n == C.n):
        raise unmatched(R.n, C.n)
    pairs = C.n if R.is_vector else R.n
    answers = Answers.blank(
        pairs, task.ground.shape, task.member.lam, task.keep_potentials and not postprocess
    )
    full = np.flatnonzero(~(empty_rows(R) | empty_rows(C)))
    alone = task.member.reads_sparse and postprocess is None
    as_stored = alone or (postprocess is None and not task.ground.is_dense)

    def work(chosen: Array) -> None:
        left = some_rows(R, slice(None) if R.is_vector else chosen, as_stored)
        right = some_rows(C, np.zeros(chosen.size, int) if C.is_vector else chosen, as_stored)
        part = solve_batch(task, left, right)
        if postprocess is not None:
            first = np.zeros(1, int) if R.is_vector else chosen
            postprocess(part, left, right, first, np.zeros(1, int) if C.is_vector else chosen)
        answers.put_tile(chosen, part)
        counter.add(chosen.size, Tally.of(part.status, part.error))

    # Pairs that are solved one by one differ in what they take: threads share smaller tiles.
    pieces = 4 * workers if alone and workers > 1 else workers
    sparse = as_stored and is_sparse(R.rows) and is_sparse(C.rows)
    size = min(pairs_at_once(task.ground, sparse), -(-full.size // pieces)) or 1
    tiles = (full[k : k + size] for k in range(0, full.size, size))
    with counting(progress, full.size, SHORT) as counter:
        threads.run(tiles, work, workers, task.stop)
    return answers


def coincide(R: Histograms, C: Histograms) -> Array:
    """Which matched pairs are of equal histograms with mass."""
    first, second = identities(R, C)
    return np.asarray((first == second) & ~(empty_rows(R) | empty_rows(C)))


def some_rows(family: Histograms, index: Array | slice, as_stored: bool) -> Any:
    """Some rows of a family, dense unless they may be as they are stored."""
    return family.rows[index] if as_stored else family.dense(index)


def empty_rows(family: Histograms) -> Array:
    """Which rows are without mass."""
    return np.zeros(family.n, bool) if family.empty is None else family.empty
