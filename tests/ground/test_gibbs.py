"""The Gibbs operator: right in both precisions, built once, whoever asks first."""

import threading

import numpy as np
import pytest

from sinkdist.ground.gibbs import Gibbs
from tests.waiting import LONG


def gibbs(shape=(6, 5), lam=3.0, dtype=np.float64):
    M = np.random.default_rng(0).random(shape)
    return Gibbs(M, lam, np.dtype(dtype), float(M.max()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(6, 5), (700, 300)])
def test_the_kernel_and_its_product_with_costs(shape, dtype):
    """The larger one is filled in bands of rows."""
    G = gibbs(shape, dtype=dtype)
    exponent = G.lam * G.matrix
    rtol = 1e-15 if dtype is np.float64 else 2e-7
    assert G.kernel.dtype == G.kernel_cost.dtype == dtype
    np.testing.assert_allclose(G.kernel, np.exp(-exponent), rtol=rtol)
    np.testing.assert_allclose(G.kernel_cost, exponent * np.exp(-exponent), rtol=rtol)
    assert G.kernel is G.kernel and G.kernel_cost is G.kernel_cost


@pytest.mark.parametrize(("dtype", "exponent"), [(np.float64, 600.0), (np.float32, 80.0)])
def test_where_it_fits(dtype, exponent):
    M = np.array([[0.0, 2.0]])
    assert Gibbs(M, exponent / 2, np.dtype(dtype), 2.0).fits
    assert not Gibbs(M, exponent / 2 * 1.01, np.dtype(dtype), 2.0).fits
    K = Gibbs(M, exponent / 2, np.dtype(dtype), 2.0).kernel
    assert (np.finfo(dtype).smallest_normal <= K).all()


def test_bands_cover_every_row_once():
    G = gibbs((700, 300))
    seen = np.zeros(700, int)

    def run(bands, fill):
        for rows in reversed(bands):
            seen[rows] += 1
            fill(rows)

    np.testing.assert_allclose(G.build(run), np.exp(-G.lam * G.matrix), rtol=1e-15)
    assert (seen == 1).all()


def test_it_is_built_once_by_however_many_threads():
    G, barrier, built, found = gibbs((700, 300)), threading.Barrier(4, timeout=LONG), [], []

    def run(bands, fill):
        built.append(threading.get_ident())
        for rows in bands:
            fill(rows)

    def ask():
        barrier.wait()
        found.append(G.build(run))

    crew = [threading.Thread(target=ask) for _ in range(4)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join(LONG)
    assert len(built) == 1 and len({id(K) for K in found}) == 1 and len(found) == 4
