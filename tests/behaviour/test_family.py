"""The whole family behind the same verbs: the metric d_{M,alpha}, d^lam, and both limits."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse

import sinkdist as sd
from sinkdist.solution.status import Status
from tests import naive
from tests.problems import (
    digits,
    emd,
    grid_costs,
    plan_error,
    random_metric,
    simplex,
    sparse_histograms,
)

INF = float("inf")
TOL = 1e-6

#: Costs and two families of histograms.
FAMILIES = {
    "random metric": (random_metric(24, 0), simplex(5, 24, 1), simplex(5, 24, 2)),
    "grid, zero bins": (
        grid_costs(5, 5),
        sparse_histograms(5, 25, 3, 0.5),
        sparse_histograms(5, 25, 4, 0.5),
    ),
    "squares": (grid_costs(4, 5) ** 2, simplex(5, 20, 5), sparse_histograms(5, 20, 6, 0.6)),
    "rectangular": (
        np.random.default_rng(7).random((12, 17)),
        simplex(5, 12, 8),
        sparse_histograms(5, 17, 9, 0.6),
    ),
    "digits": (grid_costs(8, 8) / 4, digits(10)[:5], digits(10)[5:]),
    "line": (grid_costs(15), simplex(5, 15, 10), simplex(5, 15, 11)),
}
SHARES = [0.003, 0.1, 0.5, 0.9]  #: of the information at a large lam
UNIQUE = ["random metric", "rectangular"]  #: where only one plan is optimal for the exact distance


def entropy(h):
    h = np.asarray(h)[np.asarray(h) > 0]
    return float(-(h * np.log(h)).sum())


def information(P, r, c):
    """KL(P || r c^T)."""
    on = P > 0
    return float((P[on] * np.log(P[on] / np.outer(r, c)[on])).sum())


def exact_information(r, c, M):
    """Information of the plan that POT finds for the exact distance."""
    import ot

    rows, columns = r > 0, c > 0
    P = ot.emd(r[rows], c[columns], np.ascontiguousarray(M[np.ix_(rows, columns)]))
    return information(P, r[rows], c[columns])


def binding(r, c, M):
    """Information at a large lam: below this the constraint binds, whichever plans are optimal."""
    return sd.solve(r, c, M, lam=300 / np.median(M)).alpha


def pairs(names):
    for name in names:
        M, X, Y = FAMILIES[name]
        for k in range(2):
            yield pytest.param(M, X[k], Y[k], id=f"{name} {k}")


PAIRS = list(pairs(FAMILIES))


def proven(s, r, c, M, alpha):
    """Bounds on d_{M,alpha} from potentials and plan alone, by no code of the package's.

    Below: any f, g and lam are feasible for the dual. Above: the plan, rounded to the marginals and
    mixed with r c^T until it is inside the ball.
    """
    rows, columns = r > 0, c > 0
    f, g = s.potentials[0][rows], s.potentials[1][columns]
    a, b, costs = r[rows], c[columns], M[np.ix_(rows, columns)]
    P = np.exp(s.lam * (f[:, None] + g - costs))
    dual = f @ a + g @ b - (P.sum() - 1) / s.lam + (entropy(a) + entropy(b) - alpha) / s.lam
    G = np.array(naive.rounded(P.tolist(), a.tolist(), b.tolist()))
    product, least, most = np.outer(a, b), 0.0, 1.0
    for _ in range(60):
        share = (least + most) / 2
        inside = information(share * G + (1 - share) * product, a, b) <= alpha
        least, most = (share, most) if inside else (least, share)
    return dual, float(((least * G + (1 - least) * product) * costs).sum())


def assert_constrained(s, r, c, M, alpha, tol=TOL):
    """Everything that is promised for one pair under a constraint that binds."""
    assert s.status is Status.CONVERGED and s.solver == "constrained"
    assert 0 < s.lam < INF
    lower, upper = s.bracket
    rounding = 1e-13 * M.max()
    assert lower <= upper + rounding
    assert upper - lower <= tol * upper + rounding
    below, above = proven(s, r, c, M, alpha)
    assert max(below, 0) <= lower + tol * upper  # the value, which is inside, may lie a bit below
    assert upper <= above + tol * upper and above >= lower - rounding
    assert lower <= s.value <= upper
    # I = Phi - lam Phi', so the constraint is met as well as the value is known.
    assert abs(s.alpha - alpha) <= 3 * s.lam * upper * tol + 1e-12
    assert s.marginal_error <= tol
    np.testing.assert_allclose(plan_error(s, r, c), s.marginal_error, rtol=1e-6, atol=1e-12)
    assert s.plan.min() >= 0 and (s.plan > 0).any()
    assert (s.plan[r == 0] == 0).all() and (s.plan[:, c == 0] == 0).all()
    exact = emd(r, c, M)
    assert s.emd_bounds[0] - rounding <= exact <= s.emd_bounds[1] + rounding
    assert exact * (1 - tol) <= s.value <= (r @ M @ c) * (1 + tol)


# ------------------------------------------------------------------------ the hard constraint


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_the_constraint_is_met_and_the_value_is_proven(M, r, c, share):
    alpha = share * binding(r, c, M)
    assert_constrained(sd.solve(r, c, M, alpha=alpha), r, c, M, alpha)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize(("M", "r", "c"), PAIRS[::2])
def test_any_tolerance(M, r, c, tol):
    alpha = 0.4 * binding(r, c, M)
    s = sd.solve(r, c, M, alpha=alpha, tol=tol)
    assert_constrained(s, r, c, M, alpha, tol)
    assert sd.distance(r, c, M, alpha=alpha, tol=tol) == pytest.approx(s.value, rel=2 * tol)


@pytest.mark.parametrize(("M", "r", "c"), PAIRS[::2])
def test_it_is_the_penalised_distance_at_the_lam_that_was_found(M, r, c):
    s = sd.solve(r, c, M, alpha=0.3 * binding(r, c, M), tol=1e-8)
    other = sd.solve(r, c, M, lam=s.lam, tol=1e-9)
    assert other.value == pytest.approx(s.value, rel=1e-6)
    assert other.alpha == pytest.approx(s.alpha, rel=1e-5)
    assert other.entropy == pytest.approx(entropy(r) + entropy(c) - s.alpha, rel=1e-6)


@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_monotone_and_convex_in_alpha(M, r, c):
    alphas = np.array([0.0, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95]) * binding(r, c, M)
    alphas = np.append(alphas, 1.1 * exact_information(r, c, M))
    values = np.array([sd.distance(r, c, M, alpha=a, tol=1e-9) for a in alphas])
    assert (np.diff(values) <= 1e-8 * values[0]).all()
    assert (np.diff(values[:8]) < 0).all()  # strictly, while the constraint binds
    slopes = np.diff(values) / np.diff(alphas)
    assert (np.diff(slopes) >= -1e-7 * values[0] / alphas[1]).all()
    assert values[0] == pytest.approx(r @ M @ c, rel=1e-12)
    assert values[-1] == pytest.approx(emd(r, c, M), rel=1e-9)


@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_entropy_falls_and_information_grows_with_lam(M, r, c):
    lams = np.array([0, 0.1, 1, 3, 10, 30, INF]) / np.median(M)
    solutions = [sd.solve(r, c, M, lam=lam, tol=1e-9) for lam in lams]
    assert (np.diff([s.entropy for s in solutions]) <= 1e-8).all()
    assert (np.diff([s.alpha for s in solutions]) >= -1e-8).all()
    assert (np.diff([s.value for s in solutions]) <= 1e-8 * M.max()).all()
    assert solutions[0].entropy == pytest.approx(entropy(r) + entropy(c), rel=1e-12)


def uneven(seed):
    """A few bins, masses of very different sizes, a radius anywhere in its range."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    M = grid_costs(d) if seed % 2 else np.array(random_metric(d, seed))
    r, c = rng.dirichlet(np.full(d, rng.choice([0.1, 0.5, 2])), 2) + 1e-12
    r, c = r / r.sum(), c / c.sum()
    return (
        M,
        r,
        c,
        min(entropy(r), entropy(c)) * rng.choice([rng.random(), 10 ** -rng.uniform(0, 6)]),
    )


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
def test_what_says_converged_is_in_its_bracket(tol):
    """Three hundred uneven pairs; the bracket is checked against the one for a finer tolerance."""
    for seed in range(300):
        M, r, c, alpha = uneven(seed)
        s = sd.solve(r, c, M, alpha=alpha, tol=tol)
        lower, upper = s.bracket
        rounding = 1e-12 * M.max()
        assert s.converged, seed
        assert lower <= upper + rounding and upper - lower <= tol * upper + rounding, seed
        assert lower - tol * upper <= s.value + rounding, seed
        assert s.value <= upper + tol * upper + rounding, seed
        assert s.marginal_error <= tol, seed
        assert s.value >= emd(r, c, M) * (1 - 2 * tol) - rounding, seed
        assert abs(sd.distance(r, c, M, alpha=alpha, tol=tol) - s.value) <= 3 * tol * upper, seed
        finer = sd.solve(r, c, M, alpha=alpha, tol=1e-9).bracket
        assert lower <= finer[1] + rounding and finer[0] <= upper + rounding, seed


