"""The distances that this process knows: one table for each spec, within a limit of bytes.

Estimators are cloned and fitted over and over by scikit-learn's searches, and carry nothing from
one fit to the next; what they have solved is kept here, for all of them.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.learn.distance_spec import DistanceSpec
from sinkdist.learn.distance_table import DistanceTable
from sinkdist.learn.hashed_rows import HashedRows
from sinkdist.scale import memory

__all__ = ["CacheInfo", "DistanceCache", "distance_cache"]

Array: TypeAlias = npt.NDArray[Any]

_LIMIT = 2**30  # bytes: 11,500 histograms against each other, twice as many pairs in float32


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a `DistanceCache` holds.

    Attributes
    ----------
    solved : int
        Pairs that were solved since the cache was cleared.
    nbytes, limit : int
        Memory that is held, and that may be.
    tables : int
        Different distances: grounds, strengths, tolerances.
    """

    solved: int
    nbytes: int
    limit: int
    tables: int

    @property
    def questions(self) -> int:
        """`tables`, by the name it had at first."""
        return self.tables


class DistanceCache:
    """Distances by what was asked and by the content of the rows; safe to use from threads.

    Parameters
    ----------
    memory : str or int
        The limit, such as ``"2GB"``; 0 keeps nothing. The distances that were asked for least
        recently are forgotten first.

    Examples
    --------
    >>> from sinkdist.learn import TransportNeighborsClassifier, distance_cache
    >>> distance_cache.clear()
    >>> near = TransportNeighborsClassifier(n_neighbors=1).fit([[3, 1, 0], [0, 1, 3]], [0, 1])
    >>> near.predict([[2, 2, 0]]), near.predict([[2, 2, 0]])
    (array([0]), array([0]))
    >>> distance_cache.info().solved
    2
    """

    def __init__(self, memory: str | int = _LIMIT) -> None:
        self._lock = threading.Lock()
        self._tables: OrderedDict[str, DistanceTable] = OrderedDict()
        self._solved = 0
        self._limit = 0
        self.allow(memory)

    def allow(self, memory: str | int) -> None:
        """Change the limit; what is beyond it is forgotten at once."""
        self._limit = _size(memory)
        self._trim()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._tables.clear()
            self._solved = 0

    def info(self) -> CacheInfo:
        """What is held at the moment."""
        with self._lock:
            tables = list(self._tables.values())
            return CacheInfo(
                self._solved, sum(table.nbytes for table in tables), self._limit, len(tables)
            )

    def distances(self, spec: DistanceSpec, X: HashedRows, Y: HashedRows) -> Array:
        """Distances from all rows of `X` to all of `Y`; only pairs that are new are solved.

        Returns
        -------
        ndarray, shape (len(X), len(Y))
            For the caller to keep.
        """
        with self._lock:
            table = self._tables.pop(spec.key, None) or DistanceTable(spec)
            self._tables[spec.key] = table  # the last is the one in use
        values, solved, kept = table.distances(X, Y, self._limit, spec.workers, spec.progress)
        with self._lock:
            self._solved += solved
        self._trim()
        if not kept and X is Y and self._limit > 0:
            warnings.warn(
                f"The {len(X):,} x {len(Y):,} distances of the training set do not fit in "
                f"{memory.text(self._limit)} of cache: a search over 't' or 'C' will solve them "
                "again. sinkdist.learn.distance_cache.allow(...) raises the limit.",
                stacklevel=2,
            )
        return np.asarray(values)

    def _trim(self) -> None:
        """Forget the oldest tables while there is too much."""
        with self._lock:
            sizes = {key: table.nbytes for key, table in self._tables.items()}
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total <= self._limit:
                    break
                del self._tables[key]
                total -= size


def _size(size: str | int) -> int:
    """A limit in bytes; 0 is one."""
    return 0 if size == 0 else memory.read(size)


#: The cache of this process, which all estimators share; worker processes have their own.
distance_cache = DistanceCache()
