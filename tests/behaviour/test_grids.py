"""Large grids as users see them: every verb, against the same costs as a matrix."""

import pickle

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.ground.grid import DENSE_UP_TO
from sinkdist.ground.grid_plan import kernel_of
from sinkdist.solution.grid_transforms import stretch
from tests.problems import emd

INF = float("inf")


def images(shape, count, seed, empty=0.25):
    """Smooth images with some noise and some bins without mass."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    found = []
    for _ in range(count):
        centres = rng.random((3, len(shape))) * shape
        widths = np.array(shape) * rng.uniform(0.1, 0.3, size=(3, 1))
        bumps = np.exp(-(((places[..., None, :] - centres) / widths) ** 2).sum(-1)).sum(-1)
        image = (bumps + 0.02) * rng.uniform(0.5, 1.5, size=shape)
        image[rng.random(shape) < empty] = 0.0
        found.append(image.ravel() / image.sum())
    return np.array(found)


GRIDS = {
    "plane": ((33, 29), "sqeuclidean", 1.0),
    "odd and uneven": ((17, 53), "sqeuclidean", (1.0, 0.3)),
    "line": ((900,), "sqeuclidean", 0.5),
    "cube": ((9, 10, 11), "sqeuclidean", (1.0, 2.0, 0.5)),
    "streets": ((33, 29), "cityblock", (1.0, 0.7)),
    "streets in a cube": ((9, 10, 11), "cityblock", 1.0),
    "lengths": ((51, 37), "euclidean", (1.0, 0.7)),
    "lengths in a cube": ((11, 13, 12), "euclidean", (1.0, 2.0, 0.5)),
    "lengths of a strip": ((1, 1700), "euclidean", 1.0),
}


@pytest.fixture(scope="module", params=GRIDS)
def problem(request):
    """A large grid, the same costs as a matrix, and images."""
    shape, metric, spacing = GRIDS[request.param]
    assert np.prod(shape) > DENSE_UP_TO[metric]
    ground = sd.Ground.grid(*shape, metric=metric, spacing=spacing).scaled()
    assert not ground.is_dense
    return ground, sd.Ground(ground.block()), images(shape, 3, 7)


def plan_of(s, M):
    """The plan of the potentials, entry by entry."""
    f, g = s.potentials
    return np.exp(s.lam * (f[:, None] + g - M))


@pytest.mark.parametrize("lam", [0.1, 5.0, 80.0, 600.0])
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_what_is_returned_is_what_its_potentials_say(problem, lam, tol):
    ground, dense, (r, c, _) = problem
    s, M = sd.solve(r, c, ground, lam=lam, tol=tol), dense.matrix
    P = plan_of(s, M)
    error = np.abs(P.sum(1) - r).sum() + np.abs(P.sum(0) - c).sum()
    assert s.converged and error <= tol * (1 + 1e-6) + 1e-12
    np.testing.assert_allclose(s.marginal_error, error, rtol=1e-3, atol=2e-12)
    np.testing.assert_allclose(s.value, (P * M).sum(), rtol=1e-10)
    assert np.all((s.potentials[0] == -INF) == (r == 0.0))
    positive = P[P > 0]
    entropy = -(positive * np.log(positive)).sum()
    np.testing.assert_allclose(s.entropy, entropy, rtol=1e-9)
    np.testing.assert_allclose(s.objective, s.value - entropy / lam, rtol=1e-9)
    P, marginals = P[np.ix_(r > 0, c > 0)], np.outer(r[r > 0], c[c > 0])
    KL = np.sum(P * np.log(P / marginals, where=P > 0, out=np.zeros_like(P)))
    np.testing.assert_allclose(s.alpha, KL, rtol=1e-7, atol=1e-9)


def test_values_are_those_of_the_matrix(problem):
    ground, dense, X = problem
    for lam in (2.0, 50.0):
        found, wanted = (sd.pairwise(X, ground=G, lam=lam, tol=1e-10) for G in (ground, dense))
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
        np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(
        sd.distance(X, X[::-1], ground, lam=2.0), sd.distance(X, X[::-1], dense, lam=2.0), rtol=1e-5
    )


@pytest.mark.parametrize("iterations", [1, 2, 9])
def test_algorithm_1_to_the_letter(problem, iterations):
    ground, dense, (r, c, _) = problem
    lam = 20.0
    rows, K = r > 0, np.exp(-lam * dense.matrix)[r > 0]
    x = np.full(rows.sum(), 1.0 / rows.sum())
    for _ in range(iterations):  # the paper's one line
        x = (1.0 / r[rows]) * (K @ (c / (K.T @ (1.0 / x))))
    u = 1.0 / x
    v = c / (K.T @ u)
    s = sd.solve(r, c, ground, lam=lam, iterations=iterations)
    P = u[:, None] * K * v
    np.testing.assert_allclose(s.value, (P * dense.matrix[rows]).sum(), rtol=1e-12)
    np.testing.assert_allclose(s.marginal_error, np.abs(P.sum(1) - r[rows]).sum(), rtol=1e-9)
    assert s.solver == "algorithm1" and s.status == sd.Status.FIXED
    np.testing.assert_allclose(plan_of(s, dense.matrix)[rows], P, rtol=1e-9)


@pytest.mark.parametrize("options", [{"lam": 5.0}, {"lam": 200.0}, {"lam": 30.0, "iterations": 2},
                                     {"lam": 0.0}])  # fmt: skip
def test_bounds_hold_the_exact_distance(problem, options):
    ground, dense, (r, c, _) = problem
    truth = emd(r, c, dense.matrix)
    s, same = (sd.solve(r, c, G, **options) for G in (ground, dense))
    low, high = s.emd_bounds
    assert low <= truth * (1 + 1e-12) and truth <= high * (1 + 1e-12)
    wanted = same.emd_bounds
    lost = stretch(ground.pixels) - 1.0  # what a bound under Euclidean distances may lose
    np.testing.assert_allclose(low, wanted[0], rtol=1e-4 + lost, atol=1e-9)
    if "iterations" not in options:  # else a matrix has a dearer way to mend the plan
        np.testing.assert_allclose(high, wanted[1], rtol=1e-4)
        low, high = s.bracket
        fine = sd.distance(
            r, c, dense, lam=options["lam"], **({"tol": 1e-11} if options["lam"] else {})
        )
        assert low <= fine * (1 + 1e-9) and fine <= high * (1 + 1e-9)
        assert 0.0 <= s.gap <= 1e-4


def test_every_member_answers(problem):
    ground, dense, X = problem
    for options in ({"lam": INF}, {"lam": 0.0}, {"alpha": 0.0}):
        found, wanted = (sd.pairwise(X, ground=G, **options) for G in (ground, dense))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    s = sd.solve(X[0], X[1], ground, lam=INF)
    np.testing.assert_allclose(s.sparse_plan.sum(axis=1), X[0], atol=1e-12)
    assert s.emd_bounds[0] <= s.value <= s.emd_bounds[1]
    found, wanted = (sd.distance(X[0], X[1], G, alpha=0.5, tol=1e-4) for G in (ground, dense))
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


def test_plans_by_rows_and_the_map_they_make(problem):
    ground, dense, (r, c, _) = problem
    s = sd.solve(r, c, ground, lam=40.0)
    P = plan_of(s, dense.matrix)
    np.testing.assert_allclose(s.plan_rows([5, 0, -1]), P[[5, 0, -1]], rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(s.plan_rows(5), s.plan_rows([5])[0])
    np.testing.assert_allclose(s.plan, P, rtol=1e-9, atol=1e-300)
    grid = ground.pixels
    places = np.stack(np.unravel_index(np.arange(grid.bins), grid.sides), -1) * grid.spacing
    found, some = s.transport_map(), r > 0
    np.testing.assert_allclose(found[some], (P @ places)[some] / P.sum(1)[some, None], rtol=1e-8)
    assert np.isnan(found[~some]).all()
    np.testing.assert_allclose(s.transport_map(places[:, :1])[some], found[some, :1], rtol=1e-12)


def test_paths(problem):
    ground, dense, (r, c, _) = problem
    lams = [30.0, 3.0, 9.0]
    found, wanted = (sd.path(r, c, G, lams, tol=1e-8) for G in (ground, dense))
    assert [s.lam for s in found] == lams and all(s.converged for s in found)
    np.testing.assert_allclose([s.value for s in found], [s.value for s in wanted], rtol=1e-6)


def test_divergences(problem):
    ground, dense, X = problem
    for lam in (1.0, 40.0):
        found, wanted = (sd.divergence(X[0], X, G, lam=lam, tol=1e-8) for G in (ground, dense))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        assert found[0] == 0.0 < found[1]
        D = sd.pairwise(X, ground=ground, lam=lam, tol=1e-8, debiased=True)
        np.testing.assert_allclose(D[0], found, rtol=1e-12)
        np.testing.assert_array_equal(D, D.T)


def test_an_image_against_itself(problem):
    ground, dense, X = problem
    for lam in (1.0, 60.0):
        s = sd.solve(X[0], X[0], ground, lam=lam, tol=1e-8)
        P = plan_of(s, dense.matrix)
        error = np.abs(P.sum(1) - X[0]).sum() + np.abs(P.sum(0) - X[0]).sum()
        assert s.converged and error <= 1e-8 and s.n_iter <= 40
        np.testing.assert_allclose(s.value, (P * dense.matrix).sum(), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
@pytest.mark.parametrize("debiased", [True, False])
@pytest.mark.parametrize("name", ["plane", "streets in a cube", "lengths"])
def test_barycentres(name, debiased, monkeypatch):
    """Sweep by sweep those of the matrix, in products and beyond what products hold.

    From the first sweep on in double precision: single rounds differently on the two ways.
    """
    monkeypatch.setattr("sinkdist.means.barycenters._LARGE", np.inf)
    shape, metric, spacing = GRIDS[name]
    ground, X = sd.Ground.grid(*shape, metric=metric, spacing=spacing).scaled(), images(shape, 3, 7)
    dense, weights = sd.Ground(ground.block()), [[0.5, 0.2, 0.3], [0.0, 0.5, 0.5]]
    for lam in (8.0, 3000.0 / dense.max):
        options = {"weights": weights, "lam": lam, "debiased": debiased, "max_iter": 20}
        found, wanted = (sd.solve_barycenter(X, ground=G, **options) for G in (ground, dense))
        np.testing.assert_array_equal(found.n_iter, wanted.n_iter)
        np.testing.assert_allclose(found.histogram, wanted.histogram, rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(found.marginal_error, wanted.marginal_error, rtol=1e-6)
        np.testing.assert_allclose(found.objective, wanted.objective, rtol=1e-9, atol=1e-12)


def test_a_barycentre_where_no_matrix_fits():
    X = images((128, 130), 2, 4, empty=0.0)
    ground = sd.Ground.grid(128, 130, metric="sqeuclidean", spacing=1 / 128)
    mean = sd.solve_barycenter(X, ground=ground, reg=1e-2, tol=1e-3)
    assert mean.status == sd.Status.CONVERGED and mean.self_error <= 1e-3
    value = [sd.divergence(mean.histogram, x, ground, reg=1e-2) for x in X]
    np.testing.assert_allclose(mean.objective, np.mean(value), rtol=1e-3)
    middle = sd.divergence(0.5 * X[0] + 0.5 * X[1], X, ground, reg=1e-2)
    assert np.mean(value) < np.mean(middle)


def test_sweeps_by_name(problem):
    ground, dense, (r, c, _) = problem
    for name in ("plain", "log", "newton"):
        s = sd.solve(r, c, ground, lam=5.0, solver=name, tol=1e-7)
        np.testing.assert_allclose(s.value, sd.distance(r, c, dense, lam=5.0, tol=1e-7), rtol=1e-5)
        assert s.converged


def test_what_stops_short_says_so(problem):
    ground, dense, (r, c, _) = problem
    with pytest.warns(sd.ConvergenceWarning, match="1 of 1 pair did not reach tol=1e-12"):
        s = sd.solve(r, c, ground, lam=300.0, tol=1e-12, max_iter=3)
    P = plan_of(s, dense.matrix)
    error = np.abs(P.sum(1) - r).sum() + np.abs(P.sum(0) - c).sum()
    np.testing.assert_allclose(s.marginal_error, error, rtol=1e-6)
    assert s.status == sd.Status.MAX_ITER
    low, high = s.emd_bounds
    assert low <= emd(r, c, dense.matrix) <= high


def test_diracs_and_equal_images():
    ground = sd.Ground.grid(50, 41, metric="sqeuclidean")
    r, c = np.zeros((2, 2050))
    r[0], c[2049] = 1.0, 1.0
    s = sd.solve(r, c, ground, lam=0.01)
    np.testing.assert_allclose(s.value, 49**2 + 40**2, rtol=1e-12)
    np.testing.assert_allclose(s.transport_map()[0], [49, 40], rtol=1e-12)
    low, high = s.emd_bounds
    assert low <= 49**2 + 40**2 <= high and high - low <= 1e-6
    X = images((50, 41), 1, 1)[0]
    assert 0.0 < sd.distance(X, X, ground, lam=0.5) < 2 / 0.5
    assert sd.distance(X, X, ground, lam=0.5, coincidence=True) == 0.0
    spread = np.full(2050, 1 / 2050)
    np.testing.assert_allclose(
        sd.distance(r, spread, ground, lam=0.1), ground.mean_costs(r[None])[0].mean(), rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
def test_any_unit_of_cost_and_any_lam():
    shape = (40, 33)
    r, c = images(shape, 2, 3)
    plain = sd.Ground.grid(*shape, metric="sqeuclidean").scaled("max")
    wanted = sd.solve(r, c, plain, lam=50.0)
    for unit in (1e-200, 1e200):
        s = sd.solve(r, c, plain.scaled(unit), lam=50.0 * unit)
        np.testing.assert_allclose(s.value * unit, wanted.value, rtol=1e-9)
        np.testing.assert_allclose(np.array(s.emd_bounds) * unit, wanted.emd_bounds, rtol=1e-6)
    truth = emd(r, c, plain.block())
    for lam in (1e-9, 1e5, 1e12):
        s = sd.solve(r, c, plain, lam=lam, max_iter=100)
        low, high = s.emd_bounds
        assert low <= truth <= high and np.isfinite(s.value) and s.marginal_error >= 0.0


def test_what_cannot_be_formed_is_refused_with_its_size():
    d = 1 << 14
    ground = sd.Ground.grid(128, 128, metric="sqeuclidean")
    X = images((128, 128), 2, 0)
    s = sd.solve(X[0], X[1], ground, lam=0.02, tol=1e-4)
    for ask in (
        lambda: s.plan,
        lambda: ground.matrix,
        lambda: sd.divergence(X[0], X[1], ground, lam=1.0, mass_penalty=1.0),
    ):
        with pytest.raises(InputError, match=f"A matrix of {d:,} x {d:,} .* would take 2.1 GB"):
            ask()
    with pytest.raises(InputError, match="There is no row 16384"):
        s.plan_rows(d)
    with pytest.raises(InputError, match="places of bins are known for grids only"):
        sd.solve([1.0], [1.0], [[0.0]], lam=1).transport_map()
    low, high = s.emd_bounds
    assert 0.0 < low < s.value < high * 1.01
    assert pickle.loads(pickle.dumps(s)).value == s.value


def test_an_exact_distance_that_does_not_fit_is_refused():
    ground = sd.Ground.grid(1000, 1000, metric="sqeuclidean")
    r = np.full(10**6, 1e-6)
    with pytest.raises(InputError, match="GiB"):
        sd.distance(r, r[::-1], ground, lam=INF)
    few, other = np.zeros((2, 10**6))
    few[[0, 999_999]], other[[1000, 5]] = 0.5, 0.5
    assert sd.distance(few, other, ground, lam=INF) == 0.5 * (1 + 999**2 + 994**2)


def test_stores_and_threads_give_the_same(tmp_path):
    pytest.importorskip("zarr")
    ground, X = sd.Ground.grid(40, 30, metric="sqeuclidean"), images((40, 30), 5, 2)
    wanted = sd.pairwise(X, ground=ground, lam=0.5, workers=1)
    np.testing.assert_array_equal(sd.pairwise(X, ground=ground, lam=0.5, workers=2), wanted)
    stored = sd.pairwise(X, ground=ground, lam=0.5, out=tmp_path / "D.zarr")
    np.testing.assert_array_equal(np.asarray(stored[:]), wanted)
    for k in range(5):  # alone and in company
        assert sd.distance(X[0], X[k], ground, lam=0.5) == wanted[0, k]


def test_threads_of_one_large_pair():
    ground, (r, c) = sd.Ground.grid(400, 331, metric="sqeuclidean"), images((400, 331), 2, 5)
    one, two = (sd.solve(r, c, ground, lam=0.05, tol=1e-4, workers=n) for n in (1, 2))
    assert one.value == two.value and one.marginal_error == two.marginal_error <= 1e-4
    rows = np.array([0, 1234, 132_399])  # by direct sums over all columns
    f, g = one.potentials
    exponents = 0.05 * (f[rows, None] + g - ground.block(rows))
    np.testing.assert_allclose(np.exp(exponents).sum(1), r[rows], rtol=1e-8, atol=1e-20)
    columns = np.flatnonzero(c)[[3, 999, -1]]
    sums = np.exp(0.05 * (f[:, None] + g[columns] - ground.block(None, columns))).sum(0)
    np.testing.assert_allclose(sums, c[columns], atol=1e-4)


def test_single_precision():
    ground, X = sd.Ground.grid(40, 30, metric="sqeuclidean"), images((40, 30), 2, 2)
    single = X.astype(np.float32)
    s = sd.solve(single[0], single[1], ground, lam=0.5)
    np.testing.assert_allclose(s.value, sd.distance(X[0], X[1], ground, lam=0.5), rtol=1e-3)
    assert sd.pairwise(single, ground=ground, lam=0.5).dtype == np.float32


def masses(d, rng):
    """Histograms of many kinds."""
    kind = rng.integers(5)
    if kind == 0:
        h = rng.dirichlet(np.ones(d))
    elif kind == 1:  # a few diracs
        h = np.bincount(rng.integers(d, size=rng.integers(1, 4)), minlength=d).astype(float)
    elif kind == 2:  # most of it next to nothing
        h = 10.0 ** rng.uniform(rng.choice([-30.0, -300.0]), 0, size=d)
    elif kind == 3:  # many bins without mass
        h = rng.random(d) * (rng.random(d) < 0.3)
        h[rng.integers(d)] += 1e-9
    else:
        h = np.exp(-(((np.arange(d) - rng.uniform(0, d)) / (0.1 * d + 1)) ** 2))
    return h / h.sum()


@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(75))
def test_random_grids_however_small(seed, monkeypatch):
    """Sides of one pixel, uneven spacings, hard masses: every number is that of its potentials."""
    nothing = dict.fromkeys(("sqeuclidean", "cityblock", "euclidean"), 0)
    monkeypatch.setattr("sinkdist.ground.ground.DENSE_UP_TO", nothing)
    monkeypatch.setattr("sinkdist.solvers.members.penalised._FEW_MOVES", 0)
    monkeypatch.setattr("sinkdist.solvers.members.penalised._FEW_IF_NARROW", 0)
    rng = np.random.default_rng([seed, 5])
    dim = int(rng.integers(1, 4))
    shape = tuple(map(int, rng.integers(1, [150, 20, 7][dim - 1], size=dim)))
    ground = sd.Ground.grid(
        *shape, metric=("sqeuclidean", "cityblock", "euclidean")[seed % 3],
        spacing=10 ** rng.uniform(-2, 2, size=dim) if rng.random() < 0.4 else 1.0,
    )  # fmt: skip
    if ground.max == 0.0:
        return
    ground = ground.scaled("max")
    M, d, lam = ground.block(), int(np.prod(shape)), 10 ** rng.uniform(-3, 4.5)
    r, c = masses(d, rng), masses(d, rng)
    options = {"iterations": 4} if seed % 5 == 0 else {"tol": 10 ** rng.uniform(-10, -3)}
    s = sd.solve(r, c, ground, lam=lam, **options, **({} if seed % 5 == 0 else {"max_iter": 200}))
    P = plan_of(s, M)
    error = np.abs(P.sum(1) - r).sum() + np.abs(P.sum(0) - c).sum()
    known = kernel_of(ground.pixels, lam).rounding  # is part of what is returned
    atol = 1e-13 + 4e-15 * lam + 1.01 * known
    np.testing.assert_allclose(s.marginal_error, error, rtol=1e-3, atol=atol)
    np.testing.assert_allclose(s.value, (P * M).sum(), rtol=1e-9, atol=1e-13)
    low, high = s.emd_bounds
    truth = sd.distance(r, c, M, lam=INF)
    assert low <= truth * (1 + 1e-12) + 1e-15 and truth <= high * (1 + 1e-12) + 1e-15
    assert np.isfinite([s.value, s.gap, s.entropy, s.alpha, *s.bracket]).all()


def test_a_blur_of_a_pixel_on_a_large_grid_is_meant():
    ground = sd.Ground.grid(60, 50, metric="sqeuclidean", spacing=1 / 60)
    r = np.full(3000, 1 / 3000)
    assert sd.distance(r, r, ground, reg=(1 / 60) ** 2, tol=1e-3) > 0.0  # warnings are errors
    with pytest.warns(sd.ScaleWarning):
        sd.distance(r, r, sd.Ground.grid(60, 50), lam=9.0, tol=1e-2)
