"""Barycentres as users see them: closed forms, other packages, hard input, errors."""

import pickle
import sys
import warnings

import numpy as np
import ot
import pandas as pd
import pytest
from scipy.sparse import csr_array

import sinkdist as sd

LINE = sd.Ground.grid(60, metric="sqeuclidean")
PLACES = np.arange(60.0)


def family(n, d, seed=0, zeros=0.3):
    """Histograms, some of whose bins are 0."""
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.ones(d), n) * (rng.random((n, d)) > zeros)
    return X / X.sum(axis=1, keepdims=True)


def points(d, seed=0):
    return sd.Ground.points(np.random.default_rng(seed).normal(size=(d, 2)))


def gaussian(mean, deviation):
    a = np.exp(-((PLACES - mean) ** 2) / (2 * deviation**2))
    return a / a.sum()


def moments(a):
    mean = a @ PLACES
    return mean, np.sqrt(a @ PLACES**2 - mean**2)


# Closed forms


@pytest.mark.parametrize("lam", [0.3, 5.0, 1e4])
@pytest.mark.parametrize("n", [1, 3])
def test_the_mean_of_one_histogram_is_itself(lam, n):
    x = family(1, 20)[0]
    found = sd.solve_barycenter(np.tile(x, (n, 1)), ground=points(20), lam=lam)
    np.testing.assert_array_equal(found.histogram, x)
    assert found.converged and found.objective == 0.0 and found.n_iter == 0


@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_the_blurred_mean_of_one_histogram(lam):
    """``a = K (b / K^T 1)``: one product is the whole iteration."""
    x, ground = family(1, 20)[0], points(20)
    K = np.exp(-lam * ground.matrix)
    found = sd.barycenter(x[None], ground=ground, lam=lam, debiased=False)
    np.testing.assert_allclose(found, K @ (x / K.sum(axis=0)), atol=1e-12)


@pytest.mark.parametrize("lam", [5.0, 100.0])
def test_diracs_on_a_line_have_a_mean_in_between(lam):
    X = np.eye(60)[[10, 50]]
    weights = [[0.5, 0.5], [0.25, 0.75], [1, 0]]
    found = sd.barycenter(X, ground=LINE, lam=lam, weights=weights)
    np.testing.assert_allclose(found, np.eye(60)[[30, 40, 10]], atol=1e-9)


@pytest.mark.parametrize("lam", [0.05, 0.2])
def test_mean_and_deviation_of_gaussians_are_averages(lam):
    places = np.arange(200.0)
    X = np.exp(-0.5 * ((places - [[70], [130]]) / [[8], [12]]) ** 2)
    found = sd.barycenter(
        X, weights=[[0.5, 0.5], [0.25, 0.75]], ground=sd.Ground.grid(200, metric="sqeuclidean"),
        lam=lam, normalize=True,
    )  # fmt: skip
    means = found @ places
    np.testing.assert_allclose(means, [100, 115], atol=1e-4)
    np.testing.assert_allclose(np.sqrt(found @ places**2 - means**2), [10, 11], rtol=1e-4)


def test_without_debiasing_gaussians_are_blurred():
    X = np.array([gaussian(20, 3), gaussian(38, 6)])
    _, sharp = moments(sd.barycenter(X, ground=LINE, lam=0.1))
    _, blurred = moments(sd.barycenter(X, ground=LINE, lam=0.1, debiased=False))
    assert sharp == pytest.approx(4.5, rel=2e-2) and blurred > 1.1 * sharp


# Invariances


@pytest.mark.parametrize("debiased", [True, False])
def test_bins_may_be_permuted_and_padded(debiased):
    X, ground = family(4, 12), points(12)
    order = np.random.default_rng(1).permutation(12)
    options = {"lam": 4.0, "debiased": debiased, "tol": 1e-10}
    found = sd.barycenter(X, ground=ground, **options)
    turned = sd.barycenter(X[:, order], ground=ground.matrix[np.ix_(order, order)], **options)
    np.testing.assert_allclose(turned, found[order], atol=1e-8)


def test_symmetric_weights_give_mirrored_barycentres():
    X = np.array([gaussian(15, 3), gaussian(44, 3)])
    w = np.linspace(0.1, 0.9, 5)
    found = sd.barycenter(X, ground=LINE, lam=1.0, weights=np.stack([w, 1 - w], axis=1), tol=1e-9)
    np.testing.assert_allclose(found, found[::-1, ::-1], atol=1e-6)


