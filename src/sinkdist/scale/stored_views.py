"""What a stored array can do like NumPy's without being read whole: extremes, comparisons, its
transpose, blocks for Dask.

Apart from `stored`, which knows the tiles: here only rows are read, band by band.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import needs_extra

__all__ = ["ByBands", "Transposed", "both_axes", "flattened"]

Array = npt.NDArray[Any]


class ByBands:
    """Operations of a two-dimensional array that is read by bands of rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        raise NotImplementedError

    @property
    def band(self) -> int:
        """Rows that are best read together."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def _bands(self) -> Iterator[tuple[slice, Array]]:
        """All rows, some at a time."""
        for start in range(0, self.shape[0], self.band):
            rows = slice(start, min(start + self.band, self.shape[0]))
            yield rows, self[rows]

    def min(self) -> Any:
        """The smallest entry; NaN if there is one."""
        return np.min([block.min() for _, block in self._bands()])

    def max(self) -> Any:
        """The largest entry; NaN if there is one."""
        return np.max([block.max() for _, block in self._bands()])

    def mean(self) -> float:
        """The mean of all entries."""
        total = sum(float(block.sum(dtype=np.float64)) for _, block in self._bands())
        return total / (self.shape[0] * self.shape[1])

    def _compared(self, other: Any, compare: Callable[[Any, Any], Any]) -> Array:
        """A mask in memory, an eighth of the size of the numbers."""
        mask = np.empty(self.shape, bool)
        for rows, block in self._bands():
            apart = np.ndim(other) == 2 and np.shape(other)[0] == self.shape[0]
            mask[rows] = compare(block, other[rows] if apart else other)
        return mask

    def __lt__(self, other: Any) -> Array:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> Array:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> Array:
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> Array:
        return self._compared(other, operator.ge)

    def to_dask(self) -> Any:
        """A Dask array whose chunks are the stored tiles; nothing is read yet."""
        with needs_extra("cluster", "to_dask"):
            import dask.array

        from_array: Any = dask.array.from_array
        return from_array(self, chunks=(self.band, self.band), name=False)


class Transposed(ByBands):
    """A stored array with rows and columns exchanged, read when it is indexed."""

    def __init__(self, of: Any) -> None:
        self.T = of
        self.dtype, self.ndim, self.size = of.dtype, 2, of.size

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.T.shape
        return columns, rows

    @property
    def band(self) -> int:
        """Rows that are best read together."""
        return int(self.T.band)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        rows, columns = both_axes(key)
        outer = flattened((rows, columns))
        if outer is not None:
            return self.T[np.ix_(outer[1], outer[0])].T
        found = self.T[columns, rows]
        return found.T if np.ndim(found) == 2 else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("A stored matrix has to be read, which makes a copy.")
        return np.asarray(self.T).T.astype(self.dtype if dtype is None else dtype, copy=False)


def both_axes(key: Any) -> tuple[Any, Any]:
    """An index as one part per axis."""
    parts = key if isinstance(key, tuple) else (key,)
    where = [k for k, part in enumerate(parts) if part is Ellipsis]
    if where:
        filling = (slice(None),) * (3 - len(parts))
        parts = (*parts[: where[0]], *filling, *parts[where[0] + 1 :])
    if len(parts) > 2 or len(where) > 1:
        raise IndexError(f"A stored matrix has 2 axes, too few for the index {key!r}.")
    parts = (*parts, slice(None), slice(None))
    return parts[0], parts[1]


def flattened(parts: tuple[Any, ...]) -> tuple[Array, Array] | None:
    """Rows and columns of an index made by ``numpy.ix_``; None for others."""
    if len(parts) != 2 or not all(isinstance(part, np.ndarray) for part in parts):
        return None
    rows, columns = parts
    if rows.ndim == columns.ndim == 2 and rows.shape[1] == columns.shape[0] == 1:
        return rows.ravel(), columns.ravel()
    return None
