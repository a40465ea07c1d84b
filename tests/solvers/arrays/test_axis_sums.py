"""Sums along one axis in runs of any width, against sums of exponentials as they are written."""

import array_api_strict as xp
import numpy as np
import pytest
from scipy.special import logsumexp

from sinkdist.solvers.arrays.axis_sums import AxisSums, places

N, LINES = 11, 3
RNG = np.random.default_rng(0)


def problem(power, sharp):
    """Potentials of two pairs, with empty bins, and an empty line; exponents between pixels."""
    phi = RNG.normal(size=(2, LINES, N)) * 20
    phi[RNG.random(phi.shape) < 0.3] = -np.inf
    phi[1, 2] = -np.inf
    far = abs(np.subtract.outer(np.arange(N), np.arange(N))).astype(float)
    return phi, np.array(sharp)[:, None, None] * far**power


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("width", [1, 2, 4, 10, 11])
@pytest.mark.parametrize("sharp", [(1e-3, 0.02), (0.5, 3.0), (1e3, 4e6)])
def test_sums_and_means_are_those_of_all_terms(power, width, sharp):
    if max(sharp) * (width - 1) ** power > 500.0:
        return
    phi, costs = problem(power, sharp)
    axis, out = AxisSums.of(xp, xp.asarray(phi), xp.asarray(np.array(sharp)[:, None]), power, width)
    terms = phi[:, :, None, :] - costs[:, None]  # pairs, lines, targets, sources
    with np.errstate(invalid="ignore"):
        wanted = logsumexp(terms, axis=3)
        weights = np.exp(terms - wanted[..., None])
    weights[1, 2] = 0.0
    np.testing.assert_allclose(np.asarray(out), wanted.transpose(0, 2, 1), rtol=1e-13, atol=1e-12)
    values, masses = RNG.normal(size=(2, LINES, N)), RNG.random((2, N, LINES))
    means = np.einsum("plib,plb->pil", weights, values)
    np.testing.assert_allclose(np.asarray(axis.average(xp.asarray(values))), means, atol=1e-11)
    moved = np.einsum("plib,pil->plb", weights, masses)
    np.testing.assert_allclose(np.asarray(axis.spread(xp.asarray(masses))), moved, atol=1e-11)
    paid = np.einsum("plib,pib->pil", weights, costs)
    np.testing.assert_allclose(np.asarray(axis.exponents()), paid, rtol=1e-11, atol=1e-11)


def test_one_sharpness_for_all_pairs():
    phi, costs = problem(2, (0.3, 0.3))
    _, out = AxisSums.of(xp, xp.asarray(phi), xp.asarray([[0.3]]), 2, 5)
    wanted = logsumexp(phi[0, :, None, :] - costs[0], axis=2).T
    np.testing.assert_allclose(np.asarray(out)[0], wanted, rtol=1e-13)


def test_places():
    assert places(xp, xp.ones(1, dtype=xp.float32), 3).dtype == xp.float32
