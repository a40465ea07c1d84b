"""Inputs that break others: a right answer, an honest status, or an error before any work."""

import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

import sinkdist as sd
from sinkdist.solution.status import Status
from tests.naive import log_sinkhorn
from tests.problems import (
    digits,
    emd,
    grid_costs,
    mnist_20,
    random_metric,
    simplex,
    solved,
    sparse_histograms,
    steps_by_logarithms,
    two_bin_value,
)

M2 = np.array([[0.0, 1.0], [1.0, 0.0]])
GRID = grid_costs(3, 4)
R, C = sparse_histograms(2, 12, 0, density=0.5)
LAM = 5.0
TRUTH = log_sinkhorn(GRID.tolist(), LAM, R.tolist(), C.tolist()).value


def run(script, *, timeout=120, **environment):
    """A script in a process of its own; its standard output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------------------- right answers


def test_zeros_in_both_histograms():
    """The table's first row, and the digits for which POT returns one constant for every pair."""
    assert sd.distance(R, C, GRID, lam=LAM, tol=1e-11) == pytest.approx(TRUTH, rel=1e-9)
    X = digits(6)
    ground = sd.Ground.grid(8, 8)
    lam = 9 / ground.median
    D = sd.pairwise(X, ground=ground, lam=lam, tol=1e-11)
    assert np.unique(D.round(6)).size == 21
    for i, j in [(0, 1), (2, 5)]:
        truth = steps_by_logarithms(ground.matrix, lam, X[i], X[j], 3000)
        assert D[i, j] == pytest.approx(truth, rel=1e-9)


def test_pot_returns_a_constant_on_digits_and_we_do_not():
    import ot

    X = digits(6)
    ground = sd.Ground.grid(8, 8)
    lam = 9 / ground.median
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [float(ot.sinkhorn2(X[0], x, ground.matrix, 1 / lam)) for x in X[1:]]
    assert len(set(theirs)) == 1  # if this fails, POT was mended: so much the better
    ours = sd.distance(X[0], X[1:], ground, lam=lam)
    exact = np.array([emd(X[0], x, ground.matrix) for x in X[1:]])
    assert (ours > exact).all() and (ours < 2 * exact).all() and np.ptp(ours) > 0.1


@pytest.mark.data
def test_mnist_is_not_a_constant(data_folder):
    X = mnist_20(data_folder, 8)
    ground = sd.Ground.grid(20, 20)
    lam = 9 / ground.median
    D = sd.pairwise(X, ground=ground, lam=lam)
    exact = np.array([[emd(x, y, ground.matrix) for y in X] for x in X])
    off = ~np.eye(8, dtype=bool)
    assert (D[off] > exact[off]).all() and (D[off] < 2 * exact[off]).all()
    assert np.ptp(D[off]) > 1


def test_diracs_and_identical_histograms():
    e = np.eye(12)
    D = sd.pairwise(e, ground=GRID, lam=50)
    np.testing.assert_allclose(D, GRID, atol=1e-12)
    for a in (0.5, 0.2):
        s = sd.solve([a, 1 - a], [a, 1 - a], M2, lam=3, tol=1e-12)
        assert s.converged and s.value == pytest.approx(two_bin_value(a, a, M2, 3)) and s.value > 0


def test_float32_softmax():
    """Sums are off by 1e-7: accepted, converged, silent."""
    logits = np.random.default_rng(0).normal(size=(20, 500)).astype("f4")
    X = np.exp(logits) / np.exp(logits).sum(axis=1, dtype="f4", keepdims=True)
    assert (X.sum(axis=1) != 1).any()
    s = solved(X[0], X, sd.Ground.grid(20, 25).scaled(), lam=9)
    assert s.converged.all() and s.value.dtype == np.float32
    wide = X.astype(float)
    again = solved(wide[0], wide, sd.Ground.grid(20, 25).scaled(), lam=9)
    np.testing.assert_allclose(s.value, again.value, rtol=1e-4)


