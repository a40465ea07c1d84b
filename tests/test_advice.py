"""`iterations_for`: the advice is what the measurements say, and it is good."""

from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.api import advice
from sinkdist.api.advice import iterations_for
from sinkdist.errors import InputError, InputTypeError
from sinkdist.paper import data, fig5
from sinkdist.paper.results_csv import Ledger
from sinkdist.paper.samplers import random_metric, uniform_simplex

MEASUREMENTS = Path(__file__).parents[1] / "docs" / "paper" / "fig5" / "fig5.csv"
TWO = [[0.0, 2.0], [2.0, 0.0]]  # its median is 1


@pytest.fixture(scope="module")
def records():
    return Ledger(MEASUREMENTS, fig5.EXPERIMENT.keys).records()


def test_the_constants_are_the_fit(records):
    constants = (advice.AT_LEAST, advice.FACTOR, advice.POWER, advice.MEASURED_UP_TO)
    assert fig5.fit(records) == pytest.approx(constants, rel=1e-9)


def test_the_measurements_were_made_with_the_constants(records):
    for record in records:
        assert record["advised"] == iterations_for(record["lam"], TWO)


def test_nineteen_pairs_in_twenty_are_at_rest(records):
    for lam in (1, 5, 9, 15, 25):
        counts = [r["iterations"] for r in records if r["on"] == "simplex" and r["lam"] == lam]
        assert len(counts) >= 250
        assert np.mean(np.array(counts) <= iterations_for(lam, TWO)) >= 0.95


@pytest.mark.parametrize("lam", [1, 5, 9, 15])
def test_distances_are_close_to_their_limits(lam):
    rng = np.random.default_rng((lam, 99))  # none of the pairs that were measured
    images = data.load("digits", 80, seed=5)
    problems = [
        (sd.Ground(random_metric(d, rng)), uniform_simplex(30, d, rng), uniform_simplex(30, d, rng))
        for d in (50, 200)
    ] + [(images.ground.scaled(), images.histograms[:40], images.histograms[40:])]
    for ground, R, C in problems:
        R, C = (X.astype(float) / X.sum(axis=1, dtype=float, keepdims=True) for X in (R, C))
        limit = sd.distance(R, C, ground, lam=lam, tol=1e-9)
        fixed = sd.distance(R, C, ground, lam=lam, iterations=iterations_for(lam, ground))
        assert np.quantile(np.abs(fixed / limit - 1), 0.95) < 0.01


def test_a_larger_lam_takes_more():
    numbers = [iterations_for(lam, TWO) for lam in (1e-9, 0.1, 1, 3, 5, 9, 11, 15, 25, 50, 100)]
    assert numbers == sorted(numbers) and numbers[0] >= 1
    assert all(type(number) is int for number in numbers)


def test_the_unit_of_cost_does_not_matter():
    ground = sd.Ground.grid(20, 20)
    assert iterations_for(9 / ground.median, ground) == iterations_for(9, ground.scaled())
    assert (
        iterations_for(3, TWO)
        == iterations_for(3.0, np.array(TWO))
        == iterations_for(3, sd.Ground(TWO))
    )
    assert iterations_for(np.float32(3), TWO) == iterations_for(3, TWO)


@pytest.mark.parametrize("lam", [0, -1.0, np.inf, np.nan])
def test_there_must_be_something_to_iterate(lam):
    with pytest.raises(InputError, match="'lam' must be positive and finite"):
        iterations_for(lam, TWO)


@pytest.mark.parametrize("lam", ["9", None, [9.0], True, 1j])
def test_lam_is_one_number(lam):
    with pytest.raises(InputTypeError, match="'lam' must be one real number"):
        iterations_for(lam, TWO)


def test_there_is_an_end_to_counting():
    for lam in (1e200, 1e308):
        with pytest.raises(InputError, match="more iterations than can be counted"):
            iterations_for(lam, np.multiply(TWO, 10.0))


def test_a_ground_without_unit():
    with pytest.raises(InputError, match="median of the ground matrix is 0"):
        iterations_for(9, np.eye(4))
    with pytest.raises(InputError, match="must be 2-dimensional"):
        iterations_for(9, [1.0, 2.0])