def test_costs_and_lam_have_one_unit():
    X, ground = family(3, 15), points(15)
    found = sd.solve_barycenter(X, ground=ground, lam=6.0, tol=1e-9)
    scaled = sd.solve_barycenter(X, ground=ground.matrix * 1e20, lam=6.0e-20, tol=1e-9)
    np.testing.assert_allclose(scaled.histogram, found.histogram, atol=1e-9)
    assert scaled.objective == pytest.approx(1e20 * found.objective)


@pytest.mark.parametrize("debiased", [True, False])
@pytest.mark.parametrize("lam", [5.0, 250.0])
def test_many_weights_at_once_are_those_one_by_one(debiased, lam):
    X, ground = family(5, 15), points(15)
    weights = np.random.default_rng(3).dirichlet(np.ones(5), 4)
    weights[1] = [0.5, 0, 0.5, 0, 0]
    options = {"ground": ground, "lam": lam, "debiased": debiased}
    many = sd.solve_barycenter(X, weights=weights, **options)
    for k, row in enumerate(weights):
        one = sd.solve_barycenter(X, weights=row, **options)
        np.testing.assert_allclose(many.histogram[k], one.histogram, atol=1e-11)
        np.testing.assert_allclose(many.objective[k], one.objective, rtol=1e-9)
        assert many.n_iter[k] == one.n_iter and many.converged[k] and one.converged


@pytest.mark.parametrize("lam", [5.0, 250.0])
def test_csr_rows_are_dense_rows(lam):
    X, ground = family(5, 15, zeros=0.7), points(15)
    np.testing.assert_array_equal(
        sd.barycenter(csr_array(X), ground=ground, lam=lam),
        sd.barycenter(X, ground=ground, lam=lam),
    )


def test_threads_change_nothing():
    X, ground = family(300, 30), points(30)
    one, two = (sd.barycenter(X, ground=ground, lam=5.0, workers=k) for k in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-12)


# Optimality, other packages


@pytest.mark.parametrize("lam", [1.0, 8.0])
@pytest.mark.parametrize("debiased", [True, False])
def test_the_objective_is_that_of_the_verbs_and_the_least(lam, debiased):
    X, ground = family(4, 10, zeros=0.2), points(10)
    w = np.array([0.4, 0.3, 0.2, 0.1])

    def objective(a):
        rows = np.tile(a, (4, 1))
        if debiased:
            return w @ sd.divergence(rows, X, ground, lam=lam, tol=1e-10)
        return w @ sd.solve(rows, X, ground, lam=lam, tol=1e-10).objective

    found = sd.solve_barycenter(X, ground=ground, lam=lam, weights=w, debiased=debiased, tol=1e-9)
    best = objective(found.histogram)
    assert found.objective == pytest.approx(best, abs=1e-7)
    for seed in range(5):
        other = np.random.default_rng(seed).dirichlet(np.ones(10))
        for step in (0.5, 0.05, 0.005):
            assert objective((1 - step) * found.histogram + step * other) > best - 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lam", [0.7, 4.0, 15.0])
def test_pot_agrees(seed, lam):
    X, ground = family(6, 15, seed), points(15, seed)
    # In the log domain: POT's other method takes unequal weights for something else.
    w = np.random.default_rng(seed).dirichlet(np.ones(6))
    for weights, method in ((w, "sinkhorn_log"), (None, "sinkhorn")):
        wanted = ot.bregman.barycenter(
            X.T, ground.matrix.copy(), 1 / lam, weights, method=method, numItermax=200_000,
            stopThr=1e-11,
        )  # fmt: skip
        found = sd.barycenter(X, ground=ground, lam=lam, weights=weights, debiased=False, tol=1e-10)
        np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lam", [4.0, 15.0])
