"""A matrix in memory, as a store of tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.scale.job import Job, TileResult, check_matrix
from sinkdist.scale.tiles import RowTiling, Tile, Tiling

__all__ = ["InMemory"]

Array = npt.NDArray[Any]

_PIECES = 4  #: tiles for each thread, at least, where there are enough rows


class InMemory:
    """Where finished tiles go if no other place is named; it begins empty.

    ``values`` is the matrix.

    Parameters
    ----------
    job : Job
        What is computed.
    budget : str, int or None
        The ``memory`` option.
    tiling : Tiling
        Square tiles, for jobs that ask for nothing else.
    workers : int or None
        Threads that share the work where whole rows are computed together; else None.
    """

    path = None

    def __init__(self, job: Job, budget: Any, tiling: Tiling, workers: int | None) -> None:
        check_matrix(job.shape, job.dtype, budget)
        self.tiling: Any = tiling
        if workers is not None:
            n, m = job.shape
            high = max(1, min(job.by_rows // max(m, 1), -(-n // (_PIECES * workers))))
            self.tiling = RowTiling(job.shape, high, job.upper)
        self.values: Array = np.empty(job.shape, job.dtype)
        self._upper = job.upper

    def finished(self) -> npt.NDArray[np.bool_]:
        """No tile is there yet."""
        return np.zeros(self.tiling.places, bool)

    def read_block(self, tile: Tile) -> TileResult | None:
        """Nothing is ever found: a matrix in memory is new."""
        return None

    def write(self, tile: Tile, block: TileResult) -> None:
        """Keep the values of a tile, and of its mirror image."""
        self.values[tile.rows, tile.columns] = block.values
        if self._upper:
            self.values[tile.columns, tile.rows] = block.values.T
