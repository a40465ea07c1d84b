"""What a query learns, and that a bound that is too large would be noticed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.search import relaxed, transforms

RNG = np.random.default_rng(3)
GROUND = sd.Ground.points(RNG.random((60, 4)))


def documents(n):
    X = RNG.dirichlet(np.full(60, 0.1), n) * (RNG.random((n, 60)) < 0.1)
    X[X.sum(axis=1) == 0.0, 5] = 1.0
    return csr_array(X / X.sum(axis=1, keepdims=True))


X, Y = documents(5), documents(400)


@pytest.mark.parametrize("k", [1, 10, 120])
@pytest.mark.parametrize("member", [{"lam": np.inf}, {"lam": 20.0}])
def test_documents_equal_brute_force(k, member):
    found = sd.neighbors(X, Y, ground=GROUND, k=k, **member)
    assert found.bounds == ("relaxed transport", "two transforms", "planes")
    D = np.sort(sd.pairwise(X, Y, ground=GROUND, **member), axis=1)[:, :k]
    np.testing.assert_allclose(found.distances, D, rtol=1e-6, atol=1e-9)
    assert (found.solved < 400).all()


def test_within_a_radius():
    D = sd.pairwise(X, Y, ground=GROUND, lam=np.inf)
    radius = float(np.quantile(D, 0.03))
    found = sd.Index(Y, GROUND, lam=np.inf).radius(X, radius)
    np.testing.assert_array_equal((found.indices >= 0).sum(axis=1), (radius >= D).sum(axis=1))


@pytest.mark.parametrize(
    "where",
    [
        (relaxed, "Relaxed", "bounds"),
        (transforms, "Transforms", "begin"),
        (transforms, "Transforms", "raise_bounds"),
    ],
)
def test_a_bound_that_is_too_large_changes_the_answer(where, monkeypatch):
    honest = sd.neighbors(X, Y, ground=GROUND, k=10, lam=np.inf)
    module, kind, name = where
    good = getattr(getattr(module, kind), name)

    def boastful(self, *arguments):
        found = good(self, *arguments)
        if found is not None:
            return 3.0 * found
        arguments[0].bound[:] *= 3.0
        return None

    monkeypatch.setattr(getattr(module, kind), name, boastful)
    other = sd.neighbors(X, Y, ground=GROUND, k=10, lam=np.inf)
    assert (other.indices != honest.indices).any()
