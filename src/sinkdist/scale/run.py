"""Running a job: its tiles on threads or on a cluster, into memory or into a store.

What needs Zarr or Dask is imported when it is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.scale import threads
from sinkdist.scale.job import Job, TileResult, check_matrix, plan, tally
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import Tile

__all__ = ["run"]

Array = npt.NDArray[Any]


def run(
    job: Job, *, out: Any, overwrite: bool, budget: Any, workers: int, progress: Any, client: Any
) -> tuple[Any, Tally]:
    """Compute a matrix: in memory, or stored at ``out`` if that is given.

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
        from sinkdist.scale.cluster import check_client

        check_client(client)
    if out is None:
        if overwrite:
            raise InputError("The 'overwrite' option needs 'out', the matrix to be replaced.")
        return _run_into_memory(job, budget, workers, progress, client)
    from sinkdist.scale.resume import run_into_store

    return run_into_store(
        job, out, overwrite=overwrite, budget=budget, workers=workers, progress=progress,
        client=client,
    )  # fmt: skip


def _run_into_memory(
    job: Job, budget: Any, workers: int, progress: Any, client: Any
) -> tuple[Array, Tally]:
    """The matrix, and how its pairs ended."""
    check_matrix(job.shape, job.dtype, budget)
    tiling = plan(job, None, workers)
    values = np.empty(job.shape, job.dtype)

    def put(tile: Tile, block: TileResult) -> None:
        values[tile.rows, tile.columns] = block.values
        if job.upper:
            values[tile.columns, tile.rows] = block.values.T
        counter.add(tiling.pairs(tile), tally(job, tile, block))

    def work(tile: Tile) -> None:
        put(tile, job.compute(tile))

    with counting(progress, tiling.total_pairs, job.short) as counter:
        if client is None:
            threads.run(tiling, work, workers, job.compute.stop)
        else:
            from sinkdist.scale.cluster import run_into_memory

            run_into_memory(client, job, list(tiling), put)
    return values, counter.tally
