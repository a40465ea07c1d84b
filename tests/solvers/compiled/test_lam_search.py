"""The search for lam: sweeps in one compiled loop, Newton's method where they are too slow."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled import lam_search, newton
from sinkdist.solvers.compiled.lam_search import Searches
from sinkdist.solvers.compiled.relaxation import CONVERGED
from tests.problems import sparse_histograms

ALPHA = 1.8  #: large enough for some pairs to need Newton's method


@pytest.fixture
def tile():
    """Costs, and pairs of histograms of which some have a search with slow sweeps."""
    rng = np.random.default_rng(0)
    bins = rng.uniform(size=(20, 2))
    M = np.hypot(*(bins[:, None] - bins).transpose(2, 0, 1))
    return M, sparse_histograms(1, 20, 4, density=0.9), sparse_histograms(12, 20, 5, density=0.9)


@pytest.fixture
def solves(monkeypatch):
    """The calls of Newton's method."""
    made, solve = [], newton.newton_pair

    def counted(*arguments):
        made.append(arguments)
        return solve(*arguments)

    monkeypatch.setattr(newton, "newton_pair", counted)
    return made


def searched(M, R, C, tol=1e-7, max_iter=10_000, alpha=ALPHA):
    searches = Searches(M, R, C, M.size, keep_potentials=True)
    searches.run(0, len(C), alpha, tol, max_iter, np.inf, Stop())
    return searches


def test_pairs_that_wait_for_newton_are_the_same_alone(tile, solves):
    M, R, C = tile
    found = searched(M, R, C).found
    assert (found[lam_search.FOUND_ACT] == CONVERGED).sum() > 6
    together = len(solves)
    assert together > 0  # in the middle of some searches
    for k in range(len(C)):
        np.testing.assert_array_equal(searched(M, R, C[[k]]).found[:, 0], found[:, k])
    assert len(solves) == 2 * together


def test_an_easy_search_needs_sweeps_only(tile, solves):
    found = searched(*tile, alpha=0.05).found
    assert (found[lam_search.FOUND_ACT] == CONVERGED).all() and not solves


def test_newton_goes_on_where_sweeps_have_come(tile, solves):
    """Its answer is a plan at the lam of the search, on the pair's own bins."""
    M, R, C = tile
    searched(M, R, C)
    K, _, _, _, r, c, u, v, *_ = solves[0]
    assert K.shape == (r.size, c.size) == (u.size, v.size)
    assert r.min() > 0 and c.min() > 0


def test_potentials_are_those_of_the_plan(tile):
    M, R, C = tile
    searches = searched(M, R, C, alpha=1.0)
    for k, c in enumerate(C):
        (rows,), (columns,) = np.nonzero(R[0]), np.nonzero(c)
        f, g = searches.F[k, rows], searches.G[k, columns]
        lam, value, error, *_ = searches.found[:, k]
        costs = M[np.ix_(rows, columns)]
        P = np.exp(lam * (f[:, None] + g - costs))
        assert (P * costs).sum() == pytest.approx(value, rel=1e-12)
        off = abs(P.sum(axis=1) - R[0, rows]).sum() + abs(P.sum(axis=0) - c[columns]).sum()
        assert off == pytest.approx(error, abs=1e-12)


def test_reads_are_limited(tile):
    M, R, C = tile
    found = searched(M, R, C, max_iter=30).found
    short = found[lam_search.FOUND_ACT] != CONVERGED
    assert short.any() and (found[lam_search.FOUND_READS][short] < 30 + 60).all()


def test_work_space_is_reused_on_a_thread(tile):
    assert searched(*tile).space[3] is searched(*tile).space[3]


def test_verbs_agree_where_newton_is_needed(tile):
    M, R, C = tile
    matrix = sd.pairwise(R, C, ground=M, alpha=ALPHA, tol=1e-7)
    for k, c in enumerate(C):
        assert matrix[0, k] == sd.distance(R[0], c, M, alpha=ALPHA, tol=1e-7)
