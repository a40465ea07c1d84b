"""`sinkdist.iterations_for`: its constants are the fit to figure 5, and the advice is good."""

from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from sinkdist import iterations_for
from sinkdist.api import advice
from sinkdist_paper import data, fig5
from sinkdist_paper.fig5 import measuring
from sinkdist_paper.results_csv import ResultsFile
from sinkdist_paper.samplers import random_metric, uniform_simplex

MEASUREMENTS = Path(__file__).parents[2] / "docs" / "paper" / "fig5" / "fig5.csv"
TWO = [[0.0, 2.0], [2.0, 0.0]]  # its median is 1


@pytest.fixture(scope="module")
def records():
    return ResultsFile(MEASUREMENTS, fig5.EXPERIMENT.keys).records()


def test_the_constants_are_the_fit(records):
    constants = (advice.AT_LEAST, advice.FACTOR, advice.POWER, advice.MEASURED_UP_TO)
    assert fig5.fit(records) == pytest.approx(constants, rel=1e-9)

    assert measuring.ADVISED_LAM == advice.MEASURED_UP_TO


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