COUNTS_R, COUNTS_C = np.array([3, 0, 200, 53]), np.array([100, 100, 0, 56])
COUNTS_M = random_metric(4, 1)


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "u8", "f2", "f4", ">f8", "g", ">i2"])
def test_counts_of_every_type(kind):
    r, c = COUNTS_R, COUNTS_C
    if kind == "i1":
        r, c = r // 2, c // 2
    if kind in ("f2", "f4"):
        r, c = r.astype(float), c.astype(float)
    truth = sd.distance(r / r.sum(), c / c.sum(), COUNTS_M, lam=4, tol=1e-10)
    got = sd.distance(r.astype(kind), c.astype(kind), COUNTS_M, lam=4, normalize=True, tol=1e-7)
    assert got == pytest.approx(truth, rel=1e-5)


def test_booleans_and_mixed_types():
    masks = np.array([[True, True, False, False], [False, True, True, True]])
    truth = sd.distance([0.5, 0.5, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3], COUNTS_M, lam=4, tol=1e-10)
    assert sd.distance(
        masks[0], masks[1], COUNTS_M, lam=4, normalize=True, tol=1e-10
    ) == pytest.approx(truth)
    mixed = sd.distance(masks[0], [0, 1, 1, 1], COUNTS_M, lam=4, normalize=True, tol=1e-10)
    assert mixed == pytest.approx(truth)


def test_rounding_negatives_are_clipped():
    r = np.array([0.5, 0.5, -1e-17, 0.0])
    assert sd.distance(r, COUNTS_C / 256, COUNTS_M, lam=4) == pytest.approx(
        sd.distance([0.5, 0.5, 0, 0], COUNTS_C / 256, COUNTS_M, lam=4), rel=1e-12
    )


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("L", [1, 30, 500, 2000])
@pytest.mark.parametrize("tiny", [1e-300, 1e-200, 1e-30])
def test_one_tiny_mass(tiny, L, many):
    """It changes nothing that can be seen, on either side."""
    M, r, light, heavy = _with_tiny_mass(6, tiny, "f8", pairs=9 if many else 1)
    lam = L / M.max()
    if not many:
        light, heavy = light[0], heavy[0]
    truth = solved(r, heavy, M, lam=lam).value
    for s in (solved(r, light, M, lam=lam), solved(light, r, M.T, lam=lam)):
        assert np.all(s.converged)
        np.testing.assert_allclose(s.value, truth, rtol=1e-5)


@pytest.mark.parametrize("L", [1, 30, 79, 300])
@pytest.mark.parametrize("tiny", [1e-37, 1e-30, 1e-20])
@pytest.mark.parametrize("d", [6, 120])
def test_one_tiny_mass_in_float32(d, tiny, L):
    """Also in a block of pairs whose scalings float32 can hardly hold."""
    M, r, light, heavy = _with_tiny_mass(d, tiny, "f4", pairs=12)
    lam = L / M.max()
    truth = solved(r.astype(float), heavy, M, lam=lam).value
    for s in (solved(r, light, M, lam=lam), solved(light, r, M.T, lam=lam)):
        assert s.converged.all()
        np.testing.assert_allclose(s.value, truth, rtol=1e-3)


@pytest.mark.parametrize("pairs", [1, 9])
@pytest.mark.parametrize("L", [1, 30, 79, 300, 590, 2000])
@pytest.mark.parametrize(
    ("tiny", "dtype"), [(1e-90, "f8"), (1e-30, "f8"), (1e-37, "f4"), (1e-20, "f4")]
)
def test_one_tiny_mass_and_a_fixed_number_of_steps(tiny, dtype, L, pairs):
    M, r, light, _ = _with_tiny_mass(6, tiny, dtype, pairs)
    lam = L / M.max()
    close = 1e-9 if dtype == "f8" else 1e-4
    for left, right, costs in (
        (r[None].repeat(pairs, 0), light, M),
        (light, r[None].repeat(pairs, 0), M.T),
    ):
        s = solved(left, right, costs, lam=lam, iterations=10)
        truth = [
            steps_by_logarithms(costs, lam, a, b, 10)
            for a, b in zip(left.astype(float), right.astype(float), strict=True)
        ]
        np.testing.assert_allclose(s.value, truth, rtol=close, atol=close * M.max())


