"""`path`: one pair along a ladder of lam, each solution the start of the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.ground.grid_plan import has_plan
from sinkdist.inputs.arrays import real_array
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.named_options import named_options
from sinkdist.interrupts import Stop, beside_main
from sinkdist.pairs.reading import problem_of, read_families
from sinkdist.pairs.report import warn
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem
from sinkdist.problem.strength import is_relative, relative_lam
from sinkdist.scale import threads
from sinkdist.scale.tally import Tally
from sinkdist.solution.plans import on_all_bins
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.pair import solve_along
from sinkdist.solvers.members import Penalised, solve_pair
from sinkdist.solvers.members.base import Solved
from sinkdist.solvers.outcome import RAN, Outcome
from sinkdist.solvers.prepared import Wishes

__all__ = ["path"]


@named_options
def path(
    r: Any,
    c: Any,
    ground: Any,
    lams: Any,
    *,
    tol: float | None = None,
    max_iter: int | None = None,
    normalize: bool = False,
) -> list[Solution]:
    """Solve one pair for many values of lam, at a fraction of the cost of separate solves.

    Potentials change little with lam, so each solution starts from those before it. This is how the
    gap between the Sinkhorn distance and the exact one is drawn.

    Parameters
    ----------
    r, c : array_like, shape (d,)
        Histograms.
    ground : Ground or array_like
        Costs.
    lams : array_like
        Positive, finite values of lam, in any order; a list may also hold texts such as
        ``"9/median"``, as for `solve`.
    tol, max_iter, normalize
        As for `solve`; `max_iter` is for each lam.

    Returns
    -------
    list of Solution
        In the order of `lams`.

    Examples
    --------
    >>> import sinkdist as sd
    >>> [round(s.value, 4) for s in path([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], [1, 3, 9])]
    [0.3641, 0.3016, 0.3]
    """
    costs = Ground.of(ground)
    if isinstance(lams, (list, tuple)):
        lams = [relative_lam(x, lambda: costs.median) if is_relative(x) else x for x in lams]
    strengths = np.asarray(real_array(lams, "'lams'"), dtype=float)
    if strengths.ndim != 1 or not ((strengths > 0.0) & (strengths < np.inf)).all():
        raise InputError("'lams' must be a list of positive, finite numbers.")
    if strengths.size == 0:
        return []
    options = Options(
        lam=float(strengths.max()), tol=tol, max_iter=max_iter, normalize=normalize, dtype="float64"
    )
    problem = problem_of(costs, options, np.dtype(np.float64))
    R, C = read_families(r, c, ("r", "c"), problem)
    for family, name in ((R, "r"), (C, "c")):
        if not family.is_vector:
            raise InputError(f"'{name}' must be one histogram. Got a family of {family.n}.")
    rising, place = np.unique(strengths, return_inverse=True)
    asked, stop, workers = problem.stopping, Stop(), threads.count_for_one(None)
    solved = beside_main(lambda: _solve_along(problem, rising.tolist(), R, C, stop, workers), stop)
    outcomes = [outcome for outcome, _, _ in solved]
    warn(
        Tally.of(np.array([x.status for x in outcomes]), np.array([x.error for x in outcomes])),
        asked,
    )
    R, C = R.copy(), C.copy()

    def solution(outcome: Outcome, rows: Any, columns: Any) -> Solution:
        assert outcome.f is not None and outcome.g is not None
        f = on_all_bins(outcome.f, rows, R.d, -np.inf)
        g = on_all_bins(outcome.g, columns, C.d, -np.inf)
        return Solution(
            outcome.value, outcome.error, outcome.n_iter, Status(outcome.status),
            RAN[outcome.solver], outcome.lam, (f, g), problem.ground, R, C, [outcome.plan],
        )  # fmt: skip

    return [solution(*solved[k]) for k in place]


def _solve_along(
    problem: Problem,
    lams: list[float],
    R: Histograms,
    C: Histograms,
    stop: Stop,
    workers: int,
) -> list[Solved]:
    """A pair at each of the rising ``lams``: one after another on a large grid, else by a climb."""
    asked = problem.stopping
    if has_plan(problem.ground.as_grid, lams[-1]):
        r, c = R.dense(slice(0, 1))[0], C.dense(slice(0, 1))[0]
        tasks = [Penalised(lam).prepare(problem, Wishes(True)) for lam in lams]
        return [solve_pair(task._replace(stop=stop), r, c) for task in tasks]
    rows, columns = R.support(0), C.support(0)
    costs = problem.ground.block(rows, columns)
    a, b = R.dense(slice(0, 1))[0][rows], C.dense(slice(0, 1))[0][columns]
    outcomes = solve_along(costs, lams, a, b, asked.tol, asked.max_iter, stop, workers)
    for outcome in outcomes:
        if outcome.plan is not None:
            outcome.plan = outcome.plan.placed(rows, columns, (R.d, C.d))
    return [(outcome, rows, columns) for outcome in outcomes]
