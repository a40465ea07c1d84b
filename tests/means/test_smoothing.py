"""Products with the kernel, as logarithms: both ways agree, and reach beyond floats."""

import numpy as np
import pytest
from scipy.special import logsumexp

import sinkdist as sd
from sinkdist.kernels.log_sums import NONE
from sinkdist.means import smoothing
from sinkdist.means.smoothing import ByLogSums, ByProducts, columns_of, smoothing_of

rng = np.random.default_rng(0)
GROUND = sd.Ground(rng.uniform(size=(6, 9)))
V, U = rng.normal(scale=20, size=(4, 9)), rng.normal(scale=20, size=(4, 6))
V[0, :5] = NONE


def by_definition(L, M, lam):
    return logsumexp(L[:, None, :] - lam * M, axis=2)


@pytest.mark.parametrize("lam", [0.1, 30.0, 590.0])
def test_both_ways_are_the_definition(lam):
    for found in (ByProducts(GROUND, lam, np.dtype(float)), ByLogSums(GROUND, lam)):
        np.testing.assert_allclose(found.forward(V), by_definition(V, GROUND.matrix, lam), 1e-12)
        np.testing.assert_allclose(
            found.backward(U, np.ones((4, 9))), by_definition(U, GROUND.matrix.T, lam), 1e-12
        )


def test_only_wanted_bins_are_computed_where_that_saves_time():
    wanted = (rng.random((4, 9)) < 0.5).astype(float)
    found = ByLogSums(GROUND, 30.0).backward(U, wanted)
    right = by_definition(U, GROUND.matrix.T, 30.0)
    np.testing.assert_allclose(found[wanted > 0], right[wanted > 0], 1e-12)
    assert (found[wanted == 0] == 0).all()


def test_costs_are_read_in_bands(monkeypatch):
    whole = ByLogSums(GROUND, 5.0).forward(V)
    monkeypatch.setattr(smoothing, "_BAND", 200)
    np.testing.assert_array_equal(ByLogSums(GROUND, 5.0).forward(V), whole)


@pytest.mark.parametrize("kind", [ByProducts, ByLogSums])
def test_bins_without_mass_are_left_out(kind):
    X = np.zeros((2, 9))
    X[0, [0, 2]] = X[1, [3, 8]] = 0.5
    columns = columns_of(GROUND, 30.0, X)
    assert columns.tolist() == [0, 2, 3, 8]
    rest = (np.dtype(float),) if kind is ByProducts else ()
    trimmed, whole = kind(GROUND, 30.0, *rest, columns), kind(GROUND, 30.0, *rest)
    L = np.where(X.any(axis=0), V, NONE)
    np.testing.assert_allclose(trimmed.forward(L[:, columns].copy()), whole.forward(L), 1e-12)
    np.testing.assert_allclose(trimmed.own(V), whole.forward(V), 1e-12)
    found = trimmed.backward(U, np.ones((4, 4)))
    np.testing.assert_allclose(found, whole.backward(U, np.ones((4, 9)))[:, columns], 1e-12)


def test_nearly_all_bins_are_not_worth_a_copy():
    assert columns_of(GROUND, 30.0, np.arange(9.0)[None]) is None


@pytest.mark.parametrize(
    ("dtype", "lam", "kind", "used"),
    [
        ("float32", 10.0, ByProducts, "float32"),
        ("float32", 200.0, ByProducts, "float64"),
        ("float64", 500.0, ByProducts, "float64"),
        ("float32", 5000.0, ByLogSums, "float64"),
        ("float64", 5000.0, ByLogSums, "float64"),
    ],
)
def test_the_way_is_chosen_by_what_floats_hold(dtype, lam, kind, used):
    found = smoothing_of(GROUND, lam, np.dtype(dtype))
    assert isinstance(found, kind) and found.dtype == np.dtype(used)
