"""Half sweeps of barycentres as logarithms, against their twins."""

import numpy as np
import pytest

from sinkdist.kernels.log_scalings import column_errors, move_columns, move_rows
from sinkdist.kernels.log_sums import NONE
from tests.kernels.comparison import twin


@pytest.fixture(params=["float32", "float64"])
def state(request):
    """Pairs of two barycentres and three histograms, some bins without mass."""
    rng, dtype = np.random.default_rng(0), request.param
    B = rng.dirichlet(np.ones(6), 3)
    B[0, 2] = B[2, 4:] = 0.0
    B = (B / B.sum(axis=1, keepdims=True)).astype(dtype)
    with np.errstate(divide="ignore"):
        log_B = np.maximum(np.log(B), NONE).astype(dtype)
    histogram = np.array([2, 0, 1, 2])
    logs, sums = rng.normal(scale=5.0, size=(2, 4, 6)).astype(dtype)
    return B, log_B, histogram, logs, sums


def close(found, wanted):
    rtol = 1e-12 if found.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def test_columns_move_where_there_is_mass(xp, state):
    B, log_B, histogram, log_v, sums = state
    omega = np.array([1.0, 1.5, 1.9, 0.5])
    wanted = twin(xp, "move_columns", log_v, sums, B, log_B, histogram, omega)
    move_columns(log_v, sums, B, log_B, histogram, omega)
    close(log_v, wanted)
    assert (log_v[B[histogram] == 0] == NONE).all()


def test_errors_count_bins_with_mass(xp, state):
    B, _, histogram, log_v, sums = state
    found = np.empty(4)
    column_errors(sums, log_v, B, histogram, found)
    wanted = twin(xp, "column_errors", sums, log_v, B, histogram)
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if B.dtype == np.float64 else 1e-5)


def test_rows_move_in_their_differences_from_the_mean(xp, state):
    _, _, _, log_u, row_log = state
    rng = np.random.default_rng(1)
    mean, old, new = rng.normal(size=(3, 2, 6)).astype(log_u.dtype)
    owner, omega = np.array([0, 0, 1, 1]), np.array([1.0, 1.7])
    wanted = twin(xp, "move_rows", log_u, row_log, mean, old, new, owner, omega)
    move_rows(log_u, row_log, mean, old, new, owner, omega)
    close(log_u, wanted)
    close(log_u[:2], new[0] + (mean[0] - row_log[:2]))  # a plain sweep forgets where it was