# ---------------------------------------------------------------------------------- the limits


@pytest.mark.parametrize("strength", [{"lam": INF}, {"reg": 0}, {"alpha": INF}], ids=str)
@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_one_limit_is_the_exact_distance(M, r, c, strength):
    s, exact = sd.solve(r, c, M, **strength), emd(r, c, M)
    assert s.status is Status.CONVERGED and s.solver in ("simplex", "line") and s.lam == INF
    assert s.value == sd.distance(r, c, M, **strength) == pytest.approx(exact, rel=1e-11)
    P, (f, g) = s.plan, s.potentials
    assert P.min() >= 0 and plan_error(s, r, c) <= 1e-14 and s.marginal_error <= 1e-14
    assert (P * M).sum() == pytest.approx(exact, rel=1e-11)
    rows, columns = r > 0, c > 0
    slack = (M - f[:, None] - g)[np.ix_(rows, columns)]
    assert slack.min() >= -1e-12 * M.max()  # feasible for the dual
    assert f[rows] @ r[rows] + g[columns] @ c[columns] == pytest.approx(exact, rel=1e-9)
    assert (slack[P[np.ix_(rows, columns)] > 0] <= 1e-9 * M.max()).all()  # complementary
    for lower, upper in (s.bracket, s.emd_bounds):
        assert lower - 1e-12 <= exact <= upper + 1e-12 and upper - lower <= 1e-9 * exact
    assert 0 <= s.gap <= 1e-9 * exact and s.objective == pytest.approx(s.value, rel=1e-14)
    assert s.alpha == pytest.approx(information(P, r, c), rel=1e-9)
    assert s.entropy == pytest.approx(entropy(P), rel=1e-9)


