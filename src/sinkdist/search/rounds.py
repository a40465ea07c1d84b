"""A round of a search: solve the most promising candidates, bound the rest by what these solves
prove, and drop all that are proven to be no nearer.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.kernels.vectors import LANES
from sinkdist.search.bounds import Bounds
from sinkdist.search.candidates import Survivors
from sinkdist.search.cascade import Cascade
from sinkdist.search.ranking import Ranking
from sinkdist.solvers.explored import Explored

__all__ = ["Run"]

#: Candidates solved in a round: at first, and later on. Where `transforms` bound candidates, the
#: potentials of the first round fill a vector: more of them take no longer, and drop more.
_FIRST, _GROWTH, _MOST = 12, 1.5, 256
_UNLIMITED = np.iinfo(np.int64).max
_PLANES = 200  #: solves whose planes are used: later ones seldom prove more


class Run:
    """One query under way.

    Attributes
    ----------
    status, error : list
        How the pairs ended that were solved.
    skipped : float
        The least distance that a candidate may have which was left without a proof.
    """

    def __init__(
        self, cascade: Cascade, r: Array, known: Bounds, ranking: Ranking, survivors: Survivors
    ) -> None:
        self.cascade, self.r, self.known = cascade, r, known
        self.ranking, self.survivors = ranking, survivors
        self.status: list[int] = []
        self.error: list[float] = []
        self.skipped = np.inf
        fills = cascade.has_transforms and cascade.exact is None
        self._size, self._planes = float(LANES if fills else _FIRST), 0

    def room(self) -> int:
        """Solves that the budget leaves."""
        budget = self.ranking.rule.budget
        return _UNLIMITED if budget is None else budget - len(self.status)

    def round(self) -> None:
        """Solve some candidates, and learn from them."""
        chosen = self.take()
        if self.cascade.exact is not None and self._planes < _PLANES:
            self._sharpen(chosen)
        if chosen.index.size == 0:
            return
        found = self.solve(chosen)
        self.ranking.drop(self.survivors)
        if self.cascade.has_planes and self._planes < _PLANES:
            self._planes += chosen.index.size
            self.known.learn(self.survivors, found, self.cascade.task, self.ranking)

    def take(self) -> Survivors:
        """The candidates of a round."""
        among, self.known.first = self.known.first, None
        chosen = self.survivors.take(min(int(self._size), self.room()), among)
        self._size = min(_GROWTH * self._size, _MOST)
        return chosen

    def solve(self, chosen: Survivors) -> Explored:
        """Their distances, which enter the ranking."""
        task = self.cascade.task
        found = self.known.explore(
            task, chosen.index, self.ranking.limit[0], self.ranking.upper_ends()
        )  # fmt: skip
        self.ranking.add(chosen.index, found)
        self.status += found.status.tolist()
        self.error += np.where(np.isfinite(found.error), found.error, 0.0).tolist()
        return found

    def _sharpen(self, chosen: Survivors) -> None:
        """Raise the bounds of chosen candidates to their exact distances, and drop the far ones.

        That takes as long as it saves, but for the planes: it ends with these.
        """
        exact = self.cascade.exact
        assert exact is not None
        # Upper ends of exact distances are none of the distances that are ranked.
        found = self.known.explore(exact, chosen.index, self.ranking.limit[0], np.empty(0))
        given_up = ~np.isfinite(found.value)
        chosen.bound = np.maximum(chosen.bound, np.where(given_up, np.inf, found.lower))
        self.ranking.drop(chosen)
        self._planes += len(given_up)
        self.known.learn(self.survivors, found, exact, self.ranking)
