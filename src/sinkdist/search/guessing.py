"""Rounds that go by estimates: ``order="heuristic"``, for ``d^lam`` at a finite lam.

``d^lam`` is the cost of a plan that is optimal for another objective, cost plus ``I / lam`` with
the information ``I`` of the plan. Soft planes bound that objective from below, tightly. Less the
largest ``I / lam`` among the pairs solved so far they estimate ``d^lam``: nothing proves that
another pair has no more information. A candidate whose estimate is beyond the k-th best is skipped,
not dropped: what is proven of it decides what is proven of the neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.search.bounds import Bounds
from sinkdist.search.candidates import Survivors
from sinkdist.search.cascade import Cascade
from sinkdist.search.ranking import Ranking
from sinkdist.search.rounds import Run
from sinkdist.solvers.explored import Explored
from sinkdist.solvers.members import explore
from sinkdist.solvers.planes import soft_plane

__all__ = ["Guessing"]


class Guessing(Run):
    """One query under way, by estimates."""

    def __init__(
        self, cascade: Cascade, r: Array, known: Bounds, ranking: Ranking, survivors: Survivors
    ) -> None:
        super().__init__(cascade, r, known, ranking, survivors)
        known.complete(survivors, ranking)
        self._bins = np.flatnonzero(r)
        self._information = 0.0  # over lam, the largest so far
        survivors.estimate = np.array(survivors.bound)
        if cascade.task.ground.shape[0] == cascade.candidates.d:
            task = cascade.task
            own = r[None]
            self._estimate(own, explore(task, r, own, np.inf))

    def round(self) -> None:
        """Solve some candidates, estimate the others, and skip those that seem too far."""
        chosen = self.take()
        found = self.solve(chosen)
        self._estimate(self.cascade.candidates.rows(chosen.index), found)
        survivors = self.survivors
        self.ranking.drop(survivors)
        assert survivors.estimate is not None
        near = survivors.estimate - self._information <= self.ranking.limit[0]
        self.skipped = min(self.skipped, float(survivors.bound[~near].min(initial=np.inf)))
        survivors.keep(near)

    def _estimate(self, rows: Any, found: Explored) -> None:
        """Raise estimates of the objective by the planes of some solves."""
        survivors, planes, r = self.survivors, [], self.r[self._bins]
        for k in np.flatnonzero(np.isfinite(found.f).all(axis=1) & (found.lam < np.inf)):
            f, lam = found.f[k], float(found.lam[k])
            plane = self.known.on_all_bins(soft_plane(self.known.costs, r, f, lam, 0.0))
            planes.append(plane)
            objective = plane.constant + float((rows[[k]] @ plane.g)[0])
            self._information = max(self._information, objective - float(found.value[k]))
        assert survivors.estimate is not None
        guessed = Survivors(survivors.index, survivors.estimate)
        self.cascade.candidates.raise_bounds(guessed, planes)
        survivors.estimate = guessed.bound