@pytest.mark.parametrize("strength", [{"lam": 0}, {"reg": INF}, {"alpha": 0}], ids=str)
@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_the_other_limit_is_the_independence_table(M, r, c, strength):
    s, mean = sd.solve(r, c, M, **strength), r @ M @ c
    assert s.status is Status.CONVERGED and s.solver == "independence" and s.lam == 0
    assert s.value == pytest.approx(mean, rel=1e-13)
    assert sd.distance(r, c, M, **strength) == pytest.approx(mean, rel=1e-13)
    np.testing.assert_allclose(s.plan, np.outer(r, c), rtol=1e-15)
    assert s.bracket == pytest.approx((mean, mean), rel=1e-13) and s.gap == 0
    assert s.alpha <= 1e-12 and s.entropy == pytest.approx(entropy(r) + entropy(c), rel=1e-12)
    assert s.objective == -INF
    lower, upper = s.emd_bounds
    assert lower - 1e-12 <= emd(r, c, M) <= upper + 1e-12 and upper <= mean + 1e-12
    assert sd.distance(r, c, M, lam=1e-9, tol=1e-12) == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_limits_for_all_pairs(name):
    M, X, Y = FAMILIES[name]
    exact = [[emd(x, y, M) for y in Y] for x in X]
    for strength in ({"lam": INF}, {"alpha": INF}, {"reg": 0}):
        np.testing.assert_allclose(sd.pairwise(X, Y, ground=M, **strength), exact, rtol=1e-9)
    for strength in ({"lam": 0}, {"alpha": 0}, {"reg": INF}):
        np.testing.assert_allclose(sd.pairwise(X, Y, ground=M, **strength), X @ M @ Y.T, rtol=1e-12)


