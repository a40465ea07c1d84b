"""A job: a matrix to be computed tile by tile, whatever its entries mean.

What is computed hands over a `Job`; everything in `scale` works on that alone, so the same tiles,
stores and clusters serve every member of the family and the classic distances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.messages import count
from sinkdist.interrupts import Stop
from sinkdist.scale import memory
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import Tile, Tiling
from sinkdist.wording import option, setting

__all__ = ["Compute", "Job", "TileResult", "check_budget", "check_matrix", "plan", "tally"]

Array = npt.NDArray[Any]

_SECONDS = 5.0  #: of work in a tile, about: what is lost when a run is killed
_SMALLEST, _LARGEST = 16, 512  #: sides of tiles
_MOST_TILES = 10_000  #: above which tiles grow, since each is a few files
_FEWEST_ACROSS = 4  #: tiles along a side, so that small matrices keep several workers busy
_BYTES_BESIDE_VALUES = 5  #: per pair: status and error
_LIBRARIES, _WORKER = 24 << 20, 4 << 20  #: bytes of compiled code and of a thread's own
_ALWAYS_FITS = 1 << 24  #: bytes of a matrix that no budget is looked at for, unless one is given
_COPIES = 3  #: of a block while it is encoded and written


class TileResult(NamedTuple):
    """The entries of a tile: full, also below the diagonal."""

    values: Array
    status: Array
    error: Array


class Compute(Protocol):
    """What answers a tile; it can be pickled, and gives up when ``stop`` is set.

    One with an attribute ``watch`` calls it, unless it is None, with the number of pairs whenever
    some of a tile are answered.
    """

    @property
    def stop(self) -> Stop:
        """Set when nobody waits for the answer any more."""

    def __call__(self, tile: Tile) -> TileResult:
        """Answer a tile."""


@dataclass(frozen=True, slots=True)
class Job:
    """A matrix to be computed.

    Attributes
    ----------
    shape : tuple of int
        Of the matrix.
    dtype : numpy.dtype
        Of its values.
    upper : bool
        Whether the matrix is symmetric, so that only its upper triangle is computed.
    compute : Compute
        Answers a tile.
    facts : dict
        What decides the values, as JSON: parameters, and fingerprints of the inputs.
    statuses : dict of int to str
        What the status codes mean.
    short : tuple of int
        Status codes of pairs that did not reach what was asked for.
    seconds_per_pair : float
        A rough guess, for the size of tiles.
    bytes_per_worker, bytes_shared : int
        What solving takes beside the blocks of results: each worker, and all of them together.
    by_rows : int
        Pairs of one row that are best computed together, where the matrix is in memory; 0 for jobs
        that prefer square tiles.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    upper: bool
    compute: Compute
    facts: dict[str, Any]
    statuses: dict[int, str]
    short: tuple[int, ...]
    seconds_per_pair: float
    bytes_per_worker: int
    bytes_shared: int
    by_rows: int = 0


def plan(job: Job, budget: int | None, workers: int) -> Tiling:
    """Tiles of a few seconds of work each, smaller if ``workers`` of them do not fit the budget."""
    n, m = job.shape
    side = min((_SECONDS / job.seconds_per_pair) ** 0.5, max(n, m) / _FEWEST_ACROSS, _LARGEST)
    side = max(side, (n * m / (2 if job.upper else 1) / _MOST_TILES) ** 0.5, _SMALLEST)
    power = 2 ** math.floor(math.log2(side))
    while (
        budget is not None
        and power > _SMALLEST
        and memory.held() + bytes_needed(job, power, workers) > budget
    ):
        power //= 2
    return Tiling(job.shape, power, job.upper)


def check_budget(job: Job, tiling: Tiling, budget: int | None, workers: int) -> None:
    """Raise if this many tiles at a time do not fit the budget."""
    held, needed = memory.held(), bytes_needed(job, tiling.side, workers)
    if budget is not None and held + needed > budget:
        raise InputError(
            f"The memory budget of {memory.text(budget)} is too small: this process holds "
            f"{memory.text(held)} already, and {count(workers, 'worker')} on tiles of "
            f"{tiling.side} x {tiling.side} pairs need {memory.text(needed)} more. Raise {{}}, or "
            "use fewer {}.",
            option("memory"),
            option("workers"),
        )


def check_matrix(shape: tuple[int, int], dtype: np.dtype[Any], budget: Any) -> None:
    """Raise if a matrix in memory does not fit the ``memory`` option."""
    size = shape[0] * shape[1] * dtype.itemsize
    if budget is None and size <= _ALWAYS_FITS:  # what is free takes a while to find out
        return
    limit, held = memory.read(budget), memory.held()
    if held + size > limit:
        raise InputError(
            f"A matrix of {shape[0]:,} x {shape[1]:,} in {dtype} takes {memory.text(size)}, and "
            f"this process holds {memory.text(held)} already: the memory budget is "
            f"{memory.text(limit)}. Pass {{}} to store it on disk, or raise {{}}.",
            setting("out", "D.zarr"),
            option("memory"),
        )


def bytes_needed(job: Job, side: int, workers: int) -> int:
    """What so many workers hold at a time, each on a tile of its own."""
    block = side * side * (job.dtype.itemsize + _BYTES_BESIDE_VALUES) * _COPIES
    return workers * (block + job.bytes_per_worker + _WORKER) + job.bytes_shared + _LIBRARIES


def tally(job: Job, tile: Tile, block: TileResult) -> Tally:
    """How the pairs of a tile ended, each pair counted once."""
    if job.upper and tile.is_diagonal and len(block.status) > 1:  # one row is all of its half
        half = np.triu_indices(len(block.status), m=block.status.shape[1])
        return Tally.of(block.status[half], block.error[half])
    return Tally.of(block.status, block.error)
