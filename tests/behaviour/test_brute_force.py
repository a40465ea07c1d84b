"""d_{M,alpha} against a general convex solver that knows nothing of scaling, potentials or lam."""

import numpy as np
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import sinkdist as sd
from tests.problems import grid_costs, random_metric, simplex, sparse_histograms

#: Costs and two histograms, of at most 8 bins.
SMALL = {
    "two bins": (np.array([[0.0, 1.0], [1.0, 0.0]]), [0.3, 0.7], [0.55, 0.45]),
    "random metric": (random_metric(6, 0), *simplex(2, 6, 1)),
    "eight bins": (random_metric(8, 2), *simplex(2, 8, 3)),
    "grid": (grid_costs(2, 4), *simplex(2, 8, 4)),
    "squares": (grid_costs(6) ** 2, *simplex(2, 6, 5)),
    "rectangular": (
        np.random.default_rng(6).random((4, 8)),
        simplex(1, 4, 7)[0],
        simplex(1, 8, 8)[0],
    ),
    "zero bins": (grid_costs(2, 4), *sparse_histograms(2, 8, 12, 0.6)),
    "the same twice": (random_metric(7, 9), *np.repeat(simplex(1, 7, 10), 2, axis=0)),
}
SHARES = [1e-4, 0.03, 0.3, 0.7, 0.95]


STEPS_USED_UP = 9  #: what SLSQP calls that


@threadpool_limits.wrap(limits=1)  # many tiny factorisations
def least_cost(M, r, c, alpha):
    """min <P, M> over couplings with KL(P || r c^T) <= alpha, by sequential quadratic programming.

    The unknowns are ratios P / r c^T, all 1 at the start.
    """
    rows, columns = r > 0, c > 0
    r, c, M = r[rows], c[columns], M[np.ix_(rows, columns)]
    product = np.outer(r, c).ravel()
    m, n = M.shape
    sums = np.zeros((m + n - 1, m * n))  # the last column follows from the others
    for i in range(m):
        sums[i, i * n : (i + 1) * n] = 1
    for j in range(n - 1):
        sums[m + j, j::n] = 1
    sums, marginals = sums * product, np.concatenate([r, c[:-1]])
    costs = product * M.ravel()
    constraints = [
        {"type": "eq", "fun": lambda q: sums @ q - marginals, "jac": lambda q: sums},
        {
            "type": "ineq",
            "fun": lambda q: alpha - product @ (q * np.log(q)),
            "jac": lambda q: -product * (np.log(q) + 1),
        },
    ]
    start = np.ones(m * n)
    for _ in range(5):  # from between independence and where it got stuck, if it did
        found = minimize(
            lambda q: costs @ q,
            start,
            jac=lambda q: costs,
            method="SLSQP",
            bounds=[(1e-12, None)] * (m * n),
            constraints=constraints,
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        q = found.x
        off = max(abs(sums @ q - marginals).max(), product @ (q * np.log(q)) - alpha)
        # The last digits may take all steps; whether this is the optimum, the tests tell.
        if (found.success or found.status == STEPS_USED_UP) and off <= 1e-9:
            return found.fun
        start = 0.5 * (start + np.maximum(q, 1e-6))
    raise ArithmeticError(f"the oracle is off by {off:.1e}: {found.message}")


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", SMALL)
def test_constrained_distance_is_that_of_a_general_solver(name, share):
    M, r, c = (np.asarray(x, float) for x in SMALL[name])
    alpha = share * sd.solve(r, c, M, lam=300 / M.max(), tol=1e-9).alpha
    truth = least_cost(M, r, c, alpha)
    s = sd.solve(r, c, M, alpha=alpha, tol=1e-8)
    assert s.value == pytest.approx(truth, abs=1e-7)
    assert s.bracket[0] - 1e-7 <= truth <= s.bracket[1] + 1e-6
    assert sd.distance(r, c, M, alpha=alpha, tol=1e-8) == pytest.approx(truth, abs=1e-7)
    assert sd.pairwise(r[None], c[None], ground=M, alpha=alpha, tol=1e-8) == pytest.approx(
        truth, abs=1e-7
    )


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.05, 0.2, 0.4, 0.6])
def test_two_bins_by_hand(alpha):
    """Couplings of two bins have one parameter, so the constraint is a root of one function."""
    a, b = 0.3, 0.55
    M = np.array([[0.0, 1.0], [1.0, 0.0]])

    def information(p):
        P = np.array([[p, a - p], [b - p, 1 - a - b + p]])
        ratio = P / np.outer([a, 1 - a], [b, 1 - b])
        return float((P[P > 0] * np.log(ratio[P > 0])).sum())

    low, high = a * b, min(a, b)  # independence, and as much as can stay
    if information(high) <= alpha:
        low = high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if information(middle) <= alpha else (low, middle)
    value = sd.distance([a, 1 - a], [b, 1 - b], M, alpha=alpha, tol=1e-10)
    assert value == pytest.approx(a + b - 2 * low, rel=1e-8)
