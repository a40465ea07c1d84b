"""Running tiles on a Dask cluster: tiles are tasks, inputs travel once, workers store their own.

The only file that imports Dask. A worker that dies costs the tiles it was at: Dask gives them to
another one, and what Dask gives up is sent again. Should every worker die that held the inputs,
they are sent again. `cluster_health` checks a cluster that sends nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from sinkdist.errors import ClusterWarning, InputError, InputTypeError, StoreError, needs_extra
from sinkdist.scale.cluster_health import ClusterHealth, kept, outside
from sinkdist.scale.job import Job, TileResult, tally
from sinkdist.scale.tally import Tally
from sinkdist.scale.threads import single_blas_thread
from sinkdist.scale.tiles import Tile

Client: TypeAlias = Any  # distributed.Client, whose methods carry no types
Future: TypeAlias = Any  # distributed.Future

__all__ = ["Sent", "check_address", "check_client", "connect", "run_into_memory", "run_into_store"]

_AHEAD = 3  # tiles waiting for each thread of the cluster
#: Times in a row that all workers may be lost, and the inputs with them: before the caller is
#: warned, and before the run is given up.
_WORD, _LOSSES = 2, 10
_TRIES = 3  # of a tile whose workers die; each is several, by Dask's own count
_LOOK = 1.0  # seconds of silence after which we look whether anybody is there
_ARRIVAL = 60.0  # seconds for a finished tile to arrive
_PATIENCE = 8.0  # seconds for a scheduler to answer


def run_into_store(
    client: Client, job: Job, tiles: list[Tile], path: str, done: Callable[[Tile, Tally], None]
) -> None:
    """Compute tiles and let each worker store its own; ``done`` is called as they are finished."""
    _run(client, job, tiles, path, done)


def run_into_memory(
    client: Client, job: Job | Sent, tiles: list[Any], put: Callable[[Any, Any], None]
) -> None:
    """Compute tiles and hand them to ``put``."""
    _run(client, job, tiles, None, put)


class Sent:
    """Inputs that travel once for several runs: anything with a ``compute``, a function of a tile.

    They are sent again where the workers are lost that held them.
    """

    def __init__(self, job: Any) -> None:
        self._job, self._there = job, None

    def on(self, client: Client) -> Future:
        """The inputs on the cluster."""
        if self._there is None:
            self._there = client.scatter(self._job, broadcast=True, hash=False)
        return self._there

    def forget(self) -> None:
        """Send them again when they are next needed."""
        self._there = None


def _run(
    client: Client, job: Any, tiles: list[Any], path: str | None, done: Callable[..., None]
) -> None:
    """Keep the cluster's threads in tiles until none is left."""
    if not tiles:
        return
    crew, losses = _Crew(client, job, tiles, path, done), 0
    while crew.left:
        before = len(crew.left)
        crew.work()
        losses = losses + 1 if len(crew.left) == before else 0
        if losses == _LOSSES:
            raise StoreError(
                f"The Dask cluster lost its workers {_LOSSES} times over, most likely for want of "
                f"memory; {len(crew.left)} tiles are not computed. {kept(path)}"
            )
        if losses == _WORD:
            warnings.warn(
                f"The Dask cluster lost its workers {_WORD} times over before a tile was finished, "
                f"most likely for want of memory. It is tried again. {kept(path)}",
                ClusterWarning,
                stacklevel=outside(),
            )


class _Lost(Exception):
    """The inputs died with the last worker that held them, or the tasks with their scheduler."""


