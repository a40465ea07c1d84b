"""From a call to a request: what is one barycentre, and what is too much for memory."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.means import reading
from sinkdist.means.reading import read_request
from sinkdist.problem.options import Options

GROUND, X = sd.Ground.grid(4), np.full((3, 4), 0.25)


@pytest.mark.parametrize(("weights", "one", "m"), [(None, True, 1), (np.eye(3), False, 3)])
def test_weights_say_how_many(weights, one, m):
    request, is_one = read_request(X, GROUND, weights, Options(lam=2.0, debiased=True), True)
    assert is_one is one and request.weights.shape == (m, 3)
    assert request.need_objective and request.lam == 2.0 and not request.keep


def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "_ALWAYS_FITS", 0)
    monkeypatch.setattr(reading.memory, "read", lambda asked: 10)
    with pytest.raises(ValueError, match="take fewer histograms at a time"):
        read_request(X, GROUND, None, Options(lam=2.0, debiased=True), False)
