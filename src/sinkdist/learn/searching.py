"""The nearest training rows, for the estimators that ask for them.

Small training sets are compared whole, through the table of known distances, which solves no pair
twice over folds and grids; large ones are searched (`sinkdist.search`), where most pairs are never
solved. Both give the same neighbours.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sinkdist.errors import InputError, InputTypeError
from sinkdist.inputs.histograms import Histograms
from sinkdist.learn.estimator import TransportEstimator
from sinkdist.learn.hashed_rows import HashedRows
from sinkdist.pairs.report import warn
from sinkdist.scale import threads
from sinkdist.search.candidates import Candidates
from sinkdist.search.engine import Engine
from sinkdist.search.ranking import Rule
from sinkdist.search.running import Place, run
from sinkdist.search.tile_search import TileSearch

__all__ = ["SearchingEstimator", "check_count"]

Array: TypeAlias = npt.NDArray[Any]

SEARCHED = 1000  #: training rows from which they are searched


class SearchingEstimator(TransportEstimator):
    """Estimators that learn from nearest rows."""

    n_neighbors: int
    _engine: Engine | None

    def _learn_rows(self, X: Any) -> None:
        """Keep the training set; what a search prepares is made when it is needed."""
        super()._learn_rows(X)
        self._engine = None

    def __getstate__(self) -> Any:
        """All but what a search has prepared."""
        state = dict(super().__getstate__())
        if "_engine" in state:
            state["_engine"] = None
        return state

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest training rows.

        Parameters
        ----------
        X : array_like or sparse array, optional
            As for `predict`; by default the training rows, none of which is its own neighbour.
        n_neighbors : int, optional
            How many; those of the constructor by default.
        return_distance : bool
            Whether distances are returned as well.

        Returns
        -------
        distances, indices : ndarray, shape (m, n_neighbors)
            Nearest first; of equally near ones the first in the training set comes first. Without
            `return_distance`, the indices alone.
        """
        check_is_fitted(self)
        asked = self.n_neighbors if n_neighbors is None else n_neighbors
        count = check_count(asked, len(self._training) - (X is None))
        rows = self._training if X is None else self._new_rows(X)
        D, nearest = self._nearest(rows, count, own=X is None)
        return (D, nearest) if return_distance else nearest

    def _nearest(self, rows: HashedRows, count: int, own: bool) -> tuple[Array, Array]:
        """Distances to the nearest training rows, and which these are."""
        spec = self._spec
        if spec is not None and spec.problem is not None and len(self._training) >= SEARCHED:
            return self._searched(rows, count, own)
        D = self._distances(rows)
        if own:
            np.fill_diagonal(D, np.inf)
        nearest = np.argsort(D, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(D, nearest, 1), nearest

    def _searched(self, rows: HashedRows, count: int, own: bool) -> tuple[Array, Array]:
        """The same by a search."""
        assert self._spec is not None and self._spec.problem is not None
        if self._engine is None:
            problem = self._spec.problem
            options = replace(problem.options, coincidence=self.coincidence)
            problem = replace(problem, options=options)
            candidates = Candidates.of(Histograms(self._training.rows))
            self._engine = Engine(problem, candidates, len(rows))
        queries = Histograms(rows.rows)
        search = TileSearch(self._engine.problem, queries, self._engine, Rule(count), own=own)
        found, tally = run(search, Place(threads.count(self.workers), bool(self.verbose)))
        warn(tally, self._spec.problem.stopping)
        return found.distances, found.indices


def check_count(count: Any, rows: int) -> int:
    """The ``n_neighbors`` option, if there are so many."""
    if isinstance(count, bool) or not isinstance(count, numbers.Integral):
        raise InputTypeError(
            f"The 'n_neighbors' option must be a whole number. Got {count!r} instead."
        )
    number = int(count)
    if number < 1:
        raise InputError(f"The 'n_neighbors' option must be at least 1. Got {count} instead.")
    if number > rows:
        raise InputError(
            f"The 'n_neighbors' option must be at most the number of training rows to choose from, "
            f"n_samples = {rows} here. Got {count} instead."
        )
    return number
