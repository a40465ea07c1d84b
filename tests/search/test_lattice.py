"""Grids are found in costs, and weights of directions are valid for every displacement."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.search.lattice import Lattice, find_lattice, largest_weight, weights_for


@pytest.mark.parametrize("shape", [(2, 2), (4, 5), (20, 20), (2, 3, 4)])
@pytest.mark.parametrize("norm", ["euclidean", "cityblock"])
def test_grids_are_found_in_their_costs(shape, norm):
    ground = sd.Ground.grid(*shape, metric=norm).scaled(0.37)
    found = find_lattice(sd.Ground(ground.matrix))
    assert found is not None and found.shape == shape
    assert found.norm == norm
    assert found.step == pytest.approx(1 / 0.37, rel=1e-11) and found.step < 1 / 0.37


def test_other_costs_are_no_grids():
    rng = np.random.default_rng(0)
    points = sd.Ground.points(rng.random((12, 2)))
    bent = sd.Ground.grid(3, 4).matrix.copy()
    bent[7, 2] *= 1.0 - 1e-9  # one cost below that of the grid
    others = [sd.Ground.grid(3, 4, metric="sqeuclidean"), sd.Ground.grid(12)]
    others += [sd.Ground(rng.random((12, 13))), sd.Ground([[0, 1], [1, 0]])]
    for ground in (points, sd.Ground(bent), *others):
        assert find_lattice(ground) is None


@pytest.mark.parametrize("shape", [(5, 5), (3, 3, 3)])
def test_weights_are_valid_for_every_displacement(shape):
    rng = np.random.default_rng(1)
    lattice = Lattice(shape, 1.0, "euclidean")
    weights = weights_for(
        lattice.directions, lattice.norm, rng.random((6, len(lattice.directions)))
    )
    z = rng.normal(size=(20_000, len(shape)))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    sums = weights @ np.abs(z @ lattice.directions.T).T
    assert (weights >= 0.0).all() and (sums <= 1.0).all()
    assert sums.max() > 0.999


def test_the_largest_weight_is_reached():
    axes = np.eye(2, dtype=int)
    assert largest_weight(np.ones(2), axes, "euclidean") == pytest.approx(2**0.5)
    assert largest_weight(np.ones(2), axes, "cityblock") == pytest.approx(1.0)