@pytest.mark.parametrize("more", [1.001, 1.1, 3.0])
@pytest.mark.parametrize(("M", "r", "c"), list(pairs(UNIQUE)))
def test_a_vacuous_constraint_gives_the_exact_distance_and_says_so(M, r, c, more):
    alpha = more * exact_information(r, c, M)
    s = sd.solve(r, c, M, alpha=alpha)
    assert s.lam == INF and s.solver in ("simplex", "line") and s.converged
    assert s.value == pytest.approx(emd(r, c, M), rel=1e-11)
    assert s.alpha <= alpha * (1 + 1e-12) and plan_error(s, r, c) <= 1e-14
    assert sd.distance(r, c, M, alpha=alpha) == s.value
    assert s.bracket[1] - s.bracket[0] <= TOL * s.value


@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_more_information_than_a_histogram_has_is_vacuous(M, r, c):
    for alpha in (min(entropy(r), entropy(c)), 20.0, 1e300):
        s = sd.solve(r, c, M, alpha=alpha)
        assert s.lam == INF and s.converged
        assert s.value == sd.distance(r, c, M, lam=INF) == sd.distance(r, c, M, alpha=alpha)


@pytest.mark.parametrize("nearly", [0.98, 0.999, 1 - 1e-6, 1 - 1e-10, 1, 1 + 1e-10, 1 + 1e-6])
@pytest.mark.parametrize(("M", "r", "c"), PAIRS[::2])
def test_constraints_that_are_nearly_vacuous(M, r, c, nearly):
    """Lam grows without bound on the way, or the ball holds another optimal plan."""
    alpha, exact = nearly * exact_information(r, c, M), emd(r, c, M)
    s = sd.solve(r, c, M, alpha=alpha)
    assert s.converged
    assert s.alpha <= alpha + (1e-12 if s.lam == INF else 3 * s.lam * s.value * TOL)
    assert exact * (1 - TOL) <= s.value <= exact * 1.02
    assert s.bracket[1] - s.bracket[0] <= TOL * s.bracket[1]
    if nearly >= 1 - 1e-6:
        assert s.value == pytest.approx(exact, rel=1e-4)
    if nearly > 1:
        assert s.value == pytest.approx(exact, rel=TOL)
    assert sd.distance(r, c, M, alpha=alpha) == pytest.approx(s.value, rel=2 * TOL)


@pytest.mark.parametrize("alpha", [1e-3, 1e-5, 1e-8, 1e-10])
@pytest.mark.parametrize(("M", "r", "c"), PAIRS)
def test_a_tiny_ball_gives_the_expansion_at_independence(M, r, c, alpha):
    """d_{M,alpha} = r^T M c - sigma sqrt(2 alpha) + O(alpha), sigma of the doubly centred costs."""
    mean = r @ M @ c
    centred = M - (M @ c)[:, None] - r @ M + mean
    sigma = np.sqrt(r @ centred**2 @ c)
    s = sd.solve(r, c, M, alpha=alpha)
    expected = mean - sigma * np.sqrt(2 * alpha)
    assert s.value == pytest.approx(expected, abs=TOL * mean + 5 * M.max() * alpha)
    assert s.converged and s.lam == pytest.approx(np.sqrt(2 * alpha) / sigma, rel=0.2)
    lower, upper = s.bracket
    assert lower <= upper and upper - lower <= TOL * upper


