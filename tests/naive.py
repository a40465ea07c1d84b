"""The oracle: what the package computes, once more, in plain loops over floats.

Nothing here is fast, clever or shared with the package. Histograms are lists, matrices lists of
lists; names are the paper's.
"""

import math
from dataclasses import dataclass

INFINITY = math.inf


@dataclass(frozen=True)
class Scaled:
    """A plan on all bins, its cost and its potentials (-inf on bins without mass)."""

    P: list
    value: float
    f: list
    g: list


def algorithm1(M, lam, r, c, iterations):
    """Algorithm 1 of the paper with a fixed number of updates of x, line by line."""
    I = [i for i in range(len(r)) if r[i] > 0]  # noqa: E741  (the paper's name)
    d = len(c)
    K = [[math.exp(-lam * M[i][j]) for j in range(d)] for i in I]
    x = [1 / len(I)] * len(I)
    for _ in range(iterations):
        Ktu = [sum(K[a][j] * (1 / x[a]) for a in range(len(I))) for j in range(d)]
        w = [c[j] * (1 / Ktu[j]) for j in range(d)]
        x = [(1 / r[i]) * sum(K[a][j] * w[j] for j in range(d)) for a, i in enumerate(I)]
    u = [1 / xi for xi in x]
    v = [c[j] * (1 / sum(K[a][j] * u[a] for a in range(len(I)))) for j in range(d)]
    value = sum(u[a] * sum(K[a][j] * M[i][j] * v[j] for j in range(d)) for a, i in enumerate(I))
    P = [[0.0] * d for _ in r]
    f, g = [-INFINITY] * len(r), [-INFINITY] * d
    for a, i in enumerate(I):
        f[i] = math.log(u[a]) / lam
        for j in range(d):
            P[i][j] = u[a] * K[a][j] * v[j]
    for j in range(d):
        if v[j] > 0:
            g[j] = math.log(v[j]) / lam
    return Scaled(P, value, f, g)


def log_sinkhorn(M, lam, r, c, tol=1e-13, sweeps=20_000):
    """Sinkhorn's sweeps by log-sum-exp until the rows' L1 error is at most ``tol``."""
    rows = [i for i in range(len(r)) if r[i] > 0]
    columns = [j for j in range(len(c)) if c[j] > 0]
    f, g = [-INFINITY] * len(r), [-INFINITY] * len(c)
    for i in rows:
        f[i] = 0.0
    for _ in range(sweeps):
        for j in columns:
            g[j] = (math.log(c[j]) - _lse([lam * (f[i] - M[i][j]) for i in rows])) / lam
        error = 0.0
        for i in rows:
            new = (math.log(r[i]) - _lse([lam * (g[j] - M[i][j]) for j in columns])) / lam
            error += r[i] * abs(math.expm1(lam * (f[i] - new)))
            f[i] = new
        if error <= tol:
            break
    else:
        raise ArithmeticError(f"the oracle is at {error:.1e} after {sweeps} sweeps")
    P = [[0.0] * len(c) for _ in r]
    for i in rows:
        for j in columns:
            P[i][j] = math.exp(lam * (f[i] + g[j] - M[i][j]))
    return Scaled(P, cost(P, M), f, g)


def _lse(x):
    top = max(x)
    return top + math.log(sum(math.exp(xi - top) for xi in x))


# ------------------------------------------------------------------------ numbers about a plan


def cost(P, M):
    """<P, M>."""
    return sum(P[i][j] * M[i][j] for i in range(len(P)) for j in range(len(P[0])))


def row_sums(P):
    return [sum(row) for row in P]


def column_sums(P):
    return [sum(row[j] for row in P) for j in range(len(P[0]))]


def marginal_error(P, r, c):
    """|P1 - r|_1 + |P^T1 - c|_1."""
    rows, columns = row_sums(P), column_sums(P)
    return sum(abs(a - b) for a, b in zip(rows, r, strict=True)) + sum(
        abs(a - b) for a, b in zip(columns, c, strict=True)
    )


def entropy(P):
    """h(P) = -sum P log P."""
    return -sum(p * math.log(p) for row in P for p in row if p > 0)


def kl_from_independence(P, r, c):
    """KL(P || r c^T)."""
    return sum(
        P[i][j] * math.log(P[i][j] / (r[i] * c[j]))
        for i in range(len(r))
        for j in range(len(c))
        if P[i][j] > 0
    )


# ------------------------------------------------------------------------------- certificates


def free_lower_bound(lam, f, g, r, c):
    """EMD >= <f, r> + <g, c> + h(c) / lam, right after a column update."""
    return _dot(f, r) + _dot(g, c) - sum(x * math.log(x) for x in c if x > 0) / lam


def lower_bound(M, f, r, c):
    """EMD >= <f, r> + sum_j c_j min_i (M_ij - f_i) for any f on the bins of r."""
    rows = [i for i in range(len(r)) if r[i] > 0]
    return _dot(f, r) + sum(
        c[j] * min(M[i][j] - f[i] for i in rows) for j in range(len(c)) if c[j] > 0
    )


def best_lower_bound(M, lam, f, g, r, c):
    """The best of these bounds: by either side, with and without log(mass) / lam, else from 0."""
    found = [0.0]
    for costs, potential, here, there in ((M, f, r, c), (transposed(M), g, c, r)):
        without = [
            p - math.log(x) / lam if x > 0 else p for p, x in zip(potential, here, strict=True)
        ]
        found += [lower_bound(costs, start, here, there) for start in (potential, without)]
    if max(found) == 0.0:
        found.append(lower_bound(M, [0.0] * len(r), r, c))
    return max(found)


def transposed(M):
    return [list(column) for column in zip(*M, strict=True)]


def rounded(P, r, c):
    """The plan scaled down to fit both marginals, the rest filled in as a product."""
    m, n = len(r), len(c)
    sums = row_sums(P)
    G = [
        [P[i][j] * min(1.0, r[i] / sums[i]) if sums[i] > 0 else 0.0 for j in range(n)]
        for i in range(m)
    ]
    sums = column_sums(G)
    G = [
        [G[i][j] * min(1.0, c[j] / sums[j]) if sums[j] > 0 else 0.0 for j in range(n)]
        for i in range(m)
    ]
    left = [a - b for a, b in zip(r, row_sums(G), strict=True)]
    missing = [a - b for a, b in zip(c, column_sums(G), strict=True)]
    total = sum(left)
    if total > 0:
        G = [[G[i][j] + left[i] * missing[j] / total for j in range(n)] for i in range(m)]
    return G


def gap(P, M, lam, f, g, r, c):
    """Objective of the rounded plan minus the dual's value."""
    G = rounded(P, r, c)
    dual = _dot(f, r) + _dot(g, c) - (sum(row_sums(P)) - 1) / lam
    return cost(G, M) - entropy(G) / lam - dual


def _dot(potential, masses):
    """<f, r> over bins with mass: elsewhere the potential is -inf."""
    return sum(p * x for p, x in zip(potential, masses, strict=True) if x > 0)
