"""Large lam, begun at the exact distance: the plan of a ladder, and pairs that are left to it."""

import numpy as np
import pytest

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solvers.compiled import from_exact as module
from sinkdist.solvers.compiled import ladder
from sinkdist.solvers.compiled.from_exact import from_exact, is_nearly_exact
from sinkdist.solvers.compiled.relaxation import CONVERGED
from tests.problems import grid_costs
from tests.small_pairs import highs, off, small_pair

TOL = 1e-9


@pytest.fixture(autouse=True)
def small_pairs_too(monkeypatch):
    """Pairs of tests are small, and most of their entries matter."""
    monkeypatch.setattr(module, "LEAST", 0)
    monkeypatch.setattr(module, "DENSITY", 1.0)


def begun(p, tol=TOL, max_iter=10_000):
    return from_exact(p.M, p.lam, p.r, p.c, tol, max_iter, Stop())


def plan(found, p):
    return found.plan.dense(p.M, p.lam)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (5, 9), (9, 5), (30, 40)], ids=str)
@pytest.mark.parametrize("lam", [30.0, 300.0, 1e4])
def test_the_plan_is_that_of_a_ladder(shape, lam, monkeypatch):
    p = small_pair(*shape, 3, lam=lam)
    found, reads = begun(p)
    assert found.error <= TOL and 0 < reads < 60
    P = plan(found, p)
    assert off(P, p.r, p.c) == pytest.approx(found.error, abs=1e-13)
    assert found.value == pytest.approx((P * p.M).sum(), rel=1e-12)
    monkeypatch.setattr(ladder, "is_nearly_exact", lambda *_: False)
    climbed = ladder.climb(p.M, lam, p.r, p.c, TOL, 10_000, Stop())
    assert climbed.act == CONVERGED
    assert found.value == pytest.approx(climbed.value, abs=1e-8)


def test_the_plan_by_plain_loops():
    p = small_pair(8, 6, 1, lam=40.0)
    P, value, *_ = p.truth
    found, _ = begun(p, tol=1e-11)
    np.testing.assert_allclose(plan(found, p), P, atol=1e-9)
    assert found.value == pytest.approx(value, abs=1e-9)


def test_near_the_exact_distance_and_never_below_it():
    p = small_pair(12, 12, 5, lam=2e4)
    found, _ = begun(p)
    exact = highs(p.M, p.r, p.c)
    assert exact - 1e-9 <= found.value <= exact + np.log(12) / p.lam + 1e-9


def with_ties(seed):
    """A grid, on which many moves cost the same, and masses of very different size."""
    rng = np.random.default_rng(seed)
    M = grid_costs(5, 5)
    r, c = rng.dirichlet(np.full(25, 0.2), size=2) + 1e-12
    p = small_pair(25, 25, seed, lam=40.0)
    return type(p)(M, r / r.sum(), c / c.sum(), p.lam)


@pytest.mark.parametrize("seed", range(5))
def test_ties_and_tiny_masses(seed):
    p = with_ties(seed)
    end = ladder.climb(p.M, p.lam, p.r, p.c, TOL, 10_000, Stop())
    assert end.act == CONVERGED and end.error <= TOL
    assert end.value >= highs(p.M, p.r, p.c) - 1e-8


def test_a_cut_that_leaves_too_much_out_is_noticed_and_mended(monkeypatch):
    """The error that decides is that of the plan on all entries."""
    p = small_pair(40, 40, 2, lam=60.0)
    cuts = []
    entries = module.near_entries

    def noted(*arguments):
        cuts.append(entries(*arguments))
        return cuts[-1]

    monkeypatch.setattr(module, "near_entries", noted)
    whole, _ = begun(p)
    assert len(cuts) == 1
    monkeypatch.setattr(module, "DEPTH", -12.0)
    again = begun(p)
    assert len(cuts) > 2 and cuts[1] < cuts[0]
    if again is not None:  # else the ladder is asked
        assert again[0].error <= TOL
        assert again[0].value == pytest.approx(whole.value, abs=1e-8)


def test_pairs_on_which_most_entries_matter_are_left_to_the_ladder(monkeypatch):
    monkeypatch.setattr(module, "DENSITY", 0.12)
    p = small_pair(60, 60, 0, lam=20.0)
    assert begun(p) is None
    end = ladder.climb(p.M, p.lam, p.r, p.c, TOL, 10_000, Stop())
    assert end.act == CONVERGED


def test_when_it_is_tried(monkeypatch):
    monkeypatch.undo()
    assert is_nearly_exact(200.0, 256 * 256, 1000)
    assert not is_nearly_exact(50.0, 256 * 256, 1000)
    assert not is_nearly_exact(200.0, 64 * 64, 1000)  # small pairs climb
    assert not is_nearly_exact(200.0, 256 * 256, 20)  # a few reads are allowed
    assert not is_nearly_exact(1e9, 10_000 * 10_000, 1000)


def test_reads_are_bounded():
    p = small_pair(30, 30, 3, lam=200.0)
    assert begun(p, max_iter=6) is None


def test_nobody_waits():
    p, stop = small_pair(9, 9, 0, lam=1e3), Stop()
    stop.set()
    with pytest.raises(Abandoned):
        from_exact(p.M, p.lam, p.r, p.c, TOL, 1000, stop)
