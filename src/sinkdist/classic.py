"""Distances that look at one bin at a time: what Sinkhorn distances are compared with.

They know no ground cost, so they stand apart from everything that does. A tile is one matrix
product; where that product cancels, the few entries concerned are computed afresh.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.families import dense_rows, empty_rows
from sinkdist.histograms import Histograms, check_same_bins, read, working_dtype
from sinkdist.jobs import fingerprint, statuses
from sinkdist.scale import threads
from sinkdist.scale.job import Block, Job
from sinkdist.scale.run import run
from sinkdist.scale.tiles import Tile
from sinkdist.solution import Status

__all__ = ["euclidean", "hellinger"]

Array: TypeAlias = npt.NDArray[Any]

_ENTRIES_AT_ONCE = 1 << 20  # of differences held in memory while entries are computed afresh
_SECONDS_PER_BIN = 1e-10  # for a pair, to the nearest power of ten


def euclidean(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Euclidean distances ``sqrt(sum_k (X[i, k] - Y[j, k])^2)`` between all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms, one per row.
    Y : array-like of shape (m, d), optional
        Other histograms; `X` itself by default.
    normalize : bool
        Divide by the row sums; without it rows must sum to 1.
    on_empty : {"raise", "nan"}
        Whether rows without mass are an error or have NaN for their distances.
    workers, progress, memory, out, overwrite, client
        As for `pairwise`.

    Returns
    -------
    ndarray of shape (n, m), or StoredMatrix where `out` is given
        The distances; float32 when all rows are float32, else float64. Equal rows have distance 0.

    See Also
    --------
    hellinger : the same on square roots, bounded by 1.

    Examples
    --------
    >>> from sinkdist.classic import euclidean
    >>> euclidean([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.414, 0.707],
           [1.414, 0.   , 0.707],
           [0.707, 0.707, 0.   ]])
    """
    return _run(
        _euclidean, X, Y, normalize, on_empty, workers, progress, memory, out, overwrite, client
    )


def hellinger(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Hellinger distances ``sqrt(sum_k (sqrt(X[i, k]) - sqrt(Y[j, k]))^2 / 2)`` between all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms, one per row.
    Y : array-like of shape (m, d), optional
        Other histograms; `X` itself by default.
    normalize : bool
        Divide by the row sums; without it rows must sum to 1.
    on_empty : {"raise", "nan"}
        Whether rows without mass are an error or have NaN for their distances.
    workers, progress, memory, out, overwrite, client
        As for `pairwise`.

    Returns
    -------
    ndarray of shape (n, m), or StoredMatrix where `out` is given
        The distances, between 0 (equal rows) and 1 (rows without a common bin); float32 when all
        rows are float32, else float64.

    See Also
    --------
    euclidean : the same without square roots.

    Examples
    --------
    >>> from sinkdist.classic import hellinger
    >>> hellinger([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.   , 0.541],
           [1.   , 0.   , 0.541],
           [0.541, 0.541, 0.   ]])
    """
    return _run(
        _hellinger, X, Y, normalize, on_empty, workers, progress, memory, out, overwrite, client
    )


@dataclass(frozen=True, eq=False)
class _Binwise:
    """Tiles of a distance that is a function of two blocks of histograms."""

    distance: Callable[[Array, Array], Array]
    X: Histograms
    Y: Histograms

    @property
    def stop(self) -> threading.Event:
        """Never set: a tile takes no time."""
        return threading.Event()

    def __call__(self, tile: Tile) -> Block:
        """Answer a tile."""
        rows, columns = (np.arange(part.start, part.stop) for part in (tile.rows, tile.columns))
        values = self.distance(dense_rows(self.X, rows), dense_rows(self.Y, columns))
        empty = empty_rows(self.X)[rows][:, None] | empty_rows(self.Y)[columns]
        values[empty] = np.nan
        if self.X is self.Y and tile.is_diagonal:
            diagonal = np.flatnonzero(~empty.diagonal())
            values[diagonal, diagonal] = 0
            below = np.tril_indices(len(values), -1)
            values[below] = values.T[below]
        status = np.where(empty, np.int8(Status.EMPTY), np.int8(Status.CONVERGED))
        return Block(values, status, np.zeros(tile.shape, np.float32))


def _run(
    distance: Callable[[Array, Array], Array], X: Any, Y: Any, normalize: bool, on_empty: str,
    workers: Any, progress: Any, memory: Any, out: Any, overwrite: bool, client: Any,
) -> Any:  # fmt: skip
    """Read both families and run the tiles."""
    first, second = _read(X, Y, normalize=normalize, on_empty=on_empty)
    other = first if second is None else second
    job = Job(
        (first.n, other.n),
        first.dtype,
        second is None,
        _Binwise(distance, first, other),
        {
            "parameters": {"distance": distance.__name__.strip("_"), "dtype": str(first.dtype)},
            "fingerprints": {
                "X": fingerprint(first),
                "Y": None if second is None else fingerprint(other),
            },
        } if out is not None else {},
        statuses(),
        (),
        _SECONDS_PER_BIN * first.d,
        0,
        0,
    )  # fmt: skip
    matrix, _ = run(
        job, out=out, overwrite=overwrite, budget=memory, workers=threads.count(workers),
        progress=progress, client=client,
    )  # fmt: skip
    return matrix


def _euclidean(X: Array, Y: Array) -> Array:
    """Euclidean distances of two blocks."""
    distances = _squared(X, Y)
    return np.sqrt(distances, out=distances)


def _hellinger(X: Array, Y: Array) -> Array:
    """Hellinger distances of two blocks."""
    distances = _squared(np.sqrt(X), np.sqrt(Y))
    distances *= 0.5
    np.minimum(distances, 1, out=distances)  # rounding alone can take it over 1
    return np.sqrt(distances, out=distances)


def _read(
    X: Any, Y: Any, *, normalize: bool, on_empty: str
) -> tuple[Histograms, Histograms | None]:
    """Both families, checked, with equally many bins; None for the second when it is the first."""
    dtype = working_dtype(X, Y)
    first = read(X, "X", dtype=dtype, normalize=normalize, on_empty=on_empty)
    second = None
    if Y is not None:
        check_same_bins(X, Y, "X", "Y")
        second = read(
            Y,
            "Y",
            dtype=dtype,
            bins=first.d,
            normalize=normalize,
            on_empty=on_empty,
            against="'X'",
        )
    for name, family in (("X", first), ("Y", second)):
        if family is not None and family.is_vector:
            raise InputError(
                f"'{name}' must be a family of histograms of shape (n, d). "
                f"Got shape ({family.d},) instead: pass {name}[None, :] for a family of one."
            )
    return first, second


def _squared(X: Array, Y: Array) -> Array:
    """Squared distances, by ``|x|^2 + |y|^2 - 2 x.y`` wherever that keeps half of the digits."""
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    squared: Array = X @ Y.T
    squared *= -2
    squared += norms
    norms *= math.sqrt(np.finfo(X.dtype).eps)
    _redo(squared, X, Y, np.nonzero(squared < norms))
    return squared


def _redo(
    squared: Array,
    X: Array,
    Y: Array,
    places: tuple[npt.NDArray[np.intp], ...],
) -> None:
    """Replace the entries at `places` by sums of squared differences, a bounded number at once."""
    step = max(1, _ENTRIES_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, len(places[0]), step):
        i, j = (index[start : start + step] for index in places)
        difference = X[i] - Y[j]
        squared[i, j] = np.einsum("ij,ij->i", difference, difference)
