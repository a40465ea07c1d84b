"""Products with the kernel in the log domain, against the twin and against many digits."""

import mpmath
import numpy as np
import pytest

from sinkdist.kernels.log_sums import NONE, log_sums
from tests.kernels.comparison import twin


def problem(seed, lam, p=4, bins=5, columns=7):
    rng = np.random.default_rng(seed)
    C, L = rng.uniform(size=(bins, columns)), rng.normal(scale=3.0, size=(p, columns))
    L[rng.random(L.shape) < 0.3] = NONE
    wanted = (rng.random((p, bins)) < 0.7).astype(float)
    return C, lam, L, wanted


@pytest.mark.parametrize("lam", [1e-3, 5.0, 3e3])
def test_twin(xp, lam):
    C, lam, L, wanted = problem(0, lam)
    out = np.zeros(wanted.shape)
    log_sums(C, lam, L, wanted, out)
    expected = twin(xp, "log_sums", C, lam, L, wanted)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("lam", [2.0, 1e6])
def test_many_digits(lam):
    C, lam, L, wanted = problem(1, lam)
    out = np.full(wanted.shape, -5.0)
    log_sums(C, lam, L, wanted, out)
    for p, i in np.ndindex(*out.shape):
        if not wanted[p, i]:
            assert out[p, i] == -5.0  # left alone
            continue
        terms = [
            mpmath.exp(mpmath.mpf(x) - mpmath.mpf(lam) * mpmath.mpf(c))
            for x, c in zip(L[p].tolist(), C[i].tolist(), strict=True)
            if x > NONE
        ]
        assert out[p, i] == pytest.approx(float(mpmath.log(mpmath.fsum(terms))), rel=1e-14)


def test_a_row_without_mass():
    out = np.zeros((1, 2))
    log_sums(np.ones((2, 3)), 1.0, np.full((1, 3), NONE), np.ones((1, 2)), out)
    assert (out == NONE).all()
