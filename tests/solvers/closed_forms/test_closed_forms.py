"""Every closed form against exact arithmetic, POT and a linear program, alone and in batches."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sinkdist as sd
from sinkdist.solvers.closed_forms import CLOSED_FORMS
from sinkdist.solvers.outcome import RAN
from tests.problems import emd, simplex, sparse_histograms
from tests.solvers.closed_forms.grounds import (
    INF,
    MAKE,
    assert_proven,
    barely_apart,
    cycle,
    extreme,
    tree,
    truth,
)

SAID = {**{kind: kind for kind in MAKE}, "constant": "uniform"}
SIZES = {"tree": (1, 2, 3, 4, 7, 25), "cycle": (3, 4, 5, 8, 25)}
CASES = [(kind, d) for kind in MAKE for d in SIZES.get(kind, (3, 4, 7, 25))]


def exact(ground, r, c):
    structure = ground.structure
    return CLOSED_FORMS[structure.kind].exact(ground, structure, r, c)


def test_the_table_has_a_solver_name_for_every_kind():
    assert {kind: RAN[form.ran] for kind, form in CLOSED_FORMS.items()} == {**SAID, "line": "line"}


@pytest.mark.parametrize(("kind", "d"), CASES)
@pytest.mark.parametrize("make", [simplex, sparse_histograms])
def test_against_exact_arithmetic(kind, d, make):
    for seed in range(4):
        ground = MAKE[kind](d, seed)
        r, c = make(1, d, seed)[0], make(1, ground.shape[1], seed + 10)[0]
        assert ground.structure.kind == kind or d == 3
        assert_proven(exact(ground, r, c), r, c, ground)


@pytest.mark.parametrize("kind", MAKE)
def test_against_pot_and_a_linear_program(kind):
    ground = MAKE[kind](40, 0)
    M = np.array(ground.matrix)
    r, c = simplex(1, 40, 1)[0], sparse_histograms(1, 40, 2)[0]
    s = sd.solve(r, c, ground, lam=INF)
    assert s.solver == SAID[kind] and s.converged and s.lam == INF and s.n_iter == 1
    assert s.value == pytest.approx(emd(r, c, M), rel=1e-9)
    sums = np.concatenate([np.kron(np.eye(40), np.ones(40)), np.kron(np.ones(40), np.eye(40))])
    found = linprog(M.ravel(), A_eq=sums[:-1], b_eq=[*r, *c[:-1]], method="highs")
    assert s.value == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("kind", ["tree", "cycle", "star", "uniform"])
@pytest.mark.parametrize("d", [3, 6, 20])
def test_masses_of_all_sizes(kind, d):
    for seed in range(6):
        ground, (r, c) = MAKE[kind](d, seed), extreme(d, seed)
        assert_proven(exact(ground, r, c), r, c, ground)


@pytest.mark.parametrize("kind", ["tree", "cycle", "star", "uniform"])
@pytest.mark.parametrize("mass", [1e-6, 1e-12, 1e-15])
def test_histograms_that_are_barely_apart(kind, mass):
    for seed in range(4):
        ground, (r, c) = MAKE[kind](12, seed), barely_apart(12, seed, mass)
        assert_proven(exact(ground, r, c), r, c, ground)
        D = sd.pairwise(r[None], c[None], ground=ground, lam=INF)
        assert D[0, 0] == pytest.approx(float(truth(r, c, ground.matrix)), rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", [*MAKE, "line"])
def test_a_histogram_to_itself(kind):
    ground = MAKE[kind](9, 0) if kind in MAKE else sd.Ground.grid(9)
    r = simplex(1, 9, 3)[0]
    s = sd.solve(r, r, ground, lam=INF)
    stays = 1.7 if kind == "constant" else 0.0
    assert s.value == stays and s.bracket == (stays, stays)
    assert sd.pairwise(r[None], ground=ground, lam=INF, coincidence=False)[0, 0] == stays


@pytest.mark.parametrize("kind", [*MAKE, "line"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_pairs_are_the_pairs_one_by_one(kind, dtype):
    ground = MAKE[kind](15, 0) if kind in MAKE else sd.Ground.points(simplex(1, 15, 9)[0])
    X = np.concatenate([simplex(3, 15, 4), sparse_histograms(3, 15, 5), extreme(15, 1)])
    X = X.astype(dtype)
    D = sd.pairwise(X, X[::-1], ground=ground, lam=INF)
    alone = [[sd.solve(x, y, ground, lam=INF).value for y in X[::-1]] for x in X]
    assert D.dtype == dtype
    np.testing.assert_allclose(D, alone, rtol=1e-13 if dtype == np.float64 else 1e-6, atol=0)
    some = sd.distance(X[0], X, ground, lam=INF)
    np.testing.assert_allclose(some, D[0, ::-1], rtol=1e-13, atol=0)
    s = sd.solve(X[0], X, ground, lam=INF)
    assert set(s.solver) == {SAID.get(kind, kind)} and s.converged.all()


def test_pairs_that_floats_do_not_know_are_solved_alone():
    """Masses of 1e-25 beside 1: the batch alone would be 1e-7 off."""
    ground = sd.Ground.grid(4)
    X = np.array([[1.0, 1e-25, 0.0, 1e-25], [1.0, 0.0, 1e-25, 1e-25], [1.0, 0.0, 0.0, 2e-25]])
    D = sd.pairwise(X, ground=ground, lam=INF)
    exact = [[float(truth(x, y, ground.matrix)) for y in X] for x in X]
    np.testing.assert_allclose(D, exact, rtol=1e-12, atol=0)
    assert D[0, 1] > 0


@pytest.mark.parametrize("kind", ["tree", "cycle", "star", "uniform"])
def test_bounds_hold_for_counts_as_they_were_given(kind):
    """Dividing by the sum rounds every mass before a solver sees it."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        ground, (r, c) = MAKE[kind](6, seed), rng.random((2, 6)) * 10
        lower, upper = sd.solve(r, c, ground, lam=INF, normalize=True).bracket
        assert lower <= truth(r, c, ground.matrix) <= upper


