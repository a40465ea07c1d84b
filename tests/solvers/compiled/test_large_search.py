"""The search for lam of a large pair, against the search that serves all others."""

import math

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solution.plans import entropic_plan
from sinkdist.solvers.compiled import large_search
from sinkdist.solvers.compiled.constrained import _constrain_one
from sinkdist.solvers.compiled.lam_policy import VACUOUS
from sinkdist.solvers.compiled.large_search import is_large, search_large
from sinkdist.solvers.compiled.relaxation import CONVERGED, RUNNING

D = 230  #: bins: a little above where large pairs begin


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(D, 8))
    M = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    M /= np.median(M)
    return M, rng.dirichlet(np.ones(D)), rng.dirichlet(np.ones(D))


def information(M, lam, f, g, r, c):
    P = entropic_plan(M, lam, f, g)
    return float((P * np.log(np.maximum(P, 1e-300) / np.outer(r, c))).sum()), P


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("alpha", [0.02, 0.5, 2.0, 3.5])
def test_as_the_other_search(pair, alpha, tol):
    M, r, c = pair
    assert is_large(M.size, 10_000)
    lam, value, error, reads, act, f, g = search_large(M, r, c, alpha, -np.inf, tol, 10_000, Stop())
    assert act == CONVERGED and error <= tol and reads > 0
    wanted = _constrain_one(M, r, c, alpha, -np.inf, 0.1 * tol, 10_000, Stop())
    assert value == pytest.approx(wanted[1], rel=2 * tol)
    spent, P = information(M, lam, f, g, r, c)
    assert spent <= alpha * (1.0 + 1e-6)
    assert np.abs(P.sum(axis=1) - r).sum() + np.abs(P.sum(axis=0) - c).sum() <= 2 * tol


def test_double_precision_takes_over_where_it_is_asked_for(pair, monkeypatch):
    calls, honest = [], large_search._go_on

    def counted(*arguments):
        calls.append(1)
        return honest(*arguments)

    monkeypatch.setattr(large_search, "_go_on", counted)
    search_large(*pair, 0.5, -np.inf, 1e-4, 10_000, Stop())
    assert not calls
    search_large(*pair, 0.5, -np.inf, 1e-8, 10_000, Stop())
    assert calls


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(1)
    M = np.abs(np.subtract.outer(*rng.uniform(size=(2, 800)))) + rng.uniform(size=(800, 800))
    r, c = rng.dirichlet(np.ones(800), 2)
    one, two = (search_large(M, r, c, 0.3, -np.inf, 1e-5, 10_000, Stop(), w) for w in (1, 2))
    assert one[:5] == two[:5]
    np.testing.assert_array_equal(one[5], two[5])


def test_too_few_reads_and_vacuous_constraints(pair):
    M, r, c = pair
    *_, reads, act, _, _ = search_large(M, r, c, 0.5, -np.inf, 1e-6, 12, Stop())
    assert act == RUNNING and reads >= 12
    entropy = -math.fsum(r * np.log(r))
    assert search_large(M, r, c, 1.1 * entropy, -np.inf, 1e-6, 100, Stop())[4] == VACUOUS


def test_one_pair_is_the_same_alone_in_a_family_and_in_a_search(pair):
    M, r, c = pair
    ground, rng = sd.Ground(M), np.random.default_rng(2)
    few = rng.dirichlet(np.ones(D), 3) * (np.arange(D) < 40)  # these are small pairs
    Y = np.vstack([c, few / few.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(D), 2)])
    alone = np.array([sd.distance(r, y, ground, alpha=1.0) for y in Y])
    np.testing.assert_array_equal(sd.distance(r, Y, ground, alpha=1.0), alone)
    np.testing.assert_array_equal(sd.pairwise(r[None], Y, ground=ground, alpha=1.0)[0], alone)
    found = sd.neighbors(r[None], Y, ground=ground, k=6, alpha=1.0)
    np.testing.assert_array_equal(found.distances[0], np.sort(alone))
