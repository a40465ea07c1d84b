"""Reading a stored matrix back: like an array, lazily, both halves, and never what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import IncompleteError, InputError
from sinkdist.scale.stored_views import ByBands, Transposed, both_axes, flattened
from sinkdist.scale.summary import Summary, summarise
from sinkdist.scale.tiles import Tile

if TYPE_CHECKING:
    from sinkdist.scale.store import Store

__all__ = ["StoredArray", "StoredMatrix", "open_matrix"]

Array = npt.NDArray[Any]
Index = npt.NDArray[np.intp]

_NAMED = 3  # missing blocks that a message names


class StoredArray(ByBands):
    """A two-dimensional array on disk, read when it is indexed.

    It is indexed as NumPy's are, with integers, slices, lists, masks and ``numpy.ix_``; `min`,
    `max`, `mean`, ``<`` and the like read it band by band, and ``T`` and `to_dask` not at all. Of a
    symmetric matrix only the upper half is stored; both are there to read. Entries that have not
    been computed yet raise `IncompleteError`.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    @property
    def T(self) -> Any:
        """Rows and columns exchanged: itself where the matrix is symmetric, else a view."""
        return self if self._store.tiling.upper else Transposed(self)

    @property
    def band(self) -> int:
        """The side of its tiles."""
        return self._store.tiling.side

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._store.tiling.shape

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return self._store.dtype_of(self._name)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        parts = both_axes(key)
        outer = flattened(parts)
        if outer is not None:
            rows, columns = (_chosen(outer[axis], self.shape[axis], axis) for axis in (0, 1))
            return self._gather(rows, columns, None)
        rows, columns = (_chosen(parts[axis], self.shape[axis], axis) for axis in (0, 1))
        if rows.ndim and columns.ndim and not any(isinstance(part, slice) for part in parts):
            if rows.size != columns.size and 1 not in (rows.size, columns.size):
                raise IndexError(
                    f"Lists of {rows.size} rows and {columns.size} columns do not pair."
                )
            return self._points(*np.broadcast_arrays(rows, columns))  # entry by entry, as NumPy
        block = self._gather(np.atleast_1d(rows), np.atleast_1d(columns), None)
        return block[tuple(slice(None) if index.ndim else 0 for index in (rows, columns))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("A stored matrix has to be read, which makes a copy.")
        return self.to_numpy().astype(self.dtype if dtype is None else dtype, copy=False)

    def to_numpy(self, *, missing: float | None = None) -> Array:
        """All of it in memory.

        Parameters
        ----------
        missing : float, optional
            What to put where nothing has been computed yet; by default that is an error.

        Returns
        -------
        ndarray
        """
        rows, columns = (np.arange(size) for size in self.shape)
        return self._gather(rows, columns, missing)

    def _gather(self, rows: Index, columns: Index, missing: float | None) -> Array:
        """The entries of some rows and columns, tile by tile."""
        side = self._store.tiling.side
        out = np.full((rows.size, columns.size), 0 if missing is None else missing, self.dtype)
        absent = []
        for i, down in _by_tile(rows, side):
            for j, across in _by_tile(columns, side):
                tile = self._tile(i, j)
                if self._store.has(tile):
                    block = self._block(tile, i, j)
                    inside = np.ix_(rows[down] - i * side, columns[across] - j * side)
                    out[np.ix_(down, across)] = block[inside]
                else:
                    absent.append(tile)
        if absent and missing is None:
            raise self._incomplete(absent)
        return out

    def _points(self, rows: Index, columns: Index) -> Array:
        """Single entries, grouped by the tiles they are in."""
        side, (_, across) = self._store.tiling.side, self._store.tiling.places
        out = np.empty(rows.size, self.dtype)
        for place, where in _by_tile(rows // side * across + columns // side, 1):
            i, j = divmod(place, across)
            tile = self._tile(i, j)
            if not self._store.has(tile):
                raise self._incomplete([tile])
            block = self._block(tile, i, j)
            out[where] = block[rows[where] - i * side, columns[where] - j * side]
        return out

    def _tile(self, i: int, j: int) -> Tile:
        """The tile that holds what is at a place, mirrored or not."""
        tiling = self._store.tiling
        return tiling.tile(j, i) if tiling.upper and i > j else tiling.tile(i, j)

    def _block(self, tile: Tile, i: int, j: int) -> Array:
        """The entries at a place."""
        block = self._store.read(tile, self._name)
        return block if tile.place == (i, j) else block.T

    def _incomplete(self, absent: list[Tile]) -> IncompleteError:
        """The sentence about missing blocks."""
        blocks = sorted({tile.place: tile for tile in absent}.values(), key=lambda tile: tile.place)
        named = [
            f"rows {tile.rows.start} to {tile.rows.stop - 1} against columns "
            f"{tile.columns.start} to {tile.columns.stop - 1}"
            for tile in blocks[:_NAMED]
        ]
        more = f" and {len(blocks) - _NAMED:,} blocks more" if len(blocks) > _NAMED else ""
        return IncompleteError(
            f"{self._store.name!r} is incomplete: {'; '.join(named)}{more} have not been computed "
            "yet. Run what began it once more: it resumes after the last finished tile."
        )


class StoredMatrix(StoredArray):
    """A matrix of distances on disk, read when it is indexed.

    Made by `open_matrix` and by ``pairwise(..., out=...)``. Index it like a two-dimensional array:
    ``D[3, 5]``, ``D[3]``, ``D[:100, 200:]``, ``D[[4, 2]]``; ``numpy.asarray(D)`` and `to_numpy`
    read all of it. Of a symmetric matrix only the upper half is stored; both are there to read.
    Entries that have not been computed yet raise `IncompleteError`.

    Attributes
    ----------
    path : str
        Where it lies.
    parameters : dict
        What the distances were computed with.
    status, marginal_error : StoredArray
        How each pair ended (`Status` codes), and the marginal error of its plan.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store, "distance")
        self.path = store.path
        self.parameters: dict[str, Any] = dict(store.about["facts"]["parameters"])
        self.status = StoredArray(store, "status")
        self.marginal_error = StoredArray(store, "marginal_error")

    @property
    def is_complete(self) -> bool:
        """Whether every pair has been computed."""
        return bool(self._store.finished().all())

    @property
    def missing(self) -> list[Tile]:
        """The blocks that have not been computed yet: their ``rows`` and ``columns``."""
        finished = self._store.finished()
        return [tile for tile in self._store.tiling if not finished[tile.place]]

    def nearest(self, k: Any) -> tuple[Index, Array]:
        """The k smallest distances of every row, read by rows of tiles.

        Of one family, a row is not its own neighbour. (`sinkdist.neighbors` finds neighbours
        without a matrix, and solves far fewer pairs.)

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        indices, distances : ndarray, shape (n, k)
            Nearest first, ties by index; -1 and NaN where there are fewer.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(f"The 'k' option must be a whole number of at least 1. Got {k!r}.")
        (n, m), side = self.shape, self._store.tiling.side
        own = self._store.about["facts"].get("fingerprints", {}).get("Y", 0) is None
        indices, distances = np.full((n, k), -1, np.intp), np.full((n, k), np.nan, self.dtype)
        for start in range(0, n, side):
            rows = np.arange(start, min(start + side, n))
            block = self._gather(rows, np.arange(m), None)
            if own:
                block[np.arange(rows.size), rows] = np.nan
            order = np.argsort(block, axis=1, kind="stable")[:, :k]  # NaN comes last
            values = np.take_along_axis(block, order, 1)
            width = order.shape[1]
            indices[rows, :width] = np.where(np.isnan(values), -1, order)
            distances[rows, :width] = values
        return indices, distances

    def summary(self) -> Summary:
        """What is there, how the pairs ended and how far apart they are; reads every chunk.

        Returns
        -------
        Summary
            A record whose ``str()`` is the text.
        """
        return summarise(self._store)

    def _repr_html_(self) -> str:
        from sinkdist.scale.notebook import as_html

        return as_html(self)

    def __repr__(self) -> str:
        (n, m), tiles = self.shape, len(self._store.tiling)
        missing = len(self.missing)
        state = f"{missing:,} of {tiles:,} blocks missing" if missing else "complete"
        return f"StoredMatrix({self._store.name!r}, {n} x {m}, {self.dtype}, {state})"


def open_matrix(path: Any) -> StoredMatrix:
    """Open a matrix that ``pairwise(..., out=path)`` has stored, finished or not.

    Parameters
    ----------
    path : str or path
        The folder, such as ``"D.zarr"``, or an address in an object store.

    Returns
    -------
    StoredMatrix

    Examples
    --------
    >>> import sinkdist as sd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> out = folder.name + "/D.zarr"
    >>> _ = sd.pairwise([[1, 0], [0, 1]], ground=[[0, 2], [2, 0]], lam=9, out=out)
    >>> D = sd.open_matrix(out)
    >>> D.shape, float(D[0, 1]), D[1]
    ((2, 2), 2.0, array([2., 0.]))
    >>> folder.cleanup()
    """
    from sinkdist.scale.store import open_store  # Zarr, for those who have stored something

    return StoredMatrix(open_store(path))


def _chosen(part: Any, size: int, axis: int) -> Index:
    """One axis of an index as positions; 0-dimensional for a single integer."""
    if isinstance(part, slice):
        return np.arange(size)[part]
    index = np.asarray(part)
    if index.size == 0 and index.ndim == 1:
        return np.zeros(0, int)
    if index.dtype == bool and index.shape == (size,):
        return np.flatnonzero(index)
    if index.dtype.kind not in "iu" or index.ndim > 1:
        raise IndexError(
            f"A stored matrix is indexed by an integer, a slice, a list of integers or a mask of "
            f"{size} entries on axis {axis}, not by {part!r}."
        )
    outside = index[(index < -size) | (index >= size)] if index.ndim else index
    if index.ndim == 0 and -size <= index < size:
        return np.asarray(index % size)
    if index.ndim == 0 or outside.size:
        raise IndexError(
            f"Index {outside.flat[0]} is out of range: axis {axis} has {size} entries."
        )
    return np.asarray(index % size)


def _by_tile(index: Index, side: int) -> Iterator[tuple[int, Index]]:
    """Positions in an index, grouped by the tile that they are in."""
    tiles = index // side
    for tile in np.unique(tiles).tolist():
        yield tile, np.flatnonzero(tiles == tile)
