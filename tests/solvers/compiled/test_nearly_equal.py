"""Histograms that nearly agree, against a linear program on what they differ by and more."""

from fractions import Fraction

import numpy as np
import ot
import pytest
from scipy.spatial.distance import cdist

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.nearly_equal import nearly_equal_pair


def grid(n):
    Z = np.stack(np.meshgrid(np.arange(n), np.arange(n)), -1).reshape(-1, 2)
    return cdist(Z, Z)


def pair(d, noise, seed=0):
    rng = np.random.default_rng(seed)
    r = rng.dirichlet(np.ones(d)) * (rng.uniform(size=d) > 0.2)
    r /= r.sum()
    c = r * (1 + noise * rng.normal(size=d))
    return r, c / c.sum()


def truth(M, r, c, keep):
    """The distance by POT, with no more in common than ``keep`` in a bin, exactly subtracted."""
    r, c = ([Fraction(x) for x in row.tolist()] for row in (r, c))
    r, c = ([x / sum(row) for x in row] for row in (r, c))
    stay = [max(min(x, y) - Fraction(keep), Fraction(0)) for x, y in zip(r, c, strict=True)]
    left = [[x - s for x, s in zip(row, stay, strict=True)] for row in (r, c)]
    total = sum(left[0])
    a, b = (np.array([float(x / total) for x in row]) for row in left)
    return float(total) * ot.emd2(a / a.sum(), b / b.sum(), M)


COSTS = {
    "squares": grid(6) ** 2,
    "asymmetric": grid(6) + np.triu(np.random.default_rng(3).uniform(size=(36, 36)), 1),
    "bent": np.where(np.eye(36, dtype=bool), 0.0, 1.0 + 9.0 * (grid(6) > 1.5)),
}


@pytest.mark.parametrize("noise", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("name", COSTS)
def test_bounds_hold_the_distance_and_are_narrow(name, noise):
    M, (r, c) = COSTS[name], pair(36, noise)
    end = nearly_equal_pair(M, float(M.max()), r, c, Stop())
    expected = truth(M, r, c, 2.0 * end.value)  # the least cost of a move is 1
    assert end.value == pytest.approx(expected, rel=1e-9)
    assert end.lower <= expected * (1 + 1e-9) and expected * (1 - 1e-9) <= end.upper
    assert end.solved and end.plan.marginal_error(r, c) < 1e-14
    assert end.plan.mass @ M[end.plan.rows, end.plan.columns] == pytest.approx(expected, rel=1e-9)
    f, g = end.f[r > 0], end.g[c > 0]
    assert (f[:, None] + g <= M[np.ix_(r > 0, c > 0)] + 1e-13 * M.max()).all()


def test_mass_goes_through_bins_where_that_is_cheaper():
    """Under squared costs two steps of one are cheaper than one of two: nothing is cancelled."""
    M = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))) ** 2
    r = np.array([1 / 3 + 1e-9, 1 / 3, 1 / 3 - 1e-9])
    c = np.full(3, 1 / 3)
    end = nearly_equal_pair(M, 4.0, r, c, Stop())
    assert end.value == pytest.approx(2e-9, rel=1e-6)  # 4e-9 without


@pytest.mark.parametrize("costs", ["free", "stays cost", "rectangular"])
def test_where_it_is_of_no_use(costs):
    M, (r, c) = grid(6), pair(36, 1e-8)
    if costs == "free":
        M = np.zeros((36, 36))
    elif costs == "stays cost":
        M = M + np.eye(36)
    else:
        M, c = M[:, :-1], c[:-1] / c[:-1].sum()
    assert nearly_equal_pair(M, float(M.max()), r, c, Stop()) is None
    r, c = pair(36, 0.0, 1)[0], pair(36, 0.0, 2)[0]  # far apart
    assert nearly_equal_pair(grid(6), 8.0, r, c, Stop()) is None


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-12])
def test_verbs_call_them_solved(metric, noise):
    ground = sd.Ground.grid(18, 18, metric=metric)
    r, c = pair(324, noise)
    s = sd.solve(r, c, ground, lam=np.inf)
    low, high = s.emd_bounds
    assert s.converged and 0 < low <= s.value <= high <= low * (1 + 1e-8)
    assert sd.distance(r, c, ground, lam=np.inf) == pytest.approx(s.value, rel=1e-8)
    assert sd.pairwise([r], [c], ground=ground, lam=np.inf)[0, 0] == pytest.approx(
        s.value, rel=1e-8
    )
