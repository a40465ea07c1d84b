"""One pair along many values of lam: the same as separate solves, and cheaper."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.status import Status
from tests.problems import (
    digits,
    emd,
    grid_costs,
    plan_error,
    random_metric,
    simplex,
    sparse_histograms,
)

PAIRS = {
    "random metric": (random_metric(40, 0), *simplex(2, 40, 1)),
    "zero bins": (grid_costs(6, 6), *sparse_histograms(2, 36, 2)),
    "squares": (grid_costs(5, 5) ** 2, *simplex(2, 25, 3)),
    "rectangular": (
        np.random.default_rng(4).random((9, 14)),
        simplex(1, 9, 5)[0],
        simplex(1, 14, 6)[0],
    ),
    "digits": (grid_costs(8, 8), *digits(2)),
    "the same twice": (grid_costs(4, 4), *np.repeat(simplex(1, 16, 7), 2, axis=0)),
}
LADDER = [0.1, 1, 3, 5, 7, 9, 20, 50, 200, 1000]


@pytest.mark.parametrize("name", PAIRS)
def test_each_is_what_a_separate_solve_gives(name):
    M, r, c = PAIRS[name]
    lams = np.array(LADDER) / np.median(M)
    solutions = sd.path(r, c, M, lams, tol=1e-9)
    assert len(solutions) == len(lams)
    for lam, s in zip(lams, solutions, strict=True):
        alone = sd.solve(r, c, M, lam=lam, tol=1e-9)
        assert s.status is Status.CONVERGED and s.lam == lam
        assert s.marginal_error <= 1e-9
        assert plan_error(s, r, c) == pytest.approx(s.marginal_error, abs=1e-9)
        assert s.value == pytest.approx(alone.value, rel=1e-7, abs=1e-9 * M.max())
        assert s.entropy == pytest.approx(alone.entropy, rel=1e-6)
        assert s.objective == pytest.approx(alone.objective, rel=1e-7, abs=1e-9 * M.max())
        np.testing.assert_allclose(s.plan, alone.plan, atol=1e-6)
        assert np.isneginf(s.potentials[0][r == 0]).all()
        lower, upper = s.emd_bounds
        assert lower - 1e-12 <= emd(r, c, M) <= upper + 1e-12


@pytest.mark.parametrize("name", PAIRS)
def test_the_gap_to_the_exact_distance_closes(name):
    M, r, c = PAIRS[name]
    solutions = sd.path(r, c, M, np.array(LADDER) / np.median(M))
    gaps = [s.value - emd(r, c, M) for s in solutions]
    assert (np.diff(gaps) <= 1e-6 * M.max()).all() and gaps[0] > 10 * abs(gaps[-1])
    assert gaps[-1] >= -1e-6 * M.max()


def test_solutions_come_in_the_order_that_was_asked_for():
    M, r, c = PAIRS["random metric"]
    lams = [9, 1, 50, 1, 3]
    solutions = sd.path(r, c, M, lams, tol=1e-9)
    assert [s.lam for s in solutions] == lams
    rising = {s.lam: s.value for s in sd.path(r, c, M, sorted(set(lams)), tol=1e-9)}
    for s in solutions:
        assert s.value == pytest.approx(rising[s.lam], rel=1e-7)
    assert solutions[1].value == pytest.approx(solutions[3].value, rel=1e-9)


@pytest.mark.parametrize("lams", [[], np.array([]), (), [5], (5,), np.array([5, 6]), range(1, 4)])
def test_any_list_of_numbers(lams):
    M, r, c = PAIRS["squares"]
    assert [s.lam for s in sd.path(r, c, M, lams)] == list(lams)


def test_a_wide_ladder_and_a_narrow_one():
    M, r, c = PAIRS["random metric"]
    for lams in ([1e-3, 1e4], [5, 5.0001, 5.0002], [5, 5, 5], [1e-6, 1e-3, 1, 1e3]):
        for lam, s in zip(lams, sd.path(r, c, M, lams, tol=1e-8), strict=True):
            assert s.converged
            assert s.value == pytest.approx(sd.distance(r, c, M, lam=lam, tol=1e-9), rel=1e-6)


@pytest.mark.parametrize("name", ["random metric", "digits"])
def test_it_costs_less_than_separate_solves(name):
    """Counted in reads of the kernel; time is measured in the benchmarks."""
    M, r, c = PAIRS[name]
    lams = np.geomspace(1, 100, 10) / np.median(M)
    along = sum(s.n_iter for s in sd.path(r, c, M, lams))
    apart = sum(sd.solve(r, c, M, lam=lam, solver="newton").n_iter for lam in lams)
    assert along < 0.75 * apart


def test_diracs_and_one_bin():
    M = grid_costs(3, 3)
    for s in sd.path(np.eye(9)[0], np.eye(9)[8], M, [0.1, 10, 1000]):
        assert s.value == pytest.approx(M[0, 8]) and s.converged
    assert [s.value for s in sd.path([1.0], [1.0], [[0.5]], [1, 2])] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("lams", "error"),
    [
        ([0, 1], ValueError),
        ([-1, 1], ValueError),
        ([1, float("inf")], ValueError),
        ([1, float("nan")], ValueError),
        (5.0, ValueError),
        ([[1, 2]], ValueError),
        (None, TypeError),
        ("12", TypeError),
        ([1j], TypeError),
        (["1"], TypeError),
    ],
)
def test_bad_ladders(lams, error):
    M, r, c = PAIRS["squares"]
    with pytest.raises(error, match="'lams'"):
        sd.path(r, c, M, lams)


def test_bad_histograms_and_options():
    M, r, c = PAIRS["squares"]
    with pytest.raises(sd.InputError, match=r"'r' must be one histogram. Got a family of 2"):
        sd.path(np.array([r, r]), c, M, [1])
    with pytest.raises(sd.InputError, match=r"'c' must be one histogram. Got a family of 1"):
        sd.path(r, c[None], M, [1])
    with pytest.raises(sd.InputError, match="'c' has no mass"):
        sd.path(r, 0 * c, M, [1])
    with pytest.raises(sd.InputError, match="'r' sums to 2"):
        sd.path(2 * r, c, M, [1])
    with pytest.raises(sd.InputError, match="'tol' option"):
        sd.path(r, c, M, [1], tol=0)
    with pytest.raises(sd.InputError, match="'max_iter' option"):
        sd.path(r, c, M, [1], max_iter=0)


def test_normalize():
    M, r, c = PAIRS["squares"]
    (s,) = sd.path(3 * r, 5 * c, M, [1], normalize=True)
    assert s.value == pytest.approx(sd.distance(r, c, M, lam=1), rel=1e-5)


def test_stopping_short_warns_once():
    M, r, c = PAIRS["random metric"]
    with pytest.warns(
        sd.ConvergenceWarning, match="3 of 3 pairs did not reach tol=1e-12"
    ) as caught:
        solutions = sd.path(r, c, M, [5, 20, 80], tol=1e-12, max_iter=2)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert all(s.status is Status.MAX_ITER for s in solutions)
    for s in solutions:
        assert s.emd_bounds[0] - 1e-12 <= emd(r, c, M) <= s.emd_bounds[1] + 1e-12


def test_lams_beyond_rounding():
    """As in solve, lam is what was asked for, and the exact plan answers where floats end."""
    r, c, ground = [0.5, 0.5, 0.0], [0.2, 0.3, 0.5], sd.Ground.grid(3)
    first, last = sd.path(r, c, ground, [1, 1e20])
    alone = sd.solve(r, c, ground, lam=1e20)
    assert first.lam == 1 and last.lam == alone.lam == 1e20 and last.converged
    assert last.value == pytest.approx(alone.value, rel=1e-6)
    assert plan_error(last, np.array(r), np.array(c)) <= 1e-4