@pytest.mark.parametrize("pairs", [1, 9])
@pytest.mark.parametrize("L", [1, 30, 300, 590, 2000])
@pytest.mark.parametrize("tiny", [1e-300, 1e-200, 1e-101])
def test_negligible_masses_count_as_zero_in_a_fixed_number_of_steps(tiny, L, pairs):
    """Their bins are left out like empty ones; Algorithm 1 starts on those that remain."""
    M, r, light, heavy = _with_tiny_mass(6, tiny, "f8", pairs)
    lam, R_ = L / M.max(), r[None].repeat(pairs, 0)
    for left, right, bare in ((R_, light, (R_, heavy)), (light, R_, (heavy, R_))):
        s = solved(left, right, M, lam=lam, iterations=10)
        truth = [steps_by_logarithms(M, lam, a, b, 10) for a, b in zip(*bare, strict=True)]
        np.testing.assert_allclose(s.value, truth, rtol=1e-9)


def _with_tiny_mass(d, tiny, dtype, pairs):
    """A ground, one histogram, and some that have a tiny mass in bin 2, or none there."""
    M = random_metric(d, 2)
    heavy = simplex(pairs + 1, d, 3)
    heavy[1:, 2] = 0.0
    heavy /= heavy.sum(axis=1, keepdims=True)
    light = heavy.astype(dtype)
    light[1:, 2] = tiny
    return M, light[0], light[1:], heavy[1:]


@pytest.mark.parametrize("total", [1e-310, 1e-300, 1e300, 1.7e308])
def test_totals_of_any_size(total):
    with np.errstate(under="ignore"):
        r, c = R * total, C * total
    assert sd.distance(r, c, GRID, lam=LAM, normalize=True) == pytest.approx(TRUTH, rel=1e-5)


def test_lists_tuples_frames_and_sparse():
    X = sparse_histograms(5, 12, 1)
    tight = {"lam": LAM, "tol": 1e-11}
    truth = sd.pairwise(X, ground=GRID, **tight)
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    kinds = [
        X.tolist(),
        tuple(map(tuple, X)),
        frame,
        sparse.csr_array(X),
        sparse.csr_matrix(X),
        sparse.coo_array(X),
    ]
    for kind in kinds:
        np.testing.assert_allclose(sd.pairwise(kind, ground=GRID, **tight), truth, rtol=1e-12)
        np.testing.assert_allclose(sd.pairwise(kind, X, ground=GRID, **tight), truth, rtol=1e-9)
        np.testing.assert_allclose(
            sd.solve(kind, kind, GRID, **tight).value, truth.diagonal(), rtol=1e-12
        )
    assert sd.distance(frame.iloc[0], frame, GRID, lam=LAM).shape == (5,)
    with pytest.raises(
        ValueError, match="label their bins differently: bin 0 is 'a' in 'r' and 'b' in 'c'"
    ):
        sd.distance(
            frame.iloc[0],
            frame.iloc[0].rename(index=dict(zip("abcdefghijkl", "bacdefghijkl", strict=True))),
            GRID,
            lam=LAM,
        )


