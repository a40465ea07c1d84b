"""Products with the kernel, as logarithms: both ways agree, and reach beyond floats."""

import numpy as np
import pytest
from scipy.special import logsumexp

import sinkdist as sd
from sinkdist.kernels.log_sums import NONE
from sinkdist.means import smoothing
from sinkdist.means.smoothing import ByLogSums, ByProducts, smoothing_of

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


def test_bins_without_mass_are_left_out():
    occupied = np.zeros(9, bool)
    occupied[[0, 2, 3, 8]] = True
    L = np.where(occupied, V, NONE)
    trimmed, whole = (ByProducts(GROUND, 30.0, np.dtype(float), x) for x in (occupied, None))
    assert trimmed._part.shape == (6, 4) and whole._part.shape == (6, 9)
    np.testing.assert_allclose(trimmed.forward(L), whole.forward(L), 1e-12)
    np.testing.assert_allclose(trimmed.own(V), whole.forward(V), 1e-12)
    found, right = (x.backward(U, np.ones((4, 9))) for x in (trimmed, whole))
    np.testing.assert_allclose(found[:, occupied], right[:, occupied], 1e-12)
    assert (found[:, ~occupied] == 0.0).all()
    nearly = ByProducts(GROUND, 30.0, np.dtype(float), np.arange(9) > 0)
    assert nearly._part.shape == (6, 9)  # not worth a copy


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
