"""Running a job: every tile that is not finished, on threads or on a cluster.

The tiles that an earlier run left are looked at last: by then everything that was missing is done,
and what turns out to be torn or damaged is computed again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.scale import memory, threads
from sinkdist.scale.job import Block, Job, check_budget, check_matrix, plan, tally
from sinkdist.scale.progress import Counter, counting
from sinkdist.scale.store import Store, open_or_create
from sinkdist.scale.stored import StoredMatrix
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import Tile
from sinkdist.version import __version__

__all__ = ["run"]

Array = npt.NDArray[Any]


def run(
    job: Job, *, out: Any, overwrite: bool, budget: Any, workers: int, progress: Any, client: Any
) -> tuple[Any, Tally]:
    """Compute a matrix: stored at ``out`` if that is given, else brought home from a cluster.

    Parameters
    ----------
    job : Job
        What to compute.
    out : str, path or None
        Where to store it.
    overwrite : bool
        Replace a matrix that another call has stored there.
    budget : str, int or None
        The ``memory`` option.
    workers : int
        Threads, where there is no cluster.
    progress : bool or callable
        The ``progress`` option.
    client : distributed.Client or None
        A cluster to run on, instead of threads.

    Returns
    -------
    StoredMatrix or ndarray
        The matrix.
    Tally
        How its pairs ended.
    """
    if client is not None:
        from sinkdist.scale import cluster  # Dask, for those who use it

        cluster.check_client(client)
    if out is None:
        return _into_memory(job, budget, progress, client)
    limit = memory.read(budget) if client is None else None  # else workers have their own
    about = {
        "facts": job.facts,
        "versions": [__version__],
        "statuses": {str(code): name for code, name in job.statuses.items()},
        "short": list(job.short),
    }
    tiling = plan(job, limit, workers)
    check_budget(job, tiling, limit, workers)
    with open_or_create(out, about, tiling, job.dtype, overwrite=overwrite) as store:
        check_budget(job, store.tiling, limit, workers)
        store.note_version(__version__)
        return StoredMatrix(store), _fill(job, store, workers, progress, client)


def _fill(job: Job, store: Store, workers: int, progress: Any, client: Any) -> Tally:
    """Compute missing tiles, then check those that were there and mend what is damaged."""
    finished, pairs = store.finished(), store.tiling.pairs
    missing = [tile for tile in store.tiling if not finished[tile.place]]
    there = [tile for tile in store.tiling if finished[tile.place]]
    damaged: list[Tile] = []

    def check(tile: Tile) -> None:
        block = store.read_block(tile)
        if block is None:
            damaged.append(tile)
            counter.add(-pairs(tile), Tally({}, {}))
        else:
            counter.add(0, tally(job, tile, block))

    before = sum(map(pairs, there))
    with counting(progress, store.tiling.total_pairs, job.short, before) as counter:
        _compute(job, missing, store, counter, workers, client)
        threads.run(there, check, workers)
        _compute(job, damaged, store, counter, workers, client)
    return counter.tally


def _compute(
    job: Job, tiles: list[Tile], store: Store, counter: Counter, workers: int, client: Any
) -> None:
    """Compute tiles and store each where it was computed."""

    def count(tile: Tile, part: Tally) -> None:
        counter.add(store.tiling.pairs(tile), part)

    def work(tile: Tile) -> None:
        block = job.compute(tile)
        if not job.compute.stop.is_set():  # else it may be half done
            store.write(tile, block)
            count(tile, tally(job, tile, block))

    if client is None:
        threads.run(tiles, work, workers, job.compute.stop)
    else:
        from sinkdist.scale import cluster  # Dask, for those who use it

        cluster.run_into_store(client, job, tiles, store.path, count)


def _into_memory(job: Job, budget: Any, progress: Any, client: Any) -> tuple[Array, Tally]:
    """Compute a matrix on a cluster and bring it home; the matrix, and how its pairs ended."""
    from sinkdist.scale import cluster

    check_matrix(job.shape, job.dtype, budget)
    tiling = plan(job, None, 1)
    values = np.empty(job.shape, job.dtype)

    def put(tile: Tile, block: Block) -> None:
        values[tile.rows, tile.columns] = block.values
        if job.upper:
            values[tile.columns, tile.rows] = block.values.T
        counter.add(tiling.pairs(tile), tally(job, tile, block))

    with counting(progress, tiling.total_pairs, job.short) as counter:
        cluster.run_into_memory(client, job, list(tiling), put)
    return values, counter.tally