def test_memory_of_every_kind(tmp_path):
    """Read-only, strided, backwards and memory-mapped input, for histograms and for the ground."""
    X = sparse_histograms(10, 12, 1)
    truth = sd.pairwise(X, ground=GRID, lam=LAM)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "M.npy", GRID)
    wide = np.zeros((20, 24))
    wide[::-2, ::-2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    kinds = [
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        wide[::-2, ::-2],
        frozen,
        np.asfortranarray(X),
        frozen[::1],
    ]
    grounds = [
        np.load(tmp_path / "M.npy", mmap_mode="r"),
        np.asfortranarray(GRID),
        GRID[::-1][::-1],
    ]
    for kind in kinds:
        np.testing.assert_allclose(sd.pairwise(kind, ground=GRID, lam=LAM), truth, rtol=1e-12)
        np.testing.assert_allclose(sd.distance(kind[0], kind, GRID, lam=LAM), truth[0], rtol=1e-12)
    for ground in grounds:
        np.testing.assert_allclose(sd.pairwise(X, ground=ground, lam=LAM), truth, rtol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "plain", "newton", "log"])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_constant_and_zero_costs(constant, solver):
    X = sparse_histograms(9, 12, 1)
    flat = np.full((12, 12), constant)
    for lam in (1e-3, 1, 1e4):
        s = solved(X[0], X, flat, lam=lam, solver=solver)
        np.testing.assert_allclose(s.value, constant, rtol=1e-6)
        np.testing.assert_allclose(s.plan[3], np.outer(X[0], X[3]), atol=1e-6)
    np.testing.assert_allclose(
        sd.pairwise(X, ground=flat, lam=2, iterations=3), constant, rtol=1e-12
    )


def test_asymmetric_costs_fill_both_halves():
    M = np.random.default_rng(4).random((12, 12))
    X = sparse_histograms(6, 12, 1)
    D = sd.pairwise(X, ground=M, lam=8, tol=1e-10)
    truth = [
        [log_sinkhorn(M.tolist(), 8, x.tolist(), y.tolist(), tol=1e-11).value for y in X] for x in X
    ]
    np.testing.assert_allclose(D, truth, rtol=1e-8)
    assert abs(D - D.T).max() > 1e-3


def test_rectangular_costs():
    M = np.random.default_rng(5).random((5, 12))
    X, Y = simplex(3, 5, 1), sparse_histograms(4, 12, 2)
    D = sd.pairwise(X, Y, ground=M, lam=8, tol=1e-10)
    truth = [
        [log_sinkhorn(M.tolist(), 8, x.tolist(), y.tolist(), tol=1e-11).value for y in Y] for x in X
    ]
    np.testing.assert_allclose(D, truth, rtol=1e-8)