class _Crew:
    """The cluster at work on the tiles that are left."""

    def __init__(
        self,
        client: Client,
        job: Any,
        tiles: list[Any],
        path: str | None,
        done: Callable[..., None],
    ) -> None:
        self.left = {tile.place: tile for tile in tiles}
        self._client, self._path, self._done = client, path, done
        self._inputs = job if isinstance(job, Sent) else Sent(job)
        self._health = ClusterHealth(client, path)
        self._deaths: Counter[tuple[int, int]] = Counter()
        self._verdict: StoreError | None = None
        self._running: dict[Future, Tile] = {}
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def work(self) -> None:
        """Send the inputs and work through what is left, until it is done or they are lost."""
        self._health.wait_for_workers()
        try:
            shared = self._inputs.on(self._client)
            ahead = _AHEAD * max(1, sum(self._client.nthreads().values()))
        except OSError:  # a worker, or the scheduler, went away meanwhile: `check` says which
            self._inputs.forget()
            time.sleep(_LOOK)
            return
        possible = [tile for tile in self.left.values() if self._deaths[tile.place] < _TRIES]
        waiting = deque(sorted(possible, key=lambda tile: self._deaths[tile.place]))
        self._running, self._ended = {}, queue.SimpleQueue()
        try:
            self._submit(shared, waiting, ahead)
            while self._running:
                future = self._next()
                tile = self._running.pop(future)
                if not self._bring_home(future, tile) and self._deaths[tile.place] < _TRIES:
                    waiting.append(tile)  # behind all others, which are kept if it fails again
                self._submit(shared, waiting, ahead)
            if self._verdict is not None:
                raise self._verdict
        except _Lost:
            self._inputs.forget()
            return
        except BaseException:
            self._give_up()
            raise

    def _submit(self, shared: Future, waiting: deque[Tile], ahead: int) -> None:
        """Hand tiles to the cluster; one that has its last try goes alone, so that it is known."""
        while waiting and len(self._running) < ahead:
            alone = self._deaths[waiting[0].place] == _TRIES - 1
            if alone and self._running:
                return
            tile = waiting.popleft()
            future = self._client.submit(_solve, shared, tile, self._path, pure=False, retries=2)
            self._running[future] = tile
            future.add_done_callback(self._ended.put)
            if alone:
                return

    def _next(self) -> Future:
        """The next task that ended, however it did; the cluster is checked meanwhile."""
        while True:
            try:
                return self._ended.get(timeout=_LOOK)
            except queue.Empty:
                self._health.check()

    def _bring_home(self, future: Future, tile: Tile) -> bool:
        """Take in what a task answers; False if the tile has to be sent again."""
        self._health.require_scheduler()
        if future.cancelled():
            raise _Lost
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, _distributed().KilledWorker):
                raise error.with_traceback(future.traceback())
            self._note_deaths(tile, error)
            return False
        try:
            _, answer = future.result(timeout=_ARRIVAL)
        except _distributed().client.CancelledError:
            raise _Lost from None
        except OSError as error:  # the worker that had it is gone
            self._note_deaths(tile, error)
            return False
        self._done(tile, answer)
        del self.left[tile.place]
        self._health.tile_finished()
        return True

    def _note_deaths(self, tile: Tile, error: BaseException) -> None:
        """Count the tries of a tile whose workers die, and give up when there were enough."""
        self._deaths[tile.place] += 1
        where = (
            f"rows {tile.rows.start} to {tile.rows.stop - 1} against columns "
            f"{tile.columns.start} to {tile.columns.stop - 1}"
        )
        if self._deaths[tile.place] == _TRIES:
            self._verdict = StoreError(
                f"Workers die again and again at one tile, {where}: most likely they have too "
                f"little memory. Give each more of it, or fewer threads. {kept(self._path)}"
            )
            self._verdict.__cause__ = error
            if self._path is None:  # else what is left can still be computed and kept
                raise self._verdict
        if self._deaths.total() == 1:
            warnings.warn(
                f"Workers of the Dask cluster died at one tile, {where}: most likely they have too "
                "little memory. It is tried again.",
                ClusterWarning,
                stacklevel=outside(),
            )

    def _give_up(self) -> None:
        """Take back what was asked for, if there is anybody to tell."""
        if self._client.status == "running":
            with contextlib.suppress(OSError):
                self._client.cancel(list(self._running))


def _solve(job: Job, tile: Tile, path: str | None) -> tuple[Tile, Any]:
    """On a worker: compute a tile, and store it there if it is to be stored."""
    if path is None:
        return tile, _computed(job, tile)
    from sinkdist.scale.store import open_store  # Zarr, where something is stored

    store = open_store(path, "r+")
    block = store.read_block(tile)  # there if a worker died between storing it and saying so
    if block is None:
        block = _computed(job, tile)
        store.write(tile, block)
    return tile, tally(job, tile, block)


def _computed(job: Job, tile: Tile) -> TileResult:
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


def check_address(address: str) -> None:
    """Raise unless this can be the address of a scheduler; no connection is made."""
    _distributed()
    from distributed.comm import addressing, registry

    try:
        scheme, place = addressing.parse_address(address)
        registry.get_backend(scheme)
        if scheme in ("tcp", "tls", "ws", "wss"):
            host, port = addressing.parse_host_port(place)
            if not host or not 0 < port < 2**16:
                raise ValueError("its host or its port is missing")
    except (ValueError, ImportError) as error:
        raise InputError(
            f"{address!r} is not the address of a Dask scheduler, such as 'tcp://10.0.0.5:8786': "
            f"{str(error).rstrip('.')}."
        ) from error


@contextlib.contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address, such as ``"tcp://10.0.0.5:8786"``."""
    check_address(address)
    try:
        asyncio.run(asyncio.wait_for(_greet(address), _PATIENCE))
        client = _distributed().Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # each kind of address has its own
        reason = str(error).rstrip(".") or f"nothing came within {_PATIENCE:.0f} seconds"
        raise InputError(f"No Dask scheduler answers at {address!r}: {reason}.") from error
    with _silent("distributed.client"), client:
        yield client


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a logger from printing tracebacks of what our own error says."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


async def _greet(address: str) -> None:
    """Ask a scheduler who it is; a client that failed to would take long to close."""
    security = _distributed().Security().get_connection_args("client")
    async with _distributed().rpc(address, connection_args=security) as scheduler:
        await scheduler.identity()


def _distributed() -> Any:
    """Dask, or the sentence on how to get it."""
    with needs_extra("cluster", "Computing on a cluster"):
        import distributed
    return distributed
