"""Bounds hold where masses differ by many orders of magnitude: judged by rational arithmetic."""

import numpy as np
import pytest

import sinkdist as sd
from tests.oracles.exact import normalised
from tests.oracles.linear_program import emd

#: A row of 1e-28 cannot give the 2e-16 that floats, which end at 2^-52 of the total, want of it.
RECTANGULAR = (
    np.array([[8e58, 1e52, 3e-58], [1e-27, 3e40, 3e44]]),
    np.array([1.0, 1e-28]),
    np.array([1.9999999999999995e-16, 0.5999999999999999, 0.3999999999999999]),
)
#: Almost all is in one bin, whose share differs only because the others make the totals differ.
NEARLY_EQUAL = (
    np.array(
        [[0.0, 4.0, 3.0, 3.0], [4.0, 0.0, 2.0, 3.0], [3.0, 2.0, 0.0, 2.0], [3.0, 3.0, 2.0, 0]]
    ),
    np.array([1.0, 8.696051966522099e-29, 1.7675259419116052e-18, 1.2584611694735988e-195]),
    np.array([1.0, 8.696e-29, 1.768e-18, 1.258e-195]),
)
#: What moves, 2.5e-20, is known to the last digits of itself, not of the sums, which differ by it.
MOVES_LITTLE = (
    np.array(
        [
            [0.0, 1.1009750483458753, 1.0244387691145744, 1.0728480851171054],
            [1.1009750483458753, 0.0, 0.6813374154189032, 0.44241679996406497],
            [1.0244387691145744, 0.6813374154189032, 0.0, 1.0591793220984147],
            [1.0728480851171054, 0.44241679996406497, 1.0591793220984147, 0.0],
        ]
    ),
    np.array([8.00615529818424e-14, 0.9999999999999198, 9.31645433903393e-59, 1.9475106253004e-38]),
    np.array([8.00615783438779e-14, 0.9999999999999198, 9.31661648994693e-59, 1.9475122671673e-38]),
)


def exact_distance(r, c, M):
    return float(emd(normalised(r), normalised(c), M))


@pytest.mark.parametrize(
    "problem",
    [RECTANGULAR, NEARLY_EQUAL, MOVES_LITTLE],
    ids=["rectangular", "nearly equal", "moves little"],
)
def test_bounds_hold_the_exact_distance(problem):
    M, r, c = problem
    s = sd.solve(r, c, M, lam=np.inf)
    low, high = s.emd_bounds
    truth = exact_distance(r, c, M)
    assert low <= truth <= high and high - low <= 1e-9 * high
    assert sd.distance(r, c, M, lam=np.inf) == pytest.approx(truth, rel=1e-9)
    assert sd.pairwise([r], [c], ground=M, lam=np.inf)[0, 0] == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_for_masses_and_costs_of_any_size(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 5, 2)
    M = 10.0 ** rng.uniform(-30, 30, (m, n))
    r, c = 10.0 ** rng.uniform(-20, 0, m), 10.0 ** rng.uniform(-20, 0, n)
    r, c = r / r.sum(), c / c.sum()
    low, high = sd.solve(r, c, M, lam=np.inf).emd_bounds
    assert low <= exact_distance(r, c, M) * (1 + 1e-15)
    assert high >= exact_distance(r, c, M) * (1 - 1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_for_histograms_that_nearly_agree_under_a_metric(seed):
    rng = np.random.default_rng(seed)
    m = rng.integers(2, 6)
    Z = rng.normal(size=(m, 2))
    M = np.hypot(*(Z[:, None] - Z).transpose(2, 0, 1))
    r = 10.0 ** rng.uniform(-30, 0, m)
    c = r * (1.0 + 10.0 ** rng.uniform(-16, -3) * rng.normal(size=m))
    r, c = r / r.sum(), c / c.sum()
    low, high = sd.solve(r, c, M, lam=np.inf).emd_bounds
    assert low <= exact_distance(r, c, M) * (1 + 1e-15)
    assert high >= exact_distance(r, c, M) * (1 - 1e-15)