@pytest.mark.parametrize("alpha", [1e-12, 1e-16, 1e-100, 1e-300, 5e-324])
def test_balls_smaller_than_rounding_are_the_independence_table(alpha):
    M, X, Y = FAMILIES["random metric"]
    s, mean = sd.solve(X[0], Y[0], M, alpha=alpha), X[0] @ M @ Y[0]
    assert s.converged and s.value == pytest.approx(mean, rel=1e-5)
    lower, upper = s.bracket
    assert lower <= upper <= mean * (1 + 1e-12) and lower >= mean * (1 - 1e-5)
    assert sd.distance(X[0], Y, M, alpha=alpha) == pytest.approx(X[0] @ M @ Y.T, rel=1e-5)


# ------------------------------------------------------------------------------ special pairs


@pytest.mark.parametrize(
    "strength", [{"alpha": a} for a in (0, 1e-9, 0.3, 5, INF)] + [{"lam": INF}, {"lam": 0}], ids=str
)
def test_a_dirac_has_one_coupling(strength):
    M, X, _ = FAMILIES["grid, zero bins"]
    dirac, other = np.eye(25)[3], np.eye(25)[17]
    for r, c, value in [
        (dirac, X[0], M[3] @ X[0]),
        (X[0], dirac, M[3] @ X[0]),
        (dirac, other, M[3, 17]),
        (dirac, dirac, 0.0),
    ]:
        s = sd.solve(r, c, M, **strength)
        assert s.converged and s.value == pytest.approx(value, rel=1e-12)
        assert sd.distance(r, c, M, **strength) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(s.plan, np.outer(r, c), atol=1e-15)
        assert s.alpha <= 1e-12
        assert s.bracket == pytest.approx((value, value), abs=1e-12)
    D = sd.pairwise(np.array([dirac, other, X[0]]), ground=M, **strength)
    assert D[0, :2] == pytest.approx([0, M[3, 17]]) and D[0, 2] == pytest.approx(M[3] @ X[0])


@pytest.mark.parametrize("name", ["random metric", "grid, zero bins", "squares", "line"])
def test_a_histogram_and_itself(name):
    M, X, _ = FAMILIES[name]
    for x in X[:3]:
        values = [sd.distance(x, x, M, alpha=a) for a in (0, 0.1, 0.5, 1)]
        assert values == sorted(values, reverse=True) and values[1] > values[-1] > 0
        assert sd.distance(x, x, M, lam=INF) == pytest.approx(0, abs=1e-15)
        s = sd.solve(x, x, M, alpha=entropy(x))  # what the diagonal plan needs, up to rounding
        assert s.lam == INF and s.value == pytest.approx(0, abs=1e-15) and s.converged
        np.testing.assert_allclose(s.plan, np.diag(x), atol=1e-15)
        for strength in ({"alpha": 0.1}, {"alpha": 0}, {"lam": 3}, {"lam": INF}):
            assert sd.distance(x, x, M, coincidence=True, **strength) == 0
            s = sd.solve(x, x, M, coincidence=True, **strength)
            assert s.value == 0 and s.converged


@pytest.mark.parametrize("less", [1e-2, 1e-4])
def test_almost_all_the_information_of_identical_histograms(less):
    """The value is far below the costs, and still known to a relative tolerance."""
    M = grid_costs(4, 4)
    x = np.full(16, 1 / 16)
    s = sd.solve(x, x, M, alpha=np.log(16) - less)
    lower, upper = s.bracket
    assert s.converged and 0 < lower <= upper <= less and upper - lower <= TOL * upper


