"""The exact distance as a fraction: a transportation simplex in integers.

Floats are dyadic numbers, so masses and costs become integers without rounding. Supplies are
perturbed by one unit per row (in units so small that no basis changes its sign), which excludes
degenerate pivots and cycling. HiGHS gives the potentials that decide where the simplex starts; what
it ends with does not depend on them.
"""

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from tests.oracles.exact import on_support

LARGE = 400  #: cells from which HiGHS is asked where to start
PIVOTS = 20_000


def emd(r, c, M):
    """The exact distance between two exact histograms."""
    r, c, M = on_support(r, c, M)
    if len(r) == 1 or len(c) == 1:
        return sum(
            a * b * Fraction(x) for a, row in zip(r, M.tolist(), strict=True)
            for b, x in zip(c, row, strict=True)
        )  # fmt: skip
    flows, *_ = optimal(r, c, M)
    return sum(mass * Fraction(float(M[i, j])) for (i, j), mass in flows.items())


def optimal(r, c, M):
    """An optimal plan as ``{(i, j): mass}`` and its potentials, all exact; every mass positive."""
    rows, columns, unit = _supplies(r, c)
    costs, cost_unit = _integers(M)
    flow = _start(rows, columns, _hint(r, c, M))
    for _ in range(PIVOTS):
        f, g = _potentials(flow, costs)
        entering = _most_negative(costs, f, g)
        if entering is None:
            break
        _pivot(flow, entering)
    else:
        raise ArithmeticError(f"the simplex has not ended after {PIVOTS} pivots")
    spread = _spread(r)
    plan = {cell: Fraction(_unperturbed(mass, spread), unit) for cell, mass in flow.items()}
    return plan, [Fraction(x, cost_unit) for x in f], [Fraction(x, cost_unit) for x in g]


def _supplies(r, c):
    """Integers in proportion to both histograms, perturbed, and what mass 1 has become."""
    unit = lcm(*(x.denominator for x in r), *(x.denominator for x in c))
    spread = _spread(r)
    rows = [int(x * unit) * spread + 1 for x in r]
    columns = [int(x * unit) * spread for x in c]
    columns[-1] += len(r)
    return rows, columns, unit


def _spread(r):
    """Units to a unit of mass: on no edge does the perturbation add up to half of them."""
    return 2 * len(r) + 1


def _unperturbed(mass, spread):
    """The flow without the perturbation, which is less than half a step of ``spread``."""
    return (2 * mass + spread) // (2 * spread)


def _integers(M):
    """Costs times a power of two that makes them integers, as rows of Python's."""
    exact = [[Fraction(x) for x in row] for row in M.tolist()]
    unit = max(x.denominator for row in exact for x in row)
    return np.array([[int(x * unit) for x in row] for row in exact], object), unit


def _hint(r, c, M):
    """Reduced costs in floats; the cheapest cells first make a good basis."""
    top = float(M.max()) or 1.0
    M = M / top
    a, b = np.array(r, float), np.array(c, float)
    reduced = M - (M @ b)[:, None] - a @ M
    if M.size <= LARGE:
        return reduced
    m, n = M.shape
    sums = vstack([kron(eye_array(m), np.ones((1, n))), kron(np.ones((1, m)), eye_array(n))])
    found = linprog(M.ravel(), A_eq=sums.tocsr(), b_eq=np.concatenate([a, b]), method="highs")
    if found.status != 0:
        return reduced
    duals = found.eqlin.marginals
    return M - duals[:m, None] - duals[m:] - np.reshape(found.x, M.shape)


def _start(rows, columns, order):
    """A basis: cells in the given order, each with as much as fits."""
    rows, columns, flow = rows.copy(), columns.copy(), {}
    n = len(columns)
    for cell in np.argsort(order, axis=None, kind="stable").tolist():
        i, j = divmod(cell, n)
        if rows[i] and columns[j]:
            amount = min(rows[i], columns[j])
            flow[i, j] = amount
            rows[i] -= amount
            columns[j] -= amount
    return flow


def _tree(flow):
    """Neighbours in the spanning tree; column j is the node ``~j``."""
    near = {}
    for i, j in flow:
        near.setdefault(i, []).append(~j)
        near.setdefault(~j, []).append(i)
    return near


def _potentials(flow, costs):
    """``f_i + g_j = M_ij`` on the basis, with ``f_0 = 0``."""
    near, f, g = _tree(flow), [0] * costs.shape[0], [0] * costs.shape[1]
    stack = [(0, None)]
    while stack:
        node, came = stack.pop()
        for other in near[node]:
            if other == came:
                continue
            if other < 0:
                g[~other] = costs[node, ~other] - f[node]
            else:
                f[other] = costs[other, ~node] - g[~node]
            stack.append((other, node))
    return f, g


def _most_negative(costs, f, g):
    """The cell of the most negative reduced cost; None at the optimum."""
    reduced = costs - np.array(f, object)[:, None] - np.array(g, object)
    cell = int(reduced.argmin())
    i, j = divmod(cell, costs.shape[1])
    return (i, j) if reduced[i, j] < 0 else None


def _pivot(flow, entering):
    """Send as much as possible around the cycle that the entering cell closes."""
    near, (i, j) = _tree(flow), entering
    came, stack = {~j: None}, [~j]
    while i not in came:
        node = stack.pop()
        for other in near[node]:
            if other not in came:
                came[other] = node
                stack.append(other)
    path, node = [], i
    while came[node] is not None:
        other = came[node]
        path.append((node, ~other) if node >= 0 else (other, ~node))
        node = other
    less, more = path[0::2], path[1::2]
    leaving = min(less, key=flow.__getitem__)
    amount = flow.pop(leaving)
    for cell in less:
        if cell != leaving:
            flow[cell] -= amount
    for cell in more:
        flow[cell] += amount
    flow[entering] = amount
