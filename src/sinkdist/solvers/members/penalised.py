"""The entropic penalty: ``d^lam`` at a finite, positive lam; the paper's dual-Sinkhorn distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.grid_plan import has_plan
from sinkdist.ground.on_demand import is_dense_cloud
from sinkdist.kernels.compiled import Array
from sinkdist.problem.stopping import Stopping
from sinkdist.scale import threads
from sinkdist.solvers.bins import in_double
from sinkdist.solvers.compiled import batch, pair
from sinkdist.solvers.compiled.cloud.pair import solve_on_clouds
from sinkdist.solvers.compiled.grid import pair as grid_pair
from sinkdist.solvers.compiled.grid.lines import on_threads
from sinkdist.solvers.local import solve_on_part
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.outcome import Answers, Outcome
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["Penalised"]

_FLOAT64 = np.dtype(np.float64)
_FEW_MOVES = 1 << 18  #: between bins with mass: a matrix of them is solved sooner than a large grid
_FEW_IF_NARROW = 1 << 24  #: the same under Euclidean distances where the kernel is narrow
_NARROW = 1.0  #: lam times the cost of a step, from which it is
_LARGE_KERNEL = 1 << 19  #: entries from which a kernel is built on threads


@dataclass(frozen=True, slots=True)
class Penalised(Member):
    """A positive, finite ``lam``."""

    lam: float
    word: ClassVar[str] = "penalised"
    long_entries: ClassVar[float] = 1 << 20
    has_choice: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True
    bounded_by_exact: ClassVar[bool] = True

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """A tolerance, or a number of steps."""
        fixed = stopping.iterations is not None
        return {
            "lam": self.lam, "alpha": None, "tol": None if fixed else stopping.tol,
            "max_iter": None if fixed else stopping.max_iter,
        }  # fmt: skip

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """To a tolerance, or by matrix products for each of Algorithm 1's steps."""
        return 1e-8 if stopping.iterations is None else 2 * stopping.iterations * 4e-11

    def in_unit(self, unit: float) -> Penalised:
        """The same penalty where costs have been divided by ``unit``."""
        return Penalised(min(max(self.lam * unit, 1e-300), 1e300))

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        gibbs = block_gibbs = ground.gibbs(self.lam, _FLOAT64)
        if dtype != _FLOAT64:
            single = ground.gibbs(self.lam, dtype)
            block_gibbs = single if single.fits else gibbs  # float64 holds more
        used = block_gibbs
        if wishes.pairs > 1 and used.fits and used.size > _LARGE_KERNEL and wishes.workers > 1:
            used.build(lambda bands, fill: threads.run(bands, fill, wishes.workers))
        alone = wishes.workers if wishes.pairs == 1 else 1
        return {"gibbs": gibbs, "block_gibbs": block_gibbs, "workers": alone}

    def needs_matrix(self, task: Prepared) -> bool:
        """Not on large grids."""
        return not has_plan(task.ground.as_grid, self.lam)

    def is_on_clouds(self, task: Prepared, rows: int, columns: int) -> bool:
        """Where points are many and most of them have mass."""
        points = task.ground.as_points
        return points is not None and is_dense_cloud(points, self.lam, rows, columns)

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair; on a large grid on all bins, between large clouds with costs on the fly."""
        points = task.ground.as_points
        if points is not None:
            rows, columns = np.flatnonzero(r), np.flatnonzero(c)
            if not self.is_on_clouds(task, rows.size, columns.size):
                return solve_on_part(task, r, c)
            r, c = in_double(r)[rows], in_double(c)[columns]
            return solve_on_clouds(task, points, rows, r, columns, c), rows, columns
        grid = task.ground.as_grid
        if grid is None or self.needs_matrix(task):
            return Member.solve_pair(self, task, r, c)
        narrow = grid.kind == "euclidean" and self.lam * min(grid.steps) > _NARROW
        few = _FEW_IF_NARROW if narrow else _FEW_MOVES
        if np.count_nonzero(r) * np.count_nonzero(c) <= few:
            return solve_on_part(task, r, c)
        grid_solve = grid_pair.to_tolerance if task.iterations is None else grid_pair.algorithm1
        with on_threads(task.workers, grid.bins) as run:
            return grid_solve(task, grid, run, in_double(r), in_double(c)), None, None

    def solve_on_bins(
        self, task: Prepared, rows: Array | None, columns: Array | None, r: Array, c: Array
    ) -> Outcome:
        """Algorithm 1 where steps are counted, else the solver that was asked for."""
        costs = task.ground.block(rows, columns)
        if task.iterations is not None:
            return pair.fixed(task, costs, rows, columns, r, c)
        return pair.to_tolerance(task, costs, rows, columns, r, c)

    def solve_batch(self, task: Prepared, R: Array, C: Array, answers: Answers) -> None:
        """Pairs one by one on their own bins, or together as matrix products."""
        if not task.ground.is_dense:
            Member.solve_batch(self, task, R, C, answers)
            return
        for k in batch.solve_together(task, R, C, answers):
            if task.stop.is_set():
                break
            self.solve_alone(task, R, C, int(k), answers)
