"""Properties that hold for every problem: hypothesis draws them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sinkdist as sd
from tests.problems import digits, grid_costs, random_metric, simplex, sparse_histograms

EXAMPLES = settings(max_examples=40)
TIGHT = {"tol": 1e-11, "max_iter": 100_000}


@st.composite
def pairs(draw, square=True, symmetric=False):
    """A ground and two histograms on it, some bins without mass, and a strength."""
    d = draw(st.integers(2, 9))
    e = d if square else draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    M = rng.random((d, e))
    if symmetric:
        M = M + M.T
    r, c = (_histogram(rng, n, draw(st.floats(0.3, 1.0))) for n in (d, e))
    return r, c, M, draw(st.sampled_from([0.01, 1.0, 8.0, 40.0, 200.0])) / np.median(M)


def _histogram(rng, d, density):
    weights = rng.exponential(size=d) * (rng.random(d) < density)
    weights[rng.integers(d)] += 0.5
    return weights / weights.sum()


@EXAMPLES
@given(pairs(symmetric=True))
def test_symmetric(pair):
    r, c, M, lam = pair
    there, back = sd.solve(r, c, M, lam=lam, **TIGHT), sd.solve(c, r, M, lam=lam, **TIGHT)
    assert back.value == pytest.approx(there.value, rel=1e-9)
    np.testing.assert_allclose(back.plan, there.plan.T, atol=1e-9)


@EXAMPLES
@given(pairs(square=False))
def test_transposing_the_ground_exchanges_the_histograms(pair):
    r, c, M, lam = pair
    assert sd.distance(c, r, M.T, lam=lam, **TIGHT) == pytest.approx(
        sd.distance(r, c, M, lam=lam, **TIGHT), rel=1e-9
    )


@EXAMPLES
@given(pairs(square=False), st.integers(0, 2**32 - 1))
def test_the_order_of_bins_does_not_matter(pair, seed):
    r, c, M, lam = pair
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(r.size), rng.permutation(c.size)
    moved = sd.solve(r[p], c[q], M[np.ix_(p, q)], lam=lam, **TIGHT)
    here = sd.solve(r, c, M, lam=lam, **TIGHT)
    assert moved.value == pytest.approx(here.value, rel=1e-9)
    np.testing.assert_allclose(moved.plan, here.plan[np.ix_(p, q)], atol=1e-9)


@EXAMPLES
@given(pairs(square=False), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_bins_without_mass_do_not_matter(pair, above, beside, seed):
    """Padding changes nothing, however cheap the new bins are."""
    r, c, M, lam = pair
    rng = np.random.default_rng(seed)
    wide = rng.uniform(0, M.max(), (r.size + above, c.size + beside))
    wide[above:, beside:] = M
    r2, c2 = np.concatenate([np.zeros(above), r]), np.concatenate([np.zeros(beside), c])
    padded, bare = sd.solve(r2, c2, wide, lam=lam, **TIGHT), sd.solve(r, c, M, lam=lam, **TIGHT)
    assert padded.value == pytest.approx(bare.value, rel=1e-12)
    np.testing.assert_allclose(padded.emd_bounds, bare.emd_bounds, rtol=1e-9, atol=1e-12)
    assert padded.plan[:above].max() == padded.plan[:, :beside].max() == 0.0
    assert sd.distance(r2, c2, wide, lam=lam, iterations=7) == pytest.approx(
        sd.distance(r, c, M, lam=lam, iterations=7), rel=1e-12
    )


@EXAMPLES
@given(pairs(square=False), st.integers(-90, 90))
def test_only_lam_times_cost_matters(pair, exponent):
    """(M, lam) -> (s M, lam / s) multiplies the distance by s: to the bit for powers of two."""
    r, c, M, lam = pair
    s = 2.0**exponent
    here, there = sd.solve(r, c, M, lam=lam), sd.solve(r, c, s * M, lam=lam / s)
    assert there.value == pytest.approx(s * here.value, rel=1e-12)
    assert there.n_iter == here.n_iter
    np.testing.assert_allclose(there.plan, here.plan, rtol=1e-9, atol=1e-15)
    lower, upper = here.emd_bounds
    np.testing.assert_allclose(there.emd_bounds, (s * lower, s * upper), rtol=1e-9)


@EXAMPLES
@given(pairs(square=False), st.floats(0.0, 5.0))
def test_a_constant_on_all_costs_is_added_to_the_distance(pair, constant):
    r, c, M, lam = pair
    assert sd.distance(r, c, M + constant, lam=lam, **TIGHT) == pytest.approx(
        sd.distance(r, c, M, lam=lam, **TIGHT) + constant, rel=1e-8
    )


@EXAMPLES
@given(pairs(square=False))
def test_the_distance_falls_as_lam_grows(pair):
    """From r^T M c down to the EMD, and the entropy with it."""
    r, c, M, _ = pair
    solutions = [
        sd.solve(r, c, M, lam=L / np.median(M), **TIGHT) for L in (1e-6, 0.1, 1, 5, 20, 100)
    ]
    values = np.array([s.value for s in solutions])
    assert values[0] == pytest.approx(float(r @ M @ c), rel=1e-5)
    assert (np.diff(values) <= 1e-9).all()
    assert (np.diff([s.entropy for s in solutions]) <= 1e-9).all()
    assert (np.diff([s.alpha for s in solutions]) >= -1e-9).all()
    assert solutions[-1].emd_bounds[0] <= values[-1] + 1e-9


@EXAMPLES
@given(pairs())
def test_float32_is_float64_rounded(pair):
    r, c, M, lam = pair
    single = sd.distance(r.astype("f4"), c.astype("f4"), M, lam=lam, tol=1e-6, max_iter=100_000)
    assert single == pytest.approx(
        sd.distance(r, c, M, lam=lam, **TIGHT), rel=1e-4, abs=1e-5 * M.max()
    )


# ------------------------------------------------------------- one pair, a batch and threads agree

FAMILIES = {
    "small": (random_metric(20, 0), simplex(40, 20, 1)),
    "sparse": (grid_costs(8, 8), digits(60)),
    "blocks": (random_metric(180, 2), simplex(20, 180, 3)),
    "sparse blocks": (grid_costs(18, 18), sparse_histograms(20, 324, 4, density=0.6)),
}


@pytest.mark.parametrize(
    "option", [{}, {"iterations": 12}, {"max_iter": 3}], ids=["tol", "iterations", "max_iter"]
)
@pytest.mark.parametrize("L", [1, 9, 60])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
def test_a_pair_is_worth_the_same_alone_in_a_batch_and_on_threads(name, L, option):
    M, X = FAMILIES[name]
    ground = sd.Ground(M).scaled()
    same = {"ground": ground, "lam": L, **option}
    alone = np.array([sd.distance(X[0], x, **same) for x in X])
    for workers in (1, 2, 5):
        np.testing.assert_allclose(sd.distance(X[0], X, workers=workers, **same), alone, rtol=1e-12)
        some = sd.pairwise(X[:12], X, workers=workers, **same)
        np.testing.assert_allclose(some[0], alone, rtol=1e-12)
        np.testing.assert_allclose(some[7, 3], sd.distance(X[7], X[3], **same), rtol=1e-12)
    assert sd.solve(X[0], X[5], **same).value == pytest.approx(alone[5], rel=1e-12)
    np.testing.assert_allclose(sd.solve(X[0], X, **same).value, alone, rtol=1e-12)
    np.testing.assert_allclose(
        sd.solve(X[:1].repeat(len(X), 0), X, **same).value, alone, rtol=1e-12
    )


@pytest.mark.parametrize("L", [9, 60])
def test_batch_mates_do_not_matter(L):
    """The hard pair takes its own way; the others neither wait for it nor change."""
    X = digits(30)
    easy = sd.distance(X[0], X[1:20], sd.Ground.grid(8, 8), lam=L / 3.6)
    hard = np.eye(64)[[0, 63, 7]] * (1 - 1e-12) + 1e-12 / 64
    mixed = np.concatenate([X[1:10], hard / hard.sum(axis=1, keepdims=True), X[10:20]])
    among = sd.distance(X[0], mixed, sd.Ground.grid(8, 8), lam=L / 3.6)
    np.testing.assert_allclose(np.delete(among, [9, 10, 11]), easy, rtol=1e-12)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_call_gives_the_same_bits(workers):
    X = digits(50)
    ground = sd.Ground.grid(8, 8).scaled()
    first, second = (sd.pairwise(X, ground=ground, lam=9, workers=workers) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    np.testing.assert_array_equal(first, first.T)
