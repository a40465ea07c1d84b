"""What a run will take, from a sample of its tiles: pairs, memory, time.

Nothing is stored. Tiles are drawn at random, since histograms are often sorted; what is compiled on
the way is left out of the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sinkdist.inputs.messages import count
from sinkdist.scale import memory, threads
from sinkdist.scale.job import Job, bytes_needed, plan
from sinkdist.scale.lines import duration
from sinkdist.scale.tiles import Tile

__all__ = ["Estimate", "estimated"]

_SECONDS = 2.0  #: of sampling
_ACROSS = 512  #: pairs of a sampled tile, which is one row


@dataclass(frozen=True, slots=True)
class Estimate:
    """What all pairs will take; ``str()`` is one line.

    Attributes
    ----------
    pairs : int
        To be solved: of one family under a symmetric ground, each once.
    pairs_per_second : float
        Measured on ``sampled`` pairs, with all workers.
    seconds : float
        For all pairs, without compiling.
    matrix_bytes : int
        The size of the distances, in memory or on disk.
    worker_bytes : int
        What solving needs beside them.
    sampled : int
        Pairs that were solved for this.
    """

    pairs: int
    pairs_per_second: float
    seconds: float
    matrix_bytes: int
    worker_bytes: int
    sampled: int

    def __str__(self) -> str:
        return (
            f"{count(self.pairs, 'pair')}, about {duration(self.seconds)} at "
            f"{self.pairs_per_second:,.0f} pairs/s; the matrix takes "
            f"{memory.text(self.matrix_bytes)}, solving {memory.text(self.worker_bytes)} "
            f"({count(self.sampled, 'pair')} sampled)"
        )


def estimated(job: Job, workers: int) -> Estimate:
    """Solve a sample for two seconds, and say what all pairs will take."""
    tiling = plan(job, None, workers)
    pairs, (n, m) = tiling.total_pairs, job.shape
    matrix = n * m * job.dtype.itemsize
    needed = bytes_needed(job, tiling.side, workers)
    if pairs == 0:
        return Estimate(0, 0.0, 0.0, matrix, needed, 0)
    drawn = np.random.default_rng(0)
    job.compute(_tile(job, drawn))  # compiles
    solved: list[int] = []
    ends = time.perf_counter() + _SECONDS
    begun = time.perf_counter()

    def work(tile: Tile) -> None:
        job.compute(tile)
        rows, columns = tile.shape
        solved.append(rows * columns)

    def tiles() -> Iterator[Tile]:
        while time.perf_counter() < ends and sum(solved) < pairs:
            yield _tile(job, drawn)

    threads.run(tiles(), work, workers, job.compute.stop)
    sampled, taken = sum(solved), time.perf_counter() - begun
    rate = sampled / taken
    return Estimate(pairs, rate, pairs / rate, matrix, needed, sampled)


def _tile(job: Job, drawn: np.random.Generator) -> Tile:
    """Part of a random row; of a symmetric matrix beside the diagonal, where each pair counts."""
    n, m = job.shape
    rows, first = (max(n // 2, 1), min(n // 2, m - 1)) if job.upper else (n, 0)
    wide = min(_ACROSS, m - first)
    row = int(drawn.integers(rows))
    start = int(drawn.integers(first, m - wide + 1))
    return Tile((0, 0), slice(row, row + 1), slice(start, start + wide))
