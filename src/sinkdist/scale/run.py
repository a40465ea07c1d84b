"""Running a job: its tiles on threads or on a cluster, into memory or into a store.

Memory is a store like the others, which begins empty. Missing tiles are computed; those that an
earlier run left are checked last, and what turns out to be damaged is computed again. What needs
Zarr or Dask is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from sinkdist.errors import InputError
from sinkdist.scale import memory, threads
from sinkdist.scale.in_memory import InMemory
from sinkdist.scale.job import Job, TileResult, check_budget, plan, tally
from sinkdist.scale.progress import Counter, counting
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import Tile
from sinkdist.version import __version__
from sinkdist.wording import option

__all__ = ["Request", "compute_tiles", "run"]

_CHECKED = 64  #: tiles that a thread looks at in one go


class Request(Protocol):
    """The options that say where a job runs and where its matrix goes."""

    @property
    def out(self) -> Any: ...  # noqa: D102
    @property
    def overwrite(self) -> Any: ...  # noqa: D102
    @property
    def memory(self) -> Any: ...  # noqa: D102
    @property
    def progress(self) -> Any: ...  # noqa: D102
    @property
    def client(self) -> Any: ...  # noqa: D102


def run(job: Job, request: Request, workers: int) -> tuple[Any, Tally]:
    """Compute a matrix: in memory, or stored at ``request.out`` if that is given.

    Returns
    -------
    StoredMatrix or ndarray
        The matrix.
    Tally
        How its pairs ended.
    """
    if request.client is not None:
        from sinkdist.scale.cluster import check_client

        check_client(request.client)
    with _open(job, request, workers) as store:
        counted = _fill(job, store, workers, request.progress, request.client)
        if isinstance(store, InMemory):
            return store.values, counted
        from sinkdist.scale.stored import StoredMatrix

        return StoredMatrix(store), counted


@contextmanager
def _open(job: Job, request: Request, workers: int) -> Iterator[Any]:
    """The store that the request names: memory, or one on disk that may have been begun."""
    if request.out is None:
        if request.overwrite:
            raise InputError(
                "The {} option needs {}, the matrix to be replaced.",
                option("overwrite"), option("out"),
            )  # fmt: skip
        whole_rows = request.client is None and job.by_rows
        tiling = plan(job, None, workers)
        yield InMemory(job, request.memory, tiling, workers if whole_rows else None)
        return
    from sinkdist.scale.store import open_or_create

    limit = memory.read(request.memory) if request.client is None else None
    about = {
        "facts": job.facts,
        "versions": [__version__],
        "statuses": {str(code): name for code, name in job.statuses.items()},
        "short": list(job.short),
    }
    tiling = plan(job, limit, workers)
    check_budget(job, tiling, limit, workers)

    overwrite = bool(request.overwrite)
    with open_or_create(request.out, about, tiling, job.dtype, overwrite=overwrite) as store:
        check_budget(job, store.tiling, limit, workers)  # one that was begun keeps its tiles
        store.note_version(__version__)
        yield store


def _fill(job: Job, store: Any, workers: int, progress: Any, client: Any) -> Tally:
    """Compute missing tiles, then check those that were there and repair what is damaged."""
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
        counter.begin()
        if client is None and progress is not False and hasattr(job.compute, "watch"):
            job.compute.watch = counter.glimpse
        compute_tiles(job, missing, store, counter, workers, client)
        if there:
            batches = (there[k : k + _CHECKED] for k in range(0, len(there), _CHECKED))
            threads.run(batches, check, workers)
            compute_tiles(job, damaged, store, counter, workers, client)
    return counter.tally


def compute_tiles(
    job: Job, tiles: list[Tile], store: Any, counter: Counter, workers: int, client: Any
) -> None:
    """Compute tiles; each is stored where it was computed, or sent to where memory is."""

    def count(tile: Tile, part: Tally) -> None:
        counter.add(store.tiling.pairs(tile), part)

    def keep(tile: Tile, block: TileResult) -> None:
        store.write(tile, block)
        count(tile, tally(job, tile, block))

    def work(tile: Tile) -> None:
        block = job.compute(tile)
        if not job.compute.stop.is_set():  # else it may be half done
            keep(tile, block)

    if client is None:
        threads.run(tiles, work, workers, job.compute.stop)
        return
    from sinkdist.scale import cluster  # Dask, for those who use it

    if store.path is None:
        cluster.run_into_memory(client, job, tiles, keep)
    else:
        cluster.run_into_store(client, job, tiles, store.path, count)
