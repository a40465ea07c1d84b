"""Known distances of one spec, as a matrix that grows: a pair is solved when it is first asked.

Columns are histograms that were trained on, rows are all that were met. A training set that is
split into folds makes one square of it; a test set only adds rows. Rows are found by their digests
(`hashed_rows`), so it does not matter which estimator, clone or fold has asked before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.learn.distance_spec import DistanceSpec
from sinkdist.learn.hashed_rows import HashedRows
from sinkdist.learn.missing_blocks import rectangles, triangles

__all__ = ["DistanceTable"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.intp]

_ENTRY = 150  # bytes of a digest and its place in a dictionary
_ROOM = 1.5  # how much longer than needed the matrix becomes when rows are added


class DistanceTable:
    """What is known of one spec.

    Parameters
    ----------
    spec : DistanceSpec
        Which distance.
    """

    def __init__(self, spec: DistanceSpec) -> None:
        self.spec = spec
        self._lock = threading.Lock()
        self._start()

    @property
    def nbytes(self) -> int:
        """Memory that is held."""
        return int(self._values.nbytes) + _ENTRY * (len(self._rows) + len(self._columns))

    def distances(
        self, X: HashedRows, Y: HashedRows, limit: int, workers: Any, progress: bool = False
    ) -> tuple[Array, int, bool]:
        """The matrix from `X` to `Y`; how many pairs were solved for it; whether it is kept.

        Others who ask for the same distances wait meanwhile, and then find the answers.
        """
        x, y = X.without_repeats, Y.without_repeats
        with self._lock:
            values = self._known(x, y)
            solved = self._solve(values, x, y, {"workers": workers, "progress": progress})
            kept = solved == 0 or self._keep(x, y, values, limit)
        if len(x) < len(X) or len(y) < len(Y):
            values = values[np.ix_(X.kinds, Y.kinds)]
        return values, solved, kept

    def _start(self) -> None:
        """An empty table."""
        self._rows: dict[bytes, int] = {}
        self._columns: dict[bytes, int] = {}
        self._values: Array = np.empty((0, 0), self.spec.dtype)

    def _known(self, x: HashedRows, y: HashedRows) -> Array:
        """What is known already; NaN elsewhere."""
        values = np.full((len(x), len(y)), np.nan, self.spec.dtype)
        self._look_up(values, x, y)
        if self.spec.is_symmetric and np.isnan(values).any():
            self._look_up(values.T, y, x)
        return values

    def _look_up(self, values: Array, x: HashedRows, y: HashedRows) -> None:
        """Fill in what is written under rows `x` and columns `y`."""
        here, rows = _places(x.digests, self._rows)
        there, columns = _places(y.digests, self._columns)
        if here.size and there.size:
            place = np.ix_(here, there)
            block = values[place]
            np.copyto(block, self._values[np.ix_(rows, columns)], where=np.isnan(block))
            values[place] = block

    def _solve(self, values: Array, x: HashedRows, y: HashedRows, run: dict[str, Any]) -> int:
        """Fill the gaps; how many pairs that took. ``run`` says how they are solved."""
        if not np.isnan(values).any():
            return 0
        solved = 0
        if self.spec.is_symmetric:
            there = {digest: k for k, digest in enumerate(y.digests)}
            here, common = _places(x.digests, there)
            if x.digests == y.digests:  # as in a fit: no copy of what may be large
                solved = self._solve_square(values, x, run)
            elif here.size:
                square = values[np.ix_(here, common)]
                solved = self._solve_square(square, x.take(here), run)
                values[np.ix_(here, common)] = square
        for rows, columns in rectangles(np.isnan(values)):
            block = self.spec.solve(x.rows[rows], y.rows[columns], **run)
            values[np.ix_(rows, columns)] = block
            solved += block.size
        return solved

    def _solve_square(self, square: Array, x: HashedRows, run: dict[str, Any]) -> int:
        """The same for rows against themselves: a pair is solved in one direction only."""
        solved = 0
        for rows, columns in triangles(np.isnan(square)):
            if columns is None:
                square[np.ix_(rows, rows)] = self.spec.solve(x.rows[rows], None, **run)
                solved += rows.size * (rows.size + 1) // 2
            else:
                block = self.spec.solve(x.rows[rows], x.rows[columns], **run)
                square[np.ix_(rows, columns)] = block
                square[np.ix_(columns, rows)] = block.T
                solved += block.size
        return solved

    def _keep(self, x: HashedRows, y: HashedRows, values: Array, limit: int) -> bool:
        """Write the answers down, if there is room for them; older ones may have to go."""
        if values.nbytes + _ENTRY * (len(x) + len(y)) > limit:
            return False
        if self._size_with(x, y) > limit:
            self._drop_visitors()
        if self._size_with(x, y) > limit:
            self._start()
        self._grow(x.digests, y.digests, limit)
        rows, columns = (
            np.array([self._rows[digest] for digest in x.digests], np.intp),
            np.array([self._columns[digest] for digest in y.digests], np.intp),
        )
        self._values[np.ix_(rows, columns)] = values
        return True

    def _size_with(self, x: HashedRows, y: HashedRows) -> int:
        """Bytes needed when these are added."""
        rows = len(self._rows) + sum(digest not in self._rows for digest in x.digests)
        columns = len(self._columns) + sum(digest not in self._columns for digest in y.digests)
        return rows * columns * self._values.itemsize + _ENTRY * (rows + columns)

    def _drop_visitors(self) -> None:
        """Forget rows that were never trained on."""
        staying = [digest for digest in self._rows if digest in self._columns]
        self._values = self._values[[self._rows[digest] for digest in staying]]
        self._rows = {digest: k for k, digest in enumerate(staying)}

    def _grow(self, x: Iterable[bytes], y: Iterable[bytes], limit: int) -> None:
        """Make room for rows and columns."""
        for digest in x:
            self._rows.setdefault(digest, len(self._rows))
        for digest in y:
            self._columns.setdefault(digest, len(self._columns))
        old, needed = self._values.shape, (len(self._rows), len(self._columns))
        if needed[0] <= old[0] and needed[1] <= old[1]:
            return
        roomy = max(old[0], int(_ROOM * needed[0])) if old[0] else needed[0]
        size = roomy * needed[1] * self._values.itemsize + _ENTRY * sum(needed)
        height = roomy if size <= limit else needed[0]
        larger = np.full((height, needed[1]), np.nan, self._values.dtype)
        kept = min(height, old[0])  # what is cut off was room
        larger[:kept, : old[1]] = self._values[:kept]
        self._values = larger


def _places(digests: Iterable[bytes], known: dict[bytes, int]) -> tuple[Index, Index]:
    """Which of the digests are known, and their places."""
    found = [(k, known[digest]) for k, digest in enumerate(digests) if digest in known]
    pairs = np.array(found, np.intp).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