def test_pot_agrees_on_debiased_ones(seed, lam):
    X, ground = family(6, 15, seed), points(15, seed)
    w = np.random.default_rng(seed).dirichlet(np.ones(6))
    wanted = ot.bregman.barycenter_debiased(
        X.T, ground.matrix.copy(), 1 / lam, w, numItermax=200_000, stopThr=1e-13
    )
    found = sd.barycenter(X, ground=ground, lam=lam, weights=w, tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_lam_at_which_pot_has_no_number():
    X = np.array([gaussian(15, 2), gaussian(44, 4)])
    X[X < 1e-6] = 0.0
    X /= X.sum(axis=1, keepdims=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        theirs = ot.bregman.barycenter(X.T, LINE.matrix.copy(), 1 / 500.0)
    assert not np.isfinite(theirs).all()
    found = sd.solve_barycenter(X, ground=LINE, lam=500.0)
    assert found.converged and abs(found.histogram.sum() - 1) < 1e-12
    mean, deviation = moments(found.histogram)
    assert mean == pytest.approx(29.5, abs=0.01) and deviation == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize("debiased", [True, False])
def test_any_lam_ends_with_numbers(debiased):
    X, ground = family(4, 12, zeros=0.5), points(12)
    for lam in np.geomspace(1e-8, 1e10, 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sd.ConvergenceWarning)
            found = sd.solve_barycenter(X, ground=ground, lam=lam, debiased=debiased, max_iter=200)
        assert np.isfinite(found.histogram).all() and np.isfinite(found.objective)
        assert found.histogram.min() >= 0.0 and found.histogram.sum() == pytest.approx(1)
        assert (found.marginal_error <= 2.0 + 1e-9).all()
        assert found.converged == (max(found.marginal_error.max(), found.self_error) <= 1e-6)


# Kinds of arrays


def test_float32():
    X, ground = family(4, 20), points(20)
    single = sd.barycenter(X.astype("f4"), ground=ground, lam=5.0)
    assert single.dtype == np.float32
    assert sd.barycenter(X, ground=ground, lam=5.0, dtype="float32").dtype == np.float32
    np.testing.assert_allclose(single, sd.barycenter(X, ground=ground, lam=5.0), atol=1e-3)
    sharp = sd.barycenter(X.astype("f4"), ground=ground, lam=100.0)  # beyond its exponents
    assert sharp.dtype == np.float32
    np.testing.assert_allclose(sharp, sd.barycenter(X, ground=ground, lam=100.0), atol=1e-3)


def test_input_is_not_written_to_and_any_layout_is_read():
    X, ground = family(4, 9), points(9)
    right = sd.barycenter(X, ground=ground, lam=3.0)
    frozen = X.copy()
    frozen.setflags(write=False)
    for given in (frozen, np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(sd.barycenter(given, ground=ground, lam=3.0), right)


def test_labels_of_pandas_stay():
    X, ground, names = family(3, 4), points(4), list("abcd")
    frame = pd.DataFrame(X, columns=names)
    one = sd.barycenter(frame, ground=ground, lam=3.0)
    assert isinstance(one, pd.Series) and list(one.index) == names
    np.testing.assert_array_equal(one, sd.barycenter(X, ground=ground, lam=3.0))
    weights = pd.DataFrame([[1, 0, 0], [0.5, 0.5, 0]], index=["first", "both"])
    two = sd.barycenter(frame, ground=ground, lam=3.0, weights=weights)
    assert isinstance(two, pd.DataFrame)
    assert list(two.index) == ["first", "both"] and list(two.columns) == names


def test_counts_and_weights_are_normalised_on_request():
    ground = points(4)
    counts = np.array([[1, 2, 3, 4], [0, 0, 5, 5]])
    found = sd.barycenter(counts, ground=ground, lam=3.0, weights=[1, 3], normalize=True)
    wanted = sd.barycenter(counts / 10, ground=ground, lam=3.0, weights=[0.25, 0.75])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_other_bins_than_those_of_the_histograms():
    """A rectangular ground: barycentres on bins of their own, not debiased."""
    rng = np.random.default_rng(0)
    ours, theirs, X = rng.normal(size=(7, 2)), rng.normal(size=(12, 2)), family(3, 12)
    ground = sd.Ground.points(ours, theirs)
    found = sd.solve_barycenter(X, ground=ground, lam=4.0, debiased=False, tol=1e-9)
    assert found.histogram.shape == (7,) and found.converged
    solved = sd.solve(np.tile(found.histogram, (3, 1)), X, ground, lam=4.0, tol=1e-10)
    assert found.objective == pytest.approx(solved.objective.mean(), abs=1e-8)
    # The condition of the optimum: potentials of the barycentre cancel, but for a constant.
    assert np.ptp(solved.potentials[0].mean(axis=0)) < 1e-6


def test_asymmetric_costs_lead_from_the_barycentre_to_the_histograms():
    M = np.array([[0.0, 1.0, 5.0], [3.0, 0.0, 1.0], [2.0, 4.0, 0.0]])
    X = family(2, 3, zeros=0.0)
    found = sd.solve_barycenter(X, ground=M, lam=3.0, debiased=False, tol=1e-9)
    solved = sd.solve(np.tile(found.histogram, (2, 1)), X, M, lam=3.0, tol=1e-10)
    assert found.objective == pytest.approx(solved.objective.mean(), abs=1e-8)


# What is told


def test_what_is_known():
    X, ground = family(4, 15), points(15)
    found = sd.solve_barycenter(X, ground=ground, reg=0.2)
    assert (
        found.lam == pytest.approx(5.0) and found.debiased and found.status == sd.Status.CONVERGED
    )
    assert found.marginal_error.shape == (4,) and found.marginal_error.max() <= 1e-6
    assert found.self_error <= 1e-6
    assert repr(found).startswith("Barycenter(15 bins, 4 histograms, marginal_error=")
    assert "\n" not in repr(found)
    other = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(other.histogram, found.histogram)


def test_one_warning_where_sweeps_run_out():
    X, ground = family(4, 15), points(15)
    with pytest.warns(sd.ConvergenceWarning) as caught:
        found = sd.solve_barycenter(
            X, ground=ground, lam=50.0, max_iter=3, weights=[[0.25] * 4, [1, 0, 0, 0]]
        )
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "1 of 2 barycentres did not reach tol=1e-06: stopped at max_iter=3" in str(
        caught[0].message
    )
    assert list(found.status) == [sd.Status.MAX_ITER, sd.Status.CONVERGED]
    assert found.marginal_error[0].max() > 1e-6 and found.n_iter.tolist() == [3, 0]
    with pytest.warns(sd.ConvergenceWarning) as caught:
        sd.barycenter(X, ground=ground, lam=50.0, max_iter=3)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of 'lam', 'reg' and 'alpha'. Got none"),
        ({"lam": np.inf}, "need entropy: the 'lam' option must be positive and finite. Got inf"),
        ({"lam": 0}, "the 'lam' option must be positive and finite. Got 0"),
        ({"reg": 0}, "the 'reg' option must be positive and finite. Got 0"),
        ({"lam": 1e200}, "lam times the largest cost is 3e.200"),
        ({"lam": 1, "tol": 0}, "'tol' option must be positive"),
        ({"lam": 1, "max_iter": 0}, "'max_iter' option must be at least 1"),
        ({"lam": 1, "debiased": "yes"}, "'debiased' option must be True or False"),
        ({"lam": 1, "dtype": "int8"}, "'dtype' option must be float32 or float64"),
        ({"lam": 1, "weights": [1, 1]}, "'weights' sums to 2"),
        ({"lam": 1, "workers": 0}, "'workers' option must be at least 1"),
        ({"lam": 1, "X": [1, 0, 0, 0]}, "'X' must be a family of histograms"),
        ({"lam": 1, "X": np.zeros((0, 4))}, "'X' holds no histogram"),
        ({"lam": 1, "X": [[1, 0, 0, 0], [0, 0, 0, 0]]}, "Row 1 of 'X' has no mass: drop"),
        ({"lam": 1, "X": [[1, 1, 0, 0]]}, "Row 0 of 'X' sums to 2"),
        ({"lam": 1, "X": [[1, 0, 0]]}, "'X' has 3 bins per row, but the ground metric has 4"),
        ({"lam": 1, "ground": np.ones((2, 4))}, "the ground is 2 x 4: pass debiased=False"),
        ({"lam": 1, "ground": np.arange(16.0).reshape(4, 4)}, "asymmetric: pass debiased=False"),
    ],
    ids=str,
)  # fmt: skip
def test_errors_name_what_is_wrong(options, message):
    given = {"X": [[1, 0, 0, 0], [0, 0, 1, 0]], "ground": sd.Ground.grid(4), **options}
    with pytest.raises((sd.InputError, sd.InputTypeError), match=message):
        sd.barycenter(given.pop("X"), **given)


def test_what_does_not_fit_in_memory_is_refused_before_any_work(monkeypatch):
    module = sys.modules["sinkdist.means.reading"]
    X, ground = family(5, 9), points(9)
    monkeypatch.setattr(module, "_ALWAYS_FITS", 0)
    right = sd.barycenter(X, ground=ground, lam=2.0)
    assert right.shape == (9,)
    monkeypatch.setattr(module.memory, "read", lambda _: module.memory.held() + 100)
    with pytest.raises(sd.InputError, match=r"5 weighted histograms take .* take fewer histograms"):
        sd.barycenter(X, ground=ground, lam=2.0)
