"""Which bounds are used for what, and that nothing unproven drops a candidate."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.pairs.reading import read_problem
from sinkdist.problem.options import Options
from sinkdist.search import candidates, cascade
from sinkdist.search.candidates import Candidates
from sinkdist.search.index import read_queries
from sinkdist.solvers.explored import Plane
from sinkdist.solvers.members import Constrained, Exact, Penalised

RNG = np.random.default_rng(6)
X = RNG.dirichlet(np.full(12, 0.4), 4)
Y = RNG.dirichlet(np.full(12, 0.4), 60)
POINTS = sd.Ground.points(RNG.random((12, 4)))
DOCUMENTS = ("relaxed transport", "two transforms", "planes")


@pytest.mark.parametrize(
    ("ground", "member", "sparse", "wanted"),
    [
        (sd.Ground.grid(3, 4), {"lam": np.inf}, False, ("projections", "planes")),
        (sd.Ground.grid(3, 4), {"alpha": 0.2}, False, ("projections", "planes")),
        (sd.Ground.grid(3, 4), {"lam": 5.0}, False, ("projections", "planes")),
        (sd.Ground.grid(3, 4), {"lam": np.inf}, True, ("projections", *DOCUMENTS[1:])),
        (
            sd.Ground.grid(3, 4, metric="sqeuclidean"),
            {"lam": np.inf},
            True,
            ("relaxed transport", "planes"),
        ),
        (sd.Ground.points(RNG.random((12, 2))), {"lam": np.inf}, False, ("projections", "planes")),
        (POINTS, {"lam": np.inf}, False, ("planes",)),
        (POINTS, {"lam": np.inf}, True, DOCUMENTS),
        (POINTS, {"alpha": 0.2}, True, DOCUMENTS),
        (sd.Ground(RNG.random((12, 12))), {"lam": np.inf}, True, ("relaxed transport", "planes")),
        (sd.Ground.grid(12), {"lam": np.inf}, False, ("a closed form",)),
        (POINTS, {"lam": 0}, False, ("one product",)),
        (POINTS, {"lam": 5.0, "iterations": 3}, False, ()),
    ],
)
def test_bounds_are_chosen_by_their_conditions(ground, member, sparse, wanted, monkeypatch):
    monkeypatch.setattr(cascade, "MANY", 2)
    monkeypatch.setattr(candidates, "_SPARSE", 2.0 if sparse else 0.0)
    assert sd.neighbors(X, Y, ground=ground, k=2, **member).bounds == wanted


@pytest.mark.parametrize("sparse", [False, True])
def test_many_pairs_are_worth_a_copy_of_the_costs(sparse, monkeypatch):
    monkeypatch.setattr(candidates, "_SPARSE", 2.0 if sparse else 0.0)
    problem = read_problem(Y, None, POINTS, Options(lam=np.inf))
    rows = Candidates.of(read_queries(Y, "Y", problem, 12))
    few, many = (cascade.Cascade(problem, rows, pairs).single for pairs in (23, 24))
    assert few is None and (many is not None) == sparse
    if many is not None:
        np.testing.assert_array_equal(many, POINTS.matrix.astype(np.float32))


@pytest.mark.parametrize("member", [{"lam": np.inf}, {"alpha": 0.2}])
def test_a_bound_that_is_too_large_changes_the_answer(member, monkeypatch):
    """The check on the other tests: they would notice a bound that is not proven."""
    found = sd.neighbors(X, Y, ground=POINTS, k=5, **member)
    kind = Exact if "lam" in member else Constrained
    honest = kind.planes

    def boastful(self, M, r, F, lam):
        return [Plane(x.g, x.constant + 0.3 * M.max()) for x in honest(self, M, r, F, lam)]

    monkeypatch.setattr(kind, "planes", boastful)
    other = sd.neighbors(X, Y, ground=POINTS, k=5, **member)
    assert (other.indices != found.indices).any()


def test_planes_of_the_penalised_distance_drop_nothing():
    """Its value is not that of an optimum: it has no plane, and only exact distances bound it."""
    of_two = np.ones((2, 2)), np.ones(2) / 2, np.zeros((1, 2)), np.array([3.0])
    assert Penalised(3.0).planes(*of_two) == []
    made = sd.Index(Y, POINTS, lam=3.0)._engine.cascade
    assert not made.has_planes and made.exact is not None
    fixed = sd.Index(Y, POINTS, lam=3.0, iterations=5)._engine.cascade
    assert not fixed.is_bounded and fixed.exact is None and fixed.projections is None
    assert not fixed.start(X).any()


def test_estimates_skip_but_do_not_prove(monkeypatch):
    """Where an estimate ends the search, what it skipped stays unproven."""
    from sinkdist.search import guessing

    honest = guessing.soft_plane

    def boastful(*arguments):
        plane = honest(*arguments)
        return Plane(plane.g, plane.constant + 100.0 * POINTS.max)

    found = sd.neighbors(X, Y, ground=POINTS, k=5, lam=30.0, order="heuristic")
    assert (found.solved <= len(Y)).all()
    monkeypatch.setattr(guessing, "soft_plane", boastful)
    monkeypatch.setattr(guessing.Guessing, "_information", 0.0, raising=False)
    wrong = sd.neighbors(X, Y, ground=POINTS, k=5, lam=30.0, order="heuristic")
    D = sd.pairwise(X, Y, ground=POINTS, lam=30.0)
    for q, row in enumerate(D):
        sure = wrong.proven[q]
        np.testing.assert_allclose(
            wrong.distances[q][sure], np.sort(row)[:5][: sure.sum()], rtol=1e-5
        )


def test_far_candidates_are_not_solved():
    """Half of the family lies at the other end of the grid: bounds rule it out."""
    ground = sd.Ground.grid(8, 8)
    near, far = np.zeros((200, 64)), np.zeros((200, 64))
    near[:, :16], far[:, 48:] = RNG.dirichlet(np.ones(16), 200), RNG.dirichlet(np.ones(16), 200)
    rows = np.vstack([near, far])
    for member in ({"lam": np.inf}, {"alpha": 1.0}):
        found = sd.neighbors(near[:5], rows, ground=ground, k=3, **member)
        assert (found.solved <= 200).all() and (found.indices < 200).all()