@pytest.mark.parametrize("kind", ["tree", "cycle", "star", "uniform"])
@pytest.mark.parametrize("scale", [1e-300, 1e-31, 1e31, 1e300])
def test_costs_of_any_size(kind, scale):
    ground = MAKE[kind](8, 1)
    r, c = simplex(2, 8, 0)
    value = sd.distance(r, c, ground, lam=INF)
    s = sd.solve(r, c, ground.scaled(1.0 / scale), lam=INF)
    assert s.solver == kind
    assert s.value == pytest.approx(value * scale, rel=1e-12)
    low, high = s.bracket
    assert low <= s.value <= high


@pytest.mark.parametrize("kind", [*MAKE, "line"])
def test_a_vacuous_alpha_takes_the_same_way(kind):
    ground = MAKE[kind](9, 0) if kind in MAKE else sd.Ground.grid(9)
    r, c = simplex(1, 9, 1)[0], simplex(1, ground.shape[1], 2)[0]
    s, exactly = sd.solve(r, c, ground, alpha=50.0), sd.solve(r, c, ground, lam=INF)
    assert s.solver == exactly.solver == SAID.get(kind, kind)
    assert s.value == exactly.value and s.lam == INF


@pytest.mark.parametrize("kind", ["tree", "cycle", "star"])
def test_structures_survive_pickling_and_scaling(kind):
    ground = MAKE[kind](10, 3)
    r, c = simplex(2, 10, 1)
    value = sd.distance(r, c, ground, lam=INF)
    copy = pickle.loads(pickle.dumps(ground.scaled("max")))
    s = sd.solve(r, c, copy, lam=INF)
    assert s.solver == kind
    assert s.value == pytest.approx(value / ground.max, rel=1e-13)


SEEDS = st.integers(0, 10**6)


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(["tree", "cycle", "star", "uniform"]), d=st.integers(3, 12), seed=SEEDS)
def test_a_metric_that_knows_no_names(kind, d, seed):
    """Symmetric, triangle inequality, and the same after bins have been renamed."""
    rng = np.random.default_rng(seed)
    ground = MAKE[kind](d, seed % 1000)
    X = sparse_histograms(3, d, seed, density=0.6)
    D = sd.pairwise(X, ground=ground, lam=INF)
    np.testing.assert_array_equal(D, D.T)
    assert D[0, 2] <= (D[0, 1] + D[1, 2]) * (1 + 1e-14)
    other = rng.permutation(d)
    M = np.array(ground.matrix)[np.ix_(other, other)]
    renamed = sd.pairwise(X[:, other], ground=sd.Ground(M), lam=INF)
    np.testing.assert_allclose(renamed, D, rtol=1e-12, atol=1e-300)


@settings(max_examples=60, deadline=None)
@given(d=st.integers(3, 9), seed=SEEDS, dominating=st.booleans())
def test_random_cycles(d, seed, dominating):
    ground = cycle(d, seed, zeros=0.3, dominating=dominating)
    assert ground.structure.kind == "cycle"
    r, c = sparse_histograms(2, d, seed, density=0.6)
    assert_proven(exact(ground, r, c), r, c, ground)


@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 9), seed=SEEDS, spread=st.sampled_from([0.0, 3.0, 10.0]))
def test_random_trees(d, seed, spread):
    ground = tree(d, seed, zeros=0.3, spread=spread)
    assert ground.structure.kind == "tree"
    r, c = sparse_histograms(2, d, seed, density=0.6)
    assert_proven(exact(ground, r, c), r, c, ground)