def test_one_bin():
    assert sd.distance([1.0], [1.0], [[0.7]], lam=1e5) == pytest.approx(0.7, rel=1e-12)
    assert sd.distance([1.0], [1.0], [[0.7]], lam=9, iterations=3) == pytest.approx(0.7, rel=1e-12)
    np.testing.assert_allclose(sd.pairwise([[1.0], [1.0]], ground=[[0.7]], lam=9), 0.7)


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("L", [1e-2, 9, 2000])
def test_the_unit_of_cost_does_not_matter(factor, L):
    here, there = (
        solved(R, C, scale * GRID, lam=L / (scale * GRID.max())) for scale in (1.0, factor)
    )
    assert there.converged and there.value == pytest.approx(factor * here.value, rel=1e-9)
    np.testing.assert_allclose(there.emd_bounds, factor * np.array(here.emd_bounds), rtol=1e-9)
    fixed = [
        sd.distance(R, C, s * GRID, lam=L / (s * GRID.max()), iterations=5) for s in (1.0, factor)
    ]
    assert fixed[1] == pytest.approx(factor * fixed[0], rel=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lam", [1e-300, 1e-30, 1e-8, 1e-3, 1, 1e3, 1e5, 1e8, 1e12, 1e30, 1e300])
def test_every_lam_gives_a_right_answer_or_an_honest_status(lam, dtype):
    r, c = R.astype(dtype), C.astype(dtype)
    s = solved(r, c, GRID, lam=lam)
    exact, independent = emd(r, c, GRID), float(r @ GRID @ c)
    lower, upper = s.emd_bounds
    assert lower <= exact + 1e-7 and exact <= upper + 1e-7
    assert s.marginal_error <= 2.0 + 1e-9  # a plan of mass 1, whatever happened
    off = GRID.max() * (s.marginal_error + 1e-6)
    assert exact - off <= s.value <= independent + off
    if lam <= 1e-3:
        assert s.converged and s.value == pytest.approx(independent, rel=1e-2)
    if lam <= 1e8:
        assert s.converged
    if s.converged and lam >= 1e5:
        assert s.value == pytest.approx(exact, abs=1e-4 + off)
    many = sd.distance(r, np.stack([c] * 9), GRID, lam=lam) if s.converged else np.array(s.value)
    np.testing.assert_allclose(many, s.value, rtol=1e-6)
    fixed = sd.solve(r, c, GRID, lam=lam, iterations=20)
    assert (
        np.isfinite(fixed.value)
        and fixed.emd_bounds[0] <= exact + 1e-7 <= fixed.emd_bounds[1] + 2e-7
    )


# ----------------------------------------------------- what POT returns on hard input (seen)


def test_costs_far_beyond_the_regularisation():
    """max(M) / reg = 19000: POT returns 0.0."""
    x = np.linspace(0, 190, 50)
    M = abs(x[:, None] - x)
    r, c = np.zeros(50), np.zeros(50)
    r[[3, 5]], c[[33, 36]] = 0.5, (0.4, 0.6)
    s = solved(r, c, M, reg=M.max() / 19000)
    assert s.converged and s.value == pytest.approx(emd(r, c, M), rel=1e-3)
    r, c = simplex(2, 50, 6)
    s = solved(r, c, M, reg=M.max() / 19000)
    exact = emd(r, c, M)
    assert s.converged and exact * (1 - 1e-6) <= s.value <= exact + np.log(2500) * M.max() / 19000


@pytest.mark.parametrize("target", [0.05, 0.85])
def test_zero_bins_and_a_small_regularisation(target):
    """reg = 1.2e-3 on a unit interval with empty bins: POT returns 5e-10."""
    x = np.linspace(0, 1, 41)
    M = abs(x[:, None] - x)
    r, c = np.zeros(41), np.zeros(41)
    r[:3] = 1 / 3
    c[round(target * 40) : round(target * 40) + 3] = 1 / 3
    s = solved(r, c, M, reg=1.2e-3)
    assert s.converged and s.value == pytest.approx(target, abs=2e-6)


def test_one_far_pair_in_a_batch():
    x = np.linspace(0, 1, 40)
    M = abs(x[:, None] - x)
    bump = np.exp(
        -(((x[:, None] - [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 1.0]) / 0.02) ** 2)
    ).T
    X = bump / bump.sum(axis=1, keepdims=True)
    D = sd.distance(X[0], X, M, reg=2e-3)
    exact = [emd(X[0], x, M) for x in X]
    np.testing.assert_allclose(D, exact, atol=1e-2)
    assert D[-1] == pytest.approx(sd.distance(X[0], X[-1], M, reg=2e-3), rel=1e-12)


@pytest.mark.parametrize("max_iter", [1, 5])
def test_stopped_early(max_iter):
    """POT's five iterations give 0.082 for 1.116 without a word."""
    M = random_metric(60, 7)
    r, c = simplex(2, 60, 8) ** 8
    r, c = r / r.sum(), c / c.sum()
    with pytest.warns(
        sd.ConvergenceWarning, match=f"1 of 1 pair did not .* max_iter={max_iter}"
    ) as caught:
        s = sd.solve(r, c, M, lam=100, max_iter=max_iter)
    assert len(caught) == 1
    assert s.status == Status.MAX_ITER and not s.converged
    assert s.emd_bounds[0] <= emd(r, c, M) <= s.emd_bounds[1]


# ------------------------------------------------------------------------------------- refusals

BAD = {
    "mass 2": (R * 2, C, GRID, ValueError, r"'r' sums to 2, .*normalize=True"),
    "mass 0.9": (R, C * 0.9, GRID, ValueError, r"'c' sums to 0\.9, .*normalize=True"),
    "negative": ([1.5, -0.5], [0.5, 0.5], M2, ValueError, r"Entry 1 of 'r' is -0\.5"),
    "nan": ([0.5, np.nan], [0.5, 0.5], M2, ValueError, r"Entry 1 of 'r' is nan"),
    "inf": ([0.5, 0.5], [np.inf, 0.5], M2, ValueError, r"Entry 0 of 'c' is inf"),
    "no mass": ([0.0, 0.0], [0.5, 0.5], M2, ValueError, r"'r' has no mass"),
    "a bad row": (
        [1, 0],
        [[1, 0], [0, 1], [0.5, 0.4]],
        M2,
        ValueError,
        r"Row 2 of 'c' sums to 0\.9",
    ),
    "an empty row": (
        [1, 0],
        [[1, 0], [0, 0], [0.5, 0.5]],
        M2,
        ValueError,
        r"Row 1 of 'c' has no mass",
    ),
    "complex": (np.array([0.5 + 0j, 0.5]), [0.5, 0.5], M2, TypeError, "'r' must hold real numbers"),
    "object": (np.array([0.5, 0.5], object), [0.5, 0.5], M2, TypeError, "'r' .*object"),
    "strings": (["0.5", "0.5"], [0.5, 0.5], M2, TypeError, "'r' must hold real numbers"),
    "None": (None, [0.5, 0.5], M2, TypeError, "'r' must be an array of real numbers. Got None"),
    "masked": (
        np.ma.array([0.5, 0.5], mask=[0, 1]),
        [0.5, 0.5],
        M2,
        TypeError,
        "'r' is a masked array",
    ),
    "a column": (np.array([[0.5], [0.5]]), [0.5, 0.5], M2, ValueError, r"'r' has 1 bin per row.*2"),
    "0-d": (
        np.float64(1.0),
        [0.5, 0.5],
        M2,
        ValueError,
        r"'r' must be one histogram .*Got shape \(\)",
    ),
    "3-D": (np.ones((1, 1, 2)) / 2, [0.5, 0.5], M2, ValueError, r"'r' .*Got shape \(1, 1, 2\)"),
    "wrong bins": (
        [0.5, 0.5],
        [0.5, 0.25, 0.25],
        M2,
        ValueError,
        "'c' has 3 bins, but the ground metric has 2",
    ),
    "inf cost": (
        [0.5, 0.5],
        [0.5, 0.5],
        [[0, np.inf], [1, 0]],
        ValueError,
        r"Cost \(0, 1\) of the ground matrix is inf",
    ),
    "nan cost": (
        [0.5, 0.5],
        [0.5, 0.5],
        [[0, 1], [np.nan, 0]],
        ValueError,
        r"Cost \(1, 0\) of the ground matrix is nan",
    ),
    "negative cost": (
        [0.5, 0.5],
        [0.5, 0.5],
        [[0, 1], [-1, 0]],
        ValueError,
        r"Cost \(1, 0\) of the ground matrix is -1",
    ),
    "sparse cost": (
        [0.5, 0.5],
        [0.5, 0.5],
        sparse.csr_array(M2),
        TypeError,
        "ground matrix must be dense",
    ),
    "no bins": (
        [],
        [],
        np.empty((0, 0)),
        ValueError,
        r"ground matrix is empty: its shape is \(0, 0\)",
    ),
    "3-D cost": ([0.5, 0.5], [0.5, 0.5], np.zeros((2, 2, 2)), ValueError, "2-dimensional"),
}


@pytest.mark.parametrize("verb", [sd.solve, sd.distance])
@pytest.mark.parametrize("case", BAD)
def test_refused_before_any_work(case, verb):
    r, c, M, error, message = BAD[case]
    with pytest.raises(error, match=message):
        verb(r, c, M, lam=9)


def test_one_bad_row_of_a_family_is_named():
    X = np.array([[0.5, 0.5], [0.5, np.nan], [1.0, 0.0]])
    for family, message in [
        (X, r"Entry \(1, 1\) of 'X' is nan"),
        ([[0.5, 0.5], [1, 1]], "Row 1 of 'X' sums to 2"),
        ([[0, 0], [1, 0], [0, 0]], "Rows 0, 2 of 'X' have no mass"),
    ]:
        with pytest.raises(ValueError, match=message):
            sd.pairwise(family, ground=M2, lam=9)
    with pytest.raises(ValueError, match="Row 1 of 'Y' sums to 2"):
        sd.pairwise([[1, 0]], [[1, 0], [1, 1]], ground=M2, lam=9)


@pytest.mark.parametrize(
    "strength",
    [{"reg": -1}, {"reg": float("nan")}, {"lam": float("-inf")}, {"alpha": -1e-9}, {}],
    ids=str,
)
def test_strengths_without_an_answer_are_errors(strength):
    for verb in (sd.solve, sd.distance):
        with pytest.raises(ValueError, match=r"non-negative|exactly one"):
            verb([0.5, 0.5], [0.5, 0.5], M2, **strength)
    with pytest.raises(ValueError, match=r"non-negative|exactly one"):
        sd.pairwise([[0.5, 0.5]], ground=M2, **strength)


@pytest.mark.parametrize(
    ("strength", "value"),
    [
        ({"reg": 0}, 0.3),
        ({"lam": float("inf")}, 0.3),
        ({"alpha": float("inf")}, 0.3),
        ({"alpha": 1}, 0.3),  # more than log 2: any coupling of two bins satisfies it
        ({"reg": float("inf")}, 0.5),
        ({"lam": 0}, 0.5),
        ({"alpha": 0}, 0.5),
    ],
    ids=str,
)
def test_limits_have_answers(strength, value):
    """Other packages divide by zero here."""
    r, c = [0.5, 0.5], [0.2, 0.8]
    for verb in (sd.solve, sd.distance):
        answer = verb(r, c, M2, **strength)
        assert getattr(answer, "value", answer) == pytest.approx(value, rel=1e-12)
    assert sd.pairwise([r], [c], ground=M2, **strength)[0, 0] == pytest.approx(value, rel=1e-12)


# --------------------------------------------------------------------- processes and interrupts


def test_fork_after_a_solve():
    """Threads were used before the fork; the children solve too, and with threads of their own."""
    out = run("""
        import multiprocessing as mp, warnings
        import numpy as np, sinkdist as sd
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of fork as such
        X = np.random.default_rng(0).dirichlet(np.ones(200), 30)
        ground = sd.Ground.points(np.random.default_rng(1).random((200, 2)))
        def child(k):
            return sd.distance(X[k], X, ground, lam=9, workers=2)
        if __name__ == "__main__":
            here = sd.pairwise(X, ground=ground, lam=9, workers=2)
            with mp.get_context("fork").Pool(2) as pool:
                there = pool.map_async(child, range(4)).get(timeout=60)
            print(np.allclose(there, here[:4], rtol=1e-9))
    """)
    assert out.split() == ["True"]


def test_pools_within_pools():
    from concurrent.futures import ThreadPoolExecutor

    X = digits(40)
    ground = sd.Ground.grid(8, 8).scaled()
    truth = [sd.distance(x, X, ground, lam=9, workers=1) for x in X]
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda x: sd.distance(x, X, ground, lam=9, workers=4), X))
    np.testing.assert_allclose(rows, truth, rtol=1e-12)


def test_many_pairs_need_little_memory():
    """10^4 pairs of 400 bins, which batched naively take 12.8 GB."""
    out = run("""
        import resource
        import numpy as np, sinkdist as sd
        X = np.random.default_rng(0).dirichlet(np.ones(400), 10_000).astype("f4")
        ground = sd.Ground.grid(20, 20).scaled()
        sd.distance(X[0], X[:40], ground, lam=9, iterations=2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        D = sd.distance(X[0], X, ground, lam=9, iterations=2)
        s = sd.solve(X[0], X[:3000], ground, lam=9, iterations=2)
        assert np.isfinite(D).all()
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """)
    assert int(out) < 200  # MB
