"""Searches on real data: the neighbours that all pairs give, with few of the pairs solved."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from tests.problems import mnist_20

pytestmark = [pytest.mark.slow, pytest.mark.data]


def agree(found, D, tol):
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :10], rtol=tol)
    np.testing.assert_allclose(np.take_along_axis(D, found.indices, 1), found.distances, rtol=tol)
    assert found.proven.all()


@pytest.mark.parametrize(
    ("member", "tol", "most"),
    [({"lam": np.inf}, 1e-12, 200), ({"alpha": 1.0}, 3e-6, 200), ({"lam": 0.87}, 3e-6, 10_000)],
)
def test_digits(data_folder, member, tol, most):
    X, ground = mnist_20(data_folder, 10_003), sd.Ground.grid(20, 20)
    found = sd.neighbors(X[:3], X[3:], ground=ground, **member)
    assert found.bounds == ("projections", "planes") and (found.solved <= most).all()
    agree(found, sd.pairwise(X[:3], X[3:], ground=ground, **member), tol)


def test_documents(data_folder):
    with np.load(data_folder / "text" / "r8_bow_glove100.npz") as held:
        parts, shape = (held["data"], held["indices"], held["indptr"]), tuple(held["shape"])
        rows, ground = csr_array(parts, shape=shape), sd.Ground.points(held["embeddings"])
    queries = rows[[5, 700, 3000, 7000]]
    found = sd.neighbors(queries, rows, ground=ground, lam=np.inf, normalize=True)
    assert found.bounds == ("relaxed transport", "two transforms", "planes")
    assert (found.solved < 400).all()
    D = sd.pairwise(queries, rows, ground=ground, lam=np.inf, normalize=True)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :10], rtol=1e-12, atol=1e-12)
