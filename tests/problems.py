"""Problems for the tests: some whose answer is known in closed form, and families to draw from."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

import sinkdist as sd
from sinkdist.solution.status import Status


@dataclass(frozen=True)
class Problem:
    """A pair, a ground, a lam, and the exact distance ``<P, M>``."""

    r: np.ndarray
    c: np.ndarray
    M: np.ndarray
    lam: float
    value: float


# ------------------------------------------------------------------------------- exact answers
#
# Each takes L, which is lam times the largest cost, so that one table serves every strength.


def two_bin_value(a, b, M, lam):
    """<P, M> for the histograms (a, 1-a), (b, 1-b): the smaller root of a quadratic in P_11."""
    e = math.exp(-lam * (M[0, 1] + M[1, 0] - M[0, 0] - M[1, 1]))
    B = a + b + e * (1 - a - b)
    p = 2 * a * b / (B + math.sqrt(B * B - 4 * (1 - e) * a * b))
    P = np.array([[p, a - p], [b - p, 1 - a - b + p]])
    return float((P * M).sum())


def _two_bins(a, b, M):
    M = np.array(M, float)

    def make(L):
        lam = L / M.max()
        return Problem(
            np.array([a, 1 - a]), np.array([b, 1 - b]), M, lam, two_bin_value(a, b, M, lam)
        )

    return make


def _diracs(L):
    M = grid_costs(4, 4)
    r, c = np.zeros(16), np.zeros(16)
    r[2] = c[13] = 1.0
    return Problem(r, c, M, L / M.max(), M[2, 13])


def _same_dirac(L):
    M = grid_costs(3, 3)
    r = np.eye(9)[4]
    return Problem(r, r, M, L / M.max(), 0.0)


def _dirac_to_all(L):
    M = random_metric(12, seed=1)
    c = simplex(1, 12, seed=2)[0]
    return Problem(np.eye(12)[5], c, M, L / M.max(), float(M[5] @ c))


def _one_bin(L):
    return Problem(np.ones(1), np.ones(1), np.array([[0.7]]), L / 0.7, 0.7)


def _uniform_cost(L):
    r, c = simplex(2, 10, seed=3)
    return Problem(r, c, np.full((10, 10), 2.5), L / 2.5, 2.5)


def _separable_cost(L):
    """M_ij = a_i + b_j costs the same along every plan; rectangular."""
    rng = np.random.default_rng(4)
    a, b = rng.random(7), rng.random(11)
    r, c = simplex(1, 7, seed=5)[0], simplex(1, 11, seed=6)[0]
    M = a[:, None] + b
    return Problem(r, c, M, L / M.max(), float(a @ r + b @ c))


def _circle(L):
    """Uniform histograms on a cycle: u and v are constant, P is K over its sum."""
    d = 13
    steps = np.arange(d)
    M = np.minimum(abs(steps[:, None] - steps), d - abs(steps[:, None] - steps)).astype(float)
    lam = L / M.max()
    K = np.exp(-lam * M[0])
    uniform = np.full(d, 1 / d)
    return Problem(uniform, uniform, M, lam, float(M[0] @ K / K.sum()))


def _permutation(L):
    """Free along one permutation, cost 1 elsewhere, uniform histograms."""
    d = 9
    M = np.ones((d, d))
    M[np.arange(d), np.random.default_rng(7).permutation(d)] = 0.0
    others = (d - 1) * math.exp(-L)
    return Problem(np.full(d, 1 / d), np.full(d, 1 / d), M, L, others / (1 + others))


def _cube(sides, identical, padded):
    """Product histograms on a grid of side 2 in several dimensions, costs summed over the axes.

    The plan is the product of the plans on each axis, so the distance is a sum of two-bin ones.
    """

    def make(L):
        rng = np.random.default_rng(8)
        M = sd.Ground.grid(*[2] * sides, metric="cityblock").matrix
        lam = L / M.max()
        r, c, value = np.ones(1), np.ones(1), 0.0
        for _ in range(sides):
            a, b = rng.uniform(0.1, 0.9, 2)
            b = a if identical else b
            r, c = np.kron(r, [a, 1 - a]), np.kron(c, [b, 1 - b])
            value += two_bin_value(a, b, np.array([[0.0, 1.0], [1.0, 0.0]]), lam)
        if padded:  # bins without mass on either side, at other places, with costs of their own
            d = M.shape[0]
            rows, columns = (np.sort(rng.permutation(d + 9)[:d]) for _ in range(2))
            wide = rng.uniform(0, M.max(), (d + 9, d + 9))
            wide[np.ix_(rows, columns)] = M
            M, r0, c0 = wide, r, c
            r, c = np.zeros(d + 9), np.zeros(d + 9)
            r[rows], c[columns] = r0, c0
        return Problem(r, c, np.array(M), lam, value)

    return make


EXACT = {
    "two bins": _two_bins(0.3, 0.55, [[0, 1], [1, 0]]),
    "two bins, asymmetric": _two_bins(0.2, 0.9, [[0.1, 1.0], [0.6, 0.3]]),
    "two bins, uneven": _two_bins(1e-7, 0.5, [[0, 1], [1, 0]]),
    "two identical bins": _two_bins(0.35, 0.35, [[0, 1], [1, 0]]),
    "diracs": _diracs,
    "one dirac twice": _same_dirac,
    "dirac to all": _dirac_to_all,
    "one bin": _one_bin,
    "uniform cost": _uniform_cost,
    "separable cost": _separable_cost,
    "circle": _circle,
    "permutation": _permutation,
    "cube": _cube(5, identical=False, padded=False),
    "cube, identical": _cube(5, identical=True, padded=False),
    "cube, zero bins": _cube(5, identical=False, padded=True),
}


# ----------------------------------------------------------------------------------- families


def simplex(n, d, seed):
    """n histograms uniform on the simplex."""
    weights = np.random.default_rng([seed, d]).exponential(size=(n, d))
    return weights / weights.sum(axis=1, keepdims=True)


def sparse_histograms(n, d, seed, density=0.3):
    """n histograms with most bins empty; every one has some mass."""
    rng = np.random.default_rng([seed, d, n])
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < density)
    X[np.arange(n), rng.integers(0, d, n)] += 1.0
    return X / X.sum(axis=1, keepdims=True)


def random_metric(d, seed):
    """The paper's section 5.3: d Gaussian points in dimension d/10, distances over their median."""
    points = np.random.default_rng([seed, d]).standard_normal((d, max(2, d // 10)))
    M = cdist(points, points)
    return M / np.median(M)


def grid_costs(*shape):
    return np.array(sd.Ground.grid(*shape).matrix)


def digits(n=None):
    """scikit-learn's digits as histograms on 8 x 8 pixels; a third of the bins are empty."""
    from sklearn.datasets import load_digits

    ink = load_digits().data[:n]
    return ink / ink.sum(axis=1, keepdims=True)


def mnist_20(folder, n):
    """The first n training digits of MNIST, each bounding box centred in 20 x 20."""
    import gzip

    with gzip.open(folder / "mnist" / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(16 + n * 784), np.uint8)[16:].reshape(n, 28, 28)
    out = np.zeros((n, 20, 20))
    for image, place in zip(images, out, strict=True):
        rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        box = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        top, left = (20 - box.shape[0]) // 2, (20 - box.shape[1]) // 2
        place[top : top + box.shape[0], left : left + box.shape[1]] = box
    X = out.reshape(n, 400)
    return X / X.sum(axis=1, keepdims=True)


# ----------------------------------------------------------------------------------- judgement


def emd(r, c, M):
    """The exact distance, by POT's network simplex on the bins with mass."""
    import ot

    r, c, M = (np.asarray(x, float) for x in (r, c, M))
    rows, columns = r > 0, c > 0
    r, c = r[rows] / r[rows].sum(), c[columns] / c[columns].sum()
    return float(
        ot.emd2(r, c, np.ascontiguousarray(M[np.ix_(rows, columns)]), numItermax=10_000_000)
    )


def steps_by_logarithms(M, lam, r, c, n):
    """Algorithm 1 with u and v as logarithms, for where exp(-lam M) underflows."""
    rows, columns = r > 0, c > 0
    M, r, c = M[np.ix_(rows, columns)], np.log(r[rows]), np.log(c[columns])
    u = np.full(r.size, np.log(r.size))
    for _ in range(n):
        v = c - np.logaddexp.reduce(u[:, None] - lam * M, axis=0)
        u = r - np.logaddexp.reduce(v - lam * M, axis=1)
    v = c - np.logaddexp.reduce(u[:, None] - lam * M, axis=0)
    return float((np.exp(u[:, None] + v - lam * M) * M).sum())


def solved(r, c, M, **options):
    """`solve` with its promise checked: a warning exactly when a pair stopped short, never NaN."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", sd.ScaleWarning)
        s = sd.solve(r, c, M, **options)
    kinds = [w.category for w in caught]
    status = np.atleast_1d(s.status)
    short = (status == Status.MAX_ITER) | (status == Status.STALLED)
    assert kinds == [sd.ConvergenceWarning] * bool(short.any()), [str(w.message) for w in caught]
    assert np.isfinite(s.value).all() and (np.asarray(s.value) >= 0).all()
    assert np.isfinite(s.marginal_error).all()
    for number in (s.entropy, s.alpha, s.objective, s.gap, *s.emd_bounds):
        assert np.isfinite(number).all()
    return s


def plan_error(s, r, c):
    """The L1 marginal error of the plan itself, recomputed from the potentials."""
    P = s.plan
    return abs(P.sum(axis=-1) - r).sum(axis=-1) + abs(P.sum(axis=-2) - c).sum(axis=-1)
