"""Members of the family: each answers pairs alone as in a batch; adding one is one class."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.all_pairs import AllPairs, all_pairs
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem
from sinkdist.problem.stopping import Stopping
from sinkdist.solvers.members import (
    FAMILY,
    Constrained,
    Exact,
    Independent,
    Member,
    Penalised,
    Unbalanced,
    solve_batch,
    solve_pair,
)
from sinkdist.solvers.outcome import INDEPENDENCE, STATUS_CONVERGED, Outcome
from sinkdist.solvers.prepared import Wishes
from sinkdist.solvers.table import SOLVERS

RNG = np.random.default_rng(0)
X = RNG.dirichlet(np.ones(9), 6)
X[1, :4], X[2, 5:] = 0.0, 0.0
X /= X.sum(axis=1, keepdims=True)
GROUND = sd.Ground.points(RNG.normal(size=(9, 2)))
ASKED = {Penalised: {"lam": 4.0}, Constrained: {"alpha": 0.2}, Exact: {"lam": math.inf},
         Independent: {"lam": 0}, Unbalanced: {"lam": 4.0, "mass_penalty": (1.0, 0.5)}}  # fmt: skip
STOPPING = Stopping(1e-6, 10_000, None)


def test_every_member_is_asked_for_somewhere():
    assert set(ASKED) == set(FAMILY)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", FAMILY)
def test_alone_as_in_a_batch(kind, keep):
    problem = problem_of(GROUND, Options(**ASKED[kind]), np.dtype(float))
    assert isinstance(problem.member, kind)
    task = problem.member.prepare(problem, Wishes(keep, pairs=len(X)))
    answers = solve_batch(task, X[:1], X)
    for k, row in enumerate(X):
        outcome, _, _ = solve_pair(task, X[0], row)
        assert answers.value[k] == pytest.approx(outcome.value, rel=1e-12)
        assert answers.status[k] == outcome.status == STATUS_CONVERGED
        assert (answers.f is not None) == keep


@pytest.mark.parametrize("kind", FAMILY)
def test_facts_tell_members_apart(kind):
    problem = problem_of(GROUND, Options(**ASKED[kind]), np.dtype(float))
    facts = problem.facts()
    assert facts["distance"] == kind.word
    for other in set(FAMILY) - {kind}:
        assert problem_of(GROUND, Options(**ASKED[other]), np.dtype(float)).facts() != facts
    assert problem.member.seconds_per_entry(STOPPING) > 0.0


@pytest.mark.parametrize("kind", [Constrained, Exact, Independent])
@pytest.mark.parametrize("choice", [{"iterations": 3}, {"solver": "log"}])
def test_only_a_penalty_leaves_a_choice(kind, choice):
    with pytest.raises(InputError, match=kind.word) as caught:
        problem_of(GROUND, Options(**ASKED[kind], **choice), np.dtype(float))
    assert caught.value.option in (*choice, "lam")


@pytest.mark.parametrize("kind", FAMILY)
@pytest.mark.parametrize("unit", [1e-40, 1e40])
def test_units_of_cost(kind, unit):
    """Costs beyond 1e30 are solved in a unit of their own; answers are in the caller's."""
    asked = dict(ASKED[kind])
    if kind in (Penalised, Unbalanced):
        asked["lam"] /= unit
    if kind is Unbalanced:
        asked["mass_penalty"] = tuple(side * unit for side in asked["mass_penalty"])
    far = problem_of(sd.Ground(GROUND.matrix * unit), Options(**asked), np.dtype(float))
    near = problem_of(GROUND, Options(**ASKED[kind]), np.dtype(float))
    for problem, factor in ((near, unit), (far, 1.0)):
        task = problem.member.prepare(problem, Wishes())
        value = solve_pair(task, X[0], X[3])[0].value * factor
        assert (task.unit == 1.0) == (problem is near)
        if problem is near:
            wanted = value
    assert value == pytest.approx(wanted, rel=1e-6)


@dataclass(frozen=True, slots=True)
class LargestCost(Member):
    """A member that a test adds: the dearest move between two histograms."""

    word: ClassVar[str] = "largest cost"
    lam: float = field(default=math.nan, init=False, repr=False)

    def facts(self, stopping):
        return {"lam": None, "alpha": None, "tol": None, "max_iter": None}

    def seconds_per_entry(self, stopping):
        return 1e-9

    def solve_on_bins(self, task, rows, columns, r, c):
        value = float(task.ground.block(rows, columns).max())
        f, g = np.zeros(r.size), np.zeros(c.size)
        return Outcome(value, 0.0, 1, STATUS_CONVERGED, INDEPENDENCE, f, g, math.nan)


def test_a_new_member_is_one_class():
    """Batches, tiles, threads and facts come with it."""
    problem = Problem(
        GROUND, LargestCost(), STOPPING, SOLVERS["auto"], np.dtype(float), Options(workers=2)
    )
    family = Histograms(X)
    pairs = AllPairs(problem, family, family, one_family=True, need_error=False)
    D, tally = all_pairs(pairs, 2)
    M = GROUND.matrix
    wanted = [[M[np.ix_(x > 0, y > 0)].max() for y in X] for x in X]
    np.testing.assert_array_equal(D, wanted)
    assert tally.counts == {STATUS_CONVERGED: 21}
    assert problem.facts()["distance"] == "largest cost"
