"""Filling a stored matrix: what is missing is computed, what an earlier run left is checked.

The tiles that are there already are looked at last: by then everything that was missing is done,
and what turns out to be torn or damaged is computed again.
"""

from __future__ import annotations

from typing import Any

from sinkdist.scale import memory, threads
from sinkdist.scale.job import Job, check_budget, plan, tally
from sinkdist.scale.progress import Counter, counting
from sinkdist.scale.store import Store, open_or_create
from sinkdist.scale.stored import StoredMatrix
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import Tile
from sinkdist.version import __version__

__all__ = ["compute_tiles", "run_into_store"]

_CHECKED = 64  # tiles that a thread looks at in one go


def run_into_store(
    job: Job, out: Any, *, overwrite: bool, budget: Any, workers: int, progress: Any, client: Any
) -> tuple[StoredMatrix, Tally]:
    """Compute what is missing of the matrix stored at ``out``, or all of it; see `run.run`."""
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
        check_budget(job, store.tiling, limit, workers)  # one that was begun keeps its tiles
        store.note_version(__version__)
        return StoredMatrix(store), _fill(job, store, workers, progress, client)


def _fill(job: Job, store: Store, workers: int, progress: Any, client: Any) -> Tally:
    """Compute missing tiles, then check those that were there and mend what is damaged."""
    finished, pairs = store.finished(), store.tiling.pairs
    missing = [tile for tile in store.tiling if not finished[tile.place]]
    there = [tile for tile in store.tiling if finished[tile.place]]
    damaged: list[Tile] = []

    def check(tiles: list[Tile]) -> None:
        for tile in tiles:
            block = store.read_block(tile)
            if block is None:
                damaged.append(tile)
                counter.retract(pairs(tile))
            else:
                counter.add(0, tally(job, tile, block))

    before = sum(map(pairs, there))
    with counting(progress, store.tiling.total_pairs, job.short, before) as counter:
        compute_tiles(job, missing, store, counter, workers, client)
        batches = (there[k : k + _CHECKED] for k in range(0, len(there), _CHECKED))
        threads.run(batches, check, workers)
        compute_tiles(job, damaged, store, counter, workers, client)
    return counter.tally


def compute_tiles(
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