@pytest.mark.parametrize(
    "strength", [{"alpha": 0.4}, {"lam": INF}, {"lam": 0}, {"lam": 5}], ids=str
)
def test_coincidence_is_about_equal_histograms_only(strength):
    M, X, Y = FAMILIES["grid, zero bins"]
    A, B = np.concatenate([X, Y[:1]]), np.concatenate([Y, X[1:3]])
    plain = sd.pairwise(A, B, ground=M, **strength)
    marked = sd.pairwise(A, B, ground=M, coincidence=True, **strength)
    equal = (A[:, None] == B).all(axis=-1)
    assert equal.sum() == 3 and (marked[equal] == 0).all()
    np.testing.assert_array_equal(marked[~equal], plain[~equal])
    family = sd.pairwise(A, ground=M, coincidence=True, **strength)
    assert (family.diagonal() == 0).all() and (family[~np.eye(len(A), dtype=bool)] > 0).all()
    s = sd.solve(A, B[: len(A)], M, coincidence=True, **strength)
    assert (s.value[[k for k in range(len(A)) if equal[k, k]]] == 0).all()


@pytest.mark.parametrize("metric", ["cityblock", "euclidean"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_degenerate_optima_on_grids(metric, seed):
    """Many plans are optimal; the ball may hold one of them, but not the vertex a simplex finds."""
    ground = sd.Ground.grid(4, 4, metric=metric)
    rng = np.random.default_rng(seed)
    r, c = (rng.integers(0, 4, 16) + np.eye(16, dtype=int)[k] for k in (0, 5))
    r, c = r / r.sum(), c / c.sum()
    exact = emd(r, c, ground.matrix)
    least = sd.solve(r, c, ground, lam=3e3, tol=1e-9).alpha  # of the optimal plan with most entropy
    vertex = sd.solve(r, c, ground, lam=INF).alpha
    for share in (0.05, 0.5, 0.95):
        alpha = (1 - share) * least + share * vertex
        s = sd.solve(r, c, ground, alpha=alpha)
        assert s.converged and s.value == pytest.approx(exact, rel=2e-6)
        assert s.alpha <= alpha * (1 + 1e-4)  # the plan returned is in the ball
        lower, upper = s.bracket
        assert lower <= exact * (1 + 1e-9) and upper >= exact * (1 - 1e-9)
        assert upper - lower <= TOL * upper


def test_costs_that_leave_no_choice():
    """M_ij = a_i + b_j costs the same along every coupling, whatever the ball."""
    r, c = simplex(1, 7, 5)[0], simplex(1, 11, 6)[0]
    rng = np.random.default_rng(4)
    a, b = rng.random(7), rng.random(11)
    for M, value in [
        (a[:, None] + b, a @ r + b @ c),
        (np.full((7, 11), 2.5), 2.5),
        (np.zeros((7, 11)), 0.0),
    ]:
        for alpha in (0, 1e-6, 0.3, 1.5, INF):
            s = sd.solve(r, c, M, alpha=alpha)
            assert s.converged and s.value == pytest.approx(value, rel=1e-9)
            assert s.bracket == pytest.approx((value, value), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1e6, 1e30])
def test_units_of_cost_do_not_matter(scale):
    M, X, Y = FAMILIES["random metric"]
    for alpha in (1e-4, 0.5, 1.5, INF, 0):
        one = sd.solve(X[0], Y[0], M, alpha=alpha)
        other = sd.solve(X[0], Y[0], M * scale, alpha=alpha)
        assert other.converged and other.value == pytest.approx(one.value * scale, rel=1e-6)
        assert other.bracket == pytest.approx([scale * b for b in one.bracket], rel=1e-5)
        if 0 < alpha < INF:
            assert other.lam * scale == pytest.approx(one.lam, rel=1e-2)


# ------------------------------------------------------------------------------------ families


KINDS = [{"alpha": 1e-3}, {"alpha": 0.4}, {"alpha": 1.2}, {"alpha": 9}, {"lam": INF}, {"lam": 0}]


@pytest.mark.parametrize("strength", KINDS, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_many_pairs_are_many_single_pairs(name, strength):
    M, X, Y = FAMILIES[name]
    alone = np.array([[sd.distance(x, y, M, **strength) for y in Y] for x in X])
    np.testing.assert_allclose(sd.pairwise(X, Y, ground=M, **strength), alone, rtol=1e-12)
    np.testing.assert_allclose(sd.distance(X[1], Y, M, **strength), alone[1], rtol=1e-12)
    np.testing.assert_allclose(sd.distance(X, Y[2], M, **strength), alone[:, 2], rtol=1e-12)
    many = sd.solve(X, Y, M, **strength)
    np.testing.assert_allclose(many.value, alone.diagonal(), rtol=2 * TOL)
    for k in range(len(X)):
        one = sd.solve(X[k], Y[k], M, **strength)
        np.testing.assert_allclose(many.value[k], one.value, rtol=1e-12)
        np.testing.assert_allclose(many.plan[k], one.plan, rtol=1e-9, atol=1e-15)
        assert np.broadcast_to(many.lam, 5)[k] == one.lam and many.solver[k] == one.solver
        for a, b in [
            (many.alpha, one.alpha),
            (many.entropy, one.entropy),
            (many.gap, one.gap),
            (many.bracket[0], one.bracket[0]),
            (many.bracket[1], one.bracket[1]),
            (many.emd_bounds[0], one.emd_bounds[0]),
        ]:
            np.testing.assert_allclose(a[k], b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("strength", KINDS, ids=str)
def test_one_family_is_mirrored(strength):
    M, X, _ = FAMILIES["digits"]
    D = sd.pairwise(X, ground=M, **strength)
    np.testing.assert_allclose(D, D.T, rtol=1e-12)
    np.testing.assert_allclose(D, sd.pairwise(X, X.copy(), ground=M, **strength), rtol=3e-6)


@pytest.mark.parametrize("strength", KINDS, ids=str)
def test_threads_change_nothing(strength):
    M, X, Y = FAMILIES["digits"]
    one, two = (sd.pairwise(X, Y, ground=M, workers=n, **strength) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    one, two = (sd.solve(X, Y, M, workers=n, **strength) for n in (1, 2))
    np.testing.assert_array_equal(one.value, two.value)
    np.testing.assert_array_equal(one.potentials[0], two.potentials[0])


@pytest.mark.parametrize("strength", KINDS, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_float32(name, strength):
    M, X, Y = FAMILIES[name]
    D = sd.pairwise(X.astype("f4"), Y.astype("f4"), ground=M, **strength)
    assert D.dtype == np.float32
    truth = sd.pairwise(X, Y, ground=M, **strength)
    np.testing.assert_allclose(D, truth, rtol=3e-4, atol=1e-6 * M.max())
    for r, c in zip(X.astype("f4"), Y.astype("f4"), strict=True):
        s = sd.solve(r, c, M, **strength)
        lower, upper = s.bracket
        rounding = 2e-7 * M.max()  # one unit in the last place of the masses
        a, b = r.astype(float), c.astype(float)
        exactly = sd.distance(a / a.sum(), b / b.sum(), M, tol=1e-9, **strength)
        assert s.converged and s.value == pytest.approx(exactly, rel=2e-4, abs=1e-6 * M.max())
        assert lower <= exactly + rounding and exactly <= upper + rounding
        assert upper - lower <= 1e-4 * upper + rounding


@pytest.mark.parametrize("strength", KINDS, ids=str)
def test_empty_histograms(strength):
    M, X, Y = FAMILIES["grid, zero bins"]
    X = X.copy()
    X[2] = 0
    D = sd.pairwise(X, Y, ground=M, on_empty="nan", **strength)
    assert np.isnan(D[2]).all() and np.isfinite(np.delete(D, 2, 0)).all()
    D = sd.pairwise(Y, X, ground=M, on_empty="nan", coincidence=True, **strength)
    assert np.isnan(D[:, 2]).all() and np.isfinite(np.delete(D, 2, 1)).all()
    s = sd.solve(X, Y, M, on_empty="nan", **strength)
    assert s.status[2] == Status.EMPTY and np.isnan(s.value[2])
    for number in (s.alpha, s.entropy, s.gap, *s.bracket, *s.emd_bounds):
        assert np.isnan(number[2]) and np.isfinite(np.delete(number, 2)).all()
    assert np.isnan(sd.distance(X[2], Y[0], M, on_empty="nan", **strength))
    with pytest.raises(ValueError, match="Row 2 of 'X' has no mass"):
        sd.pairwise(X, ground=M, **strength)


@pytest.mark.parametrize("strength", KINDS, ids=str)
def test_families_without_rows(strength):
    M, X, Y = FAMILIES["line"]
    assert sd.pairwise(X[:0], Y, ground=M, **strength).shape == (0, 5)
    assert sd.pairwise(X, Y[:0], ground=M, **strength).shape == (5, 0)
    assert sd.distance(X[0], Y[:0], M, **strength).shape == (0,)
    s = sd.solve(X[:0], Y[:0], M, **strength)
    assert s.value.shape == s.alpha.shape == s.bracket[0].shape == (0,)


@pytest.mark.parametrize("strength", KINDS, ids=str)
def test_sparse_families(strength):
    M, X, Y = FAMILIES["grid, zero bins"]
    truth = sd.pairwise(X, Y, ground=M, **strength)
    A, B = sparse.csr_array(X), sparse.csr_array(Y)
    np.testing.assert_allclose(sd.pairwise(A, B, ground=M, **strength), truth, rtol=1e-9)
    np.testing.assert_allclose(sd.distance(X[0], B, M, **strength), truth[0], rtol=1e-9)


@pytest.mark.parametrize("strength", [*KINDS, {"lam": 4}], ids=str)
def test_solutions_survive_pickling(strength):
    _, X, Y = FAMILIES["grid, zero bins"]
    for r, c in ((X[0], Y[0]), (X, Y)):
        s = sd.solve(r, c, sd.Ground.grid(5, 5), **strength)
        again = pickle.loads(pickle.dumps(s))
        assert repr(again) == repr(s)
        for attribute in (
            "value",
            "lam",
            "alpha",
            "entropy",
            "gap",
            "bracket",
            "emd_bounds",
            "plan",
        ):
            np.testing.assert_array_equal(getattr(again, attribute), getattr(s, attribute))


@pytest.mark.parametrize("strength", [{"alpha": 0.4}, {"lam": INF}, {"lam": 0}], ids=str)
def test_progress_counts_all_pairs(strength):
    M, X, Y = FAMILIES["line"]
    seen = []
    D = sd.pairwise(X, Y, ground=M, progress=seen.append, **strength)
    np.testing.assert_array_equal(D, sd.pairwise(X, Y, ground=M, **strength))
    if strength != {"lam": 0}:  # one matrix product has nothing to report
        assert seen[-1].done == seen[-1].total == 25


@pytest.mark.parametrize("max_iter", [1, 5, 20])
def test_a_search_that_is_cut_short_warns_and_its_bracket_holds(max_iter):
    M, X, Y = FAMILIES["random metric"]
    truth = sd.solve(X[0], Y[0], M, alpha=1.5, tol=1e-8)
    with pytest.warns(sd.ConvergenceWarning, match="did not reach tol=1e-09"):
        s = sd.solve(X[0], Y[0], M, alpha=1.5, tol=1e-9, max_iter=max_iter)
    assert s.status is Status.MAX_ITER
    lower, upper = s.bracket
    assert lower <= truth.bracket[1] and upper >= truth.bracket[0]
    with pytest.warns(sd.ConvergenceWarning, match="5 of 5 pairs did not reach tol=1e-09"):
        sd.distance(X[0], Y, M, alpha=1.5, tol=1e-9, max_iter=max_iter)


@pytest.mark.parametrize("stop", [{"tol": 1e-1}, {"tol": 1e-9}, {"iterations": 3}], ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_bracket_of_a_penalised_distance_holds(name, stop):
    M, X, Y = FAMILIES[name]
    lam = 8 / np.median(M)
    truth = sd.solve(X, Y, M, lam=lam, tol=1e-12, max_iter=100_000).value
    lower, upper = sd.solve(X, Y, M, lam=lam, **stop).bracket
    assert (lower <= truth * (1 + 1e-10)).all() and (truth <= upper * (1 + 1e-10)).all()
    if stop.get("tol") == 1e-9:
        assert (upper - lower <= 1e-3 * upper).all()
