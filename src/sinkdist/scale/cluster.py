"""Running tiles on a Dask cluster: tiles are tasks, inputs travel once, workers store their own.

The only file that imports Dask. A worker that dies costs the tiles it was at: Dask gives them to
another one. Should every worker die that held the inputs, they are sent again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from sinkdist.errors import InputError, InputTypeError, MissingExtraError, StoreError
from sinkdist.scale.job import Block, Job, tally
from sinkdist.scale.store import open_store
from sinkdist.scale.tally import Tally
from sinkdist.scale.threads import single_blas_thread
from sinkdist.scale.tiles import Tile

Client: TypeAlias = Any  # distributed.Client, whose methods carry no types

__all__ = ["check_client", "connect", "run_into_memory", "run_into_store"]

_AHEAD = 3  # tiles waiting for each thread of the cluster
_LOSSES = 10  # times that the inputs may be lost with all workers before we give up
_PATIENCE = "10s"  # for a scheduler to answer


def run_into_store(
    client: Client, job: Job, tiles: list[Tile], path: str, done: Callable[[Tile, Tally], None]
) -> None:
    """Compute tiles and let each worker store its own; ``done`` is called as they are finished."""
    _run(client, job, tiles, path, done)


def run_into_memory(
    client: Client, job: Job, tiles: list[Tile], put: Callable[[Tile, Block], None]
) -> None:
    """Compute tiles and bring them home to ``put``."""
    _run(client, job, tiles, None, put)


def _run(
    client: Client, job: Job, tiles: list[Tile], path: str | None, done: Callable[..., None]
) -> None:
    """Keep the cluster's threads in tiles until none is left."""
    left = {tile.place: tile for tile in tiles}
    for _ in range(_LOSSES):
        _attempt(client, job, left, path, done)
        if not left:
            return
    raise StoreError(
        f"The cluster lost its workers {_LOSSES} times over; {len(left)} tiles are not computed."
    )


def _attempt(
    client: Client,
    job: Job,
    left: dict[tuple[int, int], Tile],
    path: str | None,
    done: Callable[..., None],
) -> None:
    """Send the inputs and work through what is left, until it is done or the inputs are lost."""
    distributed = _distributed()
    if not left:
        return
    shared = client.scatter(job, broadcast=True, hash=False)
    queue = iter(list(left.values()))

    def submit(tile: Tile) -> Any:
        return client.submit(_solve, shared, tile, path, pure=False, retries=2)

    ahead = _AHEAD * max(1, sum(client.nthreads().values()))
    first = [submit(tile) for tile in islice(queue, ahead)]
    running = distributed.as_completed(first, loop=client.loop)
    try:
        for future in running:
            try:
                tile, answer = future.result()
            except distributed.client.FutureCancelledError:
                return  # the inputs died with the last worker that held them
            done(tile, answer)
            del left[tile.place]
            for following in islice(queue, 1):
                running.add(submit(following))
    except BaseException:
        client.cancel([*first, *running.futures])
        raise


def _solve(job: Job, tile: Tile, path: str | None) -> tuple[Tile, Any]:
    """On a worker: compute a tile, and store it there if it is to be stored."""
    if path is None:
        return tile, _computed(job, tile)
    store = open_store(path, "r+")
    block = store.read_block(tile)  # there if a worker died between storing it and saying so
    if block is None:
        block = _computed(job, tile)
        store.write(tile, block)
    return tile, tally(job, tile, block)


def _computed(job: Job, tile: Tile) -> Block:
    """A tile, with the worker's other threads left in peace."""
    with single_blas_thread():
        return job.compute(tile)


def check_client(client: Any) -> None:
    """Raise unless this is a Dask client that is connected."""
    if not isinstance(client, _distributed().Client):
        raise InputTypeError(
            "The 'client' option must be a dask.distributed.Client. "
            f"Got an object of type {type(client).__name__} instead."
        )
    if client.asynchronous:
        raise InputError("The 'client' option must be a client that is not asynchronous.")
    if client.status != "running":
        raise InputError(f"The 'client' is {client.status}: connect a new one.")


@contextlib.contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address, such as ``"tcp://10.0.0.5:8786"``."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"No Dask scheduler answers at {address!r}: {error}.") from error
    with client:
        yield client


def _distributed() -> Any:
    """Dask, or the sentence on how to get it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "cluster") from None
    return distributed
