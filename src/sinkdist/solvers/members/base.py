"""A member of the family: what it needs prepared, and how it solves a pair and a batch of them.

A new member is a file with a class of these methods, and an entry in `members.member_of`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.problem.problem import Problem
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.evidence import HostEvidence
from sinkdist.solution.plans import Plan
from sinkdist.solvers.bins import SparseRows, all_bins, cut, dense_row, dense_rows
from sinkdist.solvers.explored import Explored, Plane
from sinkdist.solvers.outcome import STATUS_CONVERGED, Answers, Outcome
from sinkdist.solvers.policy import MODERATE
from sinkdist.solvers.prepared import Prepared, Wishes
from sinkdist.wording import option, setting

__all__ = ["Member", "Solved"]


#: An outcome, and the bins with mass of both sides that its potentials are for (None for all).
Solved = tuple[Outcome, Array | None, Array | None]


class Member(ABC):
    """One distance between histograms; immutable, and made of numbers alone."""

    __slots__ = ()

    word: ClassVar[str]  #: in messages, and in the facts of stored matrices
    #: Entries of a pair's kernel from which one compiled call may take longer than Ctrl-C may wait.
    long_entries: ClassVar[float] = math.inf
    is_one_product: ClassVar[bool] = False  #: whether `all_at_once` answers all pairs
    reads_sparse: ClassVar[bool] = False  #: whether `solve_batch` takes CSR rows as they are
    has_choice: ClassVar[bool] = False  #: whether the solver and a number of steps can be chosen
    has_closed_forms: ClassVar[bool] = False  #: whether some structures of costs give it at once
    has_kernel: ClassVar[bool] = False  #: whether plans are scalings of one Gibbs kernel
    has_divergence: ClassVar[bool] = True  #: whether a pair and its self terms share an objective
    has_planes: ClassVar[bool] = False  #: whether `planes` proves bounds, for a search
    explores_parts: ClassVar[bool] = False  #: whether `explore_part` is there
    bounded_by_exact: ClassVar[bool] = False  #: whether the exact distance bounds it in a search
    any_total: ClassVar[bool] = False  #: whether histograms may sum to something else than 1
    lam: float  #: the paper's lambda, NaN where it has to be found

    @abstractmethod
    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Options that decide the result, as they are used; None for those without a part."""

    @abstractmethod
    def seconds_per_entry(self, stopping: Stopping) -> float:
        """Roughly, for one entry of a pair's kernel: to the nearest power of ten or so."""

    def solve_on_bins(
        self, task: Prepared, rows: Array | None, columns: Array | None, r: Array, c: Array
    ) -> Outcome:
        """One pair, given on the bins that have mass, in float64; its plan is on these bins.

        What a member writes, unless it overrides `solve_pair`, which calls this.
        """
        raise NotImplementedError

    @property
    def is_symmetric(self) -> bool:
        """Whether the two histograms can be exchanged, where costs are symmetric."""
        return True

    def evidence(
        self, R: Histograms, C: Histograms, plans: list[Plan | None] | None,
        brackets: list[tuple[float, float] | None] | None,
    ) -> HostEvidence:  # fmt: skip
        """What a solution rests on."""
        return HostEvidence(R, C, plans, brackets)

    def check(self, iterations: int | None, solver: str) -> None:
        """Raise for a choice that this member does not leave."""
        if self.has_choice:
            return
        if iterations is not None:
            raise InputError(
                "{} counts steps of Algorithm 1, which needs a positive, finite {} or {}; this "
                "call asks for the {} distance.",
                option("iterations"), option("lam"), option("reg"), self.word,
            )  # fmt: skip
        if solver != "auto":
            raise InputError(
                "{} needs a positive, finite {} or {}; the {} distance has one way of its own.",
                setting("solver", solver), option("lam"), option("reg"), self.word,
            )  # fmt: skip

    def in_unit(self, unit: float) -> Member:
        """The same member where costs have been divided by ``unit``."""
        return self

    def prepare(self, problem: Problem, wishes: Wishes) -> Prepared:
        """What all pairs share."""
        ground, member, unit = problem.ground, self, 1.0
        least, most = MODERATE
        if not (wishes.as_given or least <= ground.max <= most or ground.max == 0.0):
            unit = 2.0 ** math.frexp(ground.max)[1]
            member = self.in_unit(unit)
            ground = ground.moved("moderate", lambda costs: costs.scaled(unit))
        stop = problem.stopping
        operators = member._operators(ground, problem.dtype, wishes) if ground.is_dense else {
            "metric": ground.is_made_metric, "local": (problem.dtype, wishes),
            "workers": wishes.workers if wishes.pairs == 1 else 1,
        }  # fmt: skip
        return Prepared(
            ground, member, problem.solver, stop.tol, stop.max_iter, stop.iterations,
            wishes.keep_potentials, wishes.need_error, Stop(), unit,
            None if math.isnan(self.lam) else self.lam,
            **operators,
        )  # fmt: skip

    def needs_matrix(self, task: Prepared) -> bool:
        """Whether pairs are solved on a matrix of costs: of all, or between the bins they use."""
        return True

    def is_on_clouds(self, task: Prepared, rows: int, columns: int) -> bool:
        """Whether pairs with so many bins are solved without the matrix that others need."""
        return False

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        """Fields of `Prepared` that this member needs beside the usual ones."""
        return {}

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair, in the task's unit of cost."""
        return self.solve_cut(task, *cut(r), *cut(c))

    def solve_cut(
        self, task: Prepared, rows: Array | None, r: Array, columns: Array | None, c: Array
    ) -> Solved:
        """The same for histograms that have been cut down to the bins with mass."""
        outcome = self.solve_on_bins(task, rows, columns, r, c)
        if outcome.plan is not None:
            outcome.plan = outcome.plan.placed(rows, columns, task.ground.shape)
        return outcome, rows, columns

    def solve_batch(self, task: Prepared, R: Array, C: Array, answers: Answers) -> None:
        """Pairs ``(R, C)``, ``R`` with one row, shared, or one per pair; here one after another."""
        for k in range(C.shape[0]):
            if task.stop.is_set():
                break
            self.solve_alone(task, R, C, k, answers)

    def solve_alone(self, task: Prepared, R: Array, C: Array, k: int, answers: Answers) -> None:
        """Answer one pair of a batch as if it were the only one."""
        outcome, rows, columns = self.solve_pair(task, dense_row(R, k), dense_row(C, k))
        answers.put(k, outcome)
        answers.put_potentials(k, *all_bins(rows, columns, R, C), outcome.f, outcome.g)
        if answers.plans is not None:
            answers.plans[k] = outcome.plan
        if answers.brackets is not None:
            answers.brackets[k] = outcome.bracket

    def explore(self, task: Prepared, r: Array, C: Any, enough: float) -> Explored:
        """Distances from ``r`` to the rows ``C`` for a search, with what they prove.

        In the task's unit of cost. Candidates farther than ``enough`` may be given up. Here:
        values, and as upper ends what they might be with marginals that are mended, these or those
        of a candidate at the tolerance asked for: its value may be below its exact distance by
        that much.
        """
        found = Answers.blank(C.shape[0], task.ground.shape, self.lam, task.keep_potentials)
        self.solve_batch(task, r[None], C if self.reads_sparse else dense_rows(C), found)
        out = Explored.blank(C.shape[0], int(np.count_nonzero(r)), STATUS_CONVERGED)
        out.value, out.status, out.error = found.value, found.status, found.error
        out.upper[:] = found.value + task.ground.max * (np.nan_to_num(found.error) + task.tol)
        if found.f is not None:
            out.f, out.lam = found.f[:, r > 0.0], found.lam
        return out

    def explore_part(
        self, task: Prepared, M: Array, r: Array, C: SparseRows, enough: float, nearest: Array
    ) -> Explored:
        """The same on a block of costs: from the bins with mass of ``r`` to those that ``C`` uses.

        ``nearest`` are the least upper ends so far, sorted, as many as there are neighbours wanted,
        infinite where fewer are known: those of ``C`` take their places among them, and candidates
        beyond the last one may be given up. Empty where any number is wanted.

        On a square ground the first columns are the rows. Candidates that have to be solved on all
        bins get NaN. For members that say `explores_parts`.
        """
        raise NotImplementedError

    def planes(self, M: Array, r: Array, F: Array, lam: Array) -> list[Plane]:
        """The bounds on distances from ``r`` that potentials prove; none where they prove none.

        ``M`` holds the costs from the bins with mass of ``r``; ``lam`` is that of each potential.
        """
        return []

    def all_at_once(self, ground: Ground, A: Histograms, B: Histograms) -> Array:
        """All distances between two families, where that is one product of matrices."""
        raise NotImplementedError
