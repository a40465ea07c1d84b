"""The search for lam: one pair under ``KL(P || r c^T) <= alpha``, one lam after another.

`lam_policy` says which lam is next; potentials are carried from one to the next. Solves at a lam
are sweeps, compiled with the search. A pair whose sweeps are too slow leaves the compiled loop in
the middle of its search, Newton's method solves at that lam, and the search goes on: so Newton's
method, which takes long to compile, is compiled where it is needed only. What is proven of the
result, and what to do where one kernel cannot carry the search, is in `constrained`.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.exponential import stabilised_kernel
from sinkdist.kernels.pair import gather, mean_cost, plan_cost
from sinkdist.kernels.views import matrix_in
from sinkdist.kernels.work_space import aligned, kept
from sinkdist.solvers.compiled import newton, relaxation
from sinkdist.solvers.compiled.lam_policy import (
    ACT,
    DUAL,
    ERROR,
    FIELDS,
    INFORMATION,
    INNER,
    LAM,
    MADE,
    READS,
    SEARCHING,
    VACUOUS,
    VALUE,
    begin_search,
    next_step,
)
from sinkdist.solvers.compiled.relaxation import CONVERGED, OVERFLOW, RUNNING, SWEEPS, begin
from sinkdist.solvers.compiled.scaling import rows_exact, scale_pair, support
from sinkdist.solvers.policy import TRUSTED

PATIENCE = 40.0  #: sweeps that may be projected before Newton takes over
NEWTON_READS = 500.0

#: Beside the fields of a search: whether it waits for Newton's method.
WAITING = FIELDS
#: Rows of the work space, over bins of both sides: masses, potentials, those before, scalings.
MASS, POTENTIAL, BEFORE, SCALING, SUMS = range(5)
#: Rows of what is found, one column per pair.
FOUND_LAM, FOUND_VALUE, FOUND_ERROR, FOUND_READS, FOUND_ACT = range(5)

#: Bins, vectors over the bins of each side, two blocks for the largest pair, a search.
WorkSpace = tuple[Array, Array, Array, Array, Array]


@kept
def work_space(d1: int, d2: int, largest: int) -> WorkSpace:
    """For grounds of so many bins, and pairs of so many entries."""
    over_rows, over_columns = (aligned(5 * (d + -d % 8)).reshape(5, -1) for d in (d1, d2))
    numbers = np.zeros(FIELDS + 1 + relaxation.FIELDS)
    return np.empty(d1 + d2, np.int64), over_rows, over_columns, aligned(2 * largest), numbers


class Searches:
    """Searches for the pairs ``(R, C)`` of a tile, ``R`` with one row, shared, or one per pair.

    ``found`` holds what came of them; potentials ``F, G`` are those on bins with mass, if kept.
    ``below`` is for bounds on exact distances from below, where they are known.
    """

    def __init__(
        self, M: Array, R: Array, C: Array, largest: int, *, keep_potentials: bool
    ) -> None:
        """``largest`` is the number of entries that the kernel of a pair has at most."""
        self.M, self.R, self.C = M, R, C
        self.found = np.zeros((5, len(C)))
        kept_rows = len(C) if keep_potentials else 0
        self.F, self.G = np.zeros((kept_rows, M.shape[0])), np.zeros((kept_rows, M.shape[1]))
        self.below = np.full(len(C), -np.inf)
        self.space = work_space(M.shape[0], M.shape[1], largest)

    def run(
        self, first: int, last: int, alpha: float, tol: float, max_iter: int, spread: float,
        stop: Stop,
    ) -> None:  # fmt: skip
        """Search for some pairs. ``spread`` is the range of all costs, infinite if unknown."""
        at, search = first, self.space[-1]
        search[WAITING] = 0.0
        while True:
            at = constrain_each(
                self.M, self.R, self.C, at, last, alpha, tol, max_iter, spread, self.below,
                self.found, self.F, self.G, stop.flag, *self.space,
            )  # fmt: skip
            if at == last:
                return
            self._newton(at, max_iter)

    def _newton(self, k: int, max_iter: int) -> None:
        """Solve at the lam where the search of a pair has stopped, from where sweeps have come."""
        _, over_rows, over_columns, blocks, search = self.space
        m, n = (int(np.count_nonzero(H[k if len(H) > 1 else 0])) for H in (self.R, self.C))
        K = blocks[: m * n].reshape(m, n)
        solve_by_newton(K, over_rows[:, :m], over_columns[:, :n], search, max_iter)


def solve_by_newton(
    K: Array, over_rows: Array, over_columns: Array, search: Array, max_iter: int
) -> None:
    """Solve at a search's lam by Newton's method, from the scalings where sweeps have come."""
    r, u = over_rows[MASS], over_rows[SCALING]
    c, v, acc = (over_columns[row] for row in (MASS, SCALING, SUMS))
    control = np.empty(newton.FIELDS)
    newton.begin(control)
    most = min(NEWTON_READS, max(1.0, max_iter - search[READS]) - search[MADE])
    search[ACT], search[ERROR] = newton.newton_pair(
        K, *newton.NO_ENTRIES, r, c, u, v, acc, control, search[INNER], most,
        *newton.scratch_for(r.size, c.size),
    )  # fmt: skip
    search[MADE] += control[newton.READS]


@compiled
def constrain_each(
    M: Array, R: Array, C: Array, first: int, last: int, alpha: float, tol: float, max_iter: int,
    spread: float, below: Array, found: Array, F: Array, G: Array, stop: Array,
    bins: Array, over_rows: Array, over_columns: Array, blocks: Array, search: Array,
) -> int:  # fmt: skip
    """Search lam for the pairs ``first`` to ``last`` of a tile, each on its own bins.

    Returns the pair that waits for Newton's method, or ``last``. The last five are `work_space`. A
    pair alone comes this way too, so that there is one way.
    """
    d1, d2 = M.shape
    for k in range(first, last):
        if stop[0] != 0:  # nobody waits for it
            return last
        i = k if R.shape[0] > 1 else 0
        m, n = support(R[i], bins), support(C[k], bins[d1:])
        rows, columns, whole = bins[:m], bins[d1 : d1 + n], m == d1 and n == d2
        r, c = over_rows[MASS, :m], over_columns[MASS, :n]
        K, sub = matrix_in(blocks, m, n), M if whole else matrix_in(blocks[m * n :], m, n)
        act = SEARCHING
        if search[WAITING] == 0.0:
            for a in range(m):
                r[a] = R[i, rows[a]]
            for b in range(n):
                c[b] = C[k, columns[b]]
            if alpha >= min(entropy(r), entropy(c)):
                found[FOUND_ACT, k] = VACUOUS
                continue
            if not whole:
                gather(M, rows, columns, sub)
            mean = mean_cost(sub, r, c)
            if 0.5 * spread * math.sqrt(2.0 * alpha) <= 0.5 * tol * mean:  # too small to be seen
                found[FOUND_VALUE, k], found[FOUND_READS, k] = mean, 1.0
                found[FOUND_ACT, k] = CONVERGED
                continue
            act = begin_search(sub, r, c, alpha, below[k], over_columns[BEFORE, :n], search)
            for row in (POTENTIAL, BEFORE):
                for a in range(m):
                    over_rows[row, a] = 0.0
                for b in range(n):
                    over_columns[row, b] = 0.0
        if act == SEARCHING:
            act = search_pair(
                sub, K, r, c, alpha, tol, max_iter, over_rows, over_columns, search, stop
            )
            if search[WAITING] != 0.0:
                return k
        found[FOUND_LAM, k], found[FOUND_VALUE, k] = search[LAM], search[VALUE]
        found[FOUND_ERROR, k], found[FOUND_READS, k] = search[ERROR], search[READS]
        found[FOUND_ACT, k] = act
        if F.shape[0] > 0:
            for a in range(m):
                F[k, rows[a]] = over_rows[POTENTIAL, a]
            for b in range(n):
                G[k, columns[b]] = over_columns[POTENTIAL, b]
    return last


@shared(
    MATRIX, MATRIX, VECTOR, VECTOR, FLOAT, FLOAT, INT, MATRIX, MATRIX, VECTOR, INTEGERS
)  # fmt: skip
def search_pair(
    M: Array, K: Array, r: Array, c: Array, alpha: float, tol: float, max_iter: int,
    over_rows: Array, over_columns: Array, search: Array, stop: Array,
) -> int:  # fmt: skip
    """Search on for one pair, until the search ends or waits for Newton's method."""
    one_version()
    m, n = K.shape
    f, old_f, u = over_rows[POTENTIAL, :m], over_rows[BEFORE, :m], over_rows[SCALING, :m]
    g, old_g = over_columns[POTENTIAL, :n], over_columns[BEFORE, :n]
    v, acc = over_columns[SCALING, :n], over_columns[SUMS, :n]
    act = SEARCHING
    while act == SEARCHING:
        if search[WAITING] == 0.0:
            _sweep(M, K, r, c, f, g, u, v, acc, max_iter, search)
            if search[WAITING] != 0.0:
                return act
        search[WAITING] = 0.0
        _conclude(M, K, r, c, f, g, u, v, acc, search)
        act = next_step(search, alpha, tol, max_iter, f, g, old_f, old_g)
        if stop[0] != 0 and act == SEARCHING:
            return RUNNING
    return act


@shared(MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, INT, VECTOR)
def _sweep(
    M: Array, K: Array, r: Array, c: Array, f: Array, g: Array, u: Array, v: Array, acc: Array,
    max_iter: int, search: Array,
) -> None:  # fmt: skip
    """Sweeps at the search's lam from potentials ``f, g``; it waits where they are too slow."""
    one_version()
    for i in range(r.size):
        u[i] = 1.0
    for j in range(c.size):
        v[j] = 1.0
    stabilised_kernel(M, search[LAM], f, g, K)
    state, allowance = search[WAITING + 1 :], max(1, max_iter - int(search[READS]))
    begin(state)
    sweeps = min(4 * int(PATIENCE), allowance)
    act, error = scale_pair(K, r, c, u, v, acc, state, search[INNER], PATIENCE, sweeps)
    if act != CONVERGED and act != OVERFLOW:
        if state[SWEEPS] < allowance:
            search[WAITING] = 1.0
        else:
            error = rows_exact(K, r, c, u, v, acc)
    search[ACT], search[ERROR], search[MADE] = act, error, state[SWEEPS]


@shared(MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
def _conclude(
    M: Array, K: Array, r: Array, c: Array, f: Array, g: Array, u: Array, v: Array, acc: Array,
    search: Array,
) -> None:  # fmt: skip
    """Value, information and dual of the plan at the search's lam; ``f, g`` become its potentials.

    The dual is a lower bound of ``Phi(lam) = min lam <P, M> + KL(P || r c^T)``.
    """
    one_version()
    lam = search[LAM]
    if search[ACT] == OVERFLOW or not math.log(_largest(u)) + math.log(_largest(v)) < TRUSTED:
        search[ACT], search[ERROR] = OVERFLOW, np.inf  # floored entries of K might matter
        return
    value = plan_cost(K, M, u, v)
    information, dual = -lam * value, 0.0
    for i in range(r.size):
        f[i] += math.log(u[i]) / lam
        information += r[i] * (lam * f[i] - math.log(r[i]))
        dual += r[i] * (lam * f[i] - math.log(r[i]))
    for j in range(c.size):
        g[j] += math.log(v[j]) / lam
        information += v[j] * acc[j] * (lam * g[j] - math.log(c[j]))
        dual += c[j] * (lam * g[j] - math.log(c[j]))
    search[VALUE], search[INFORMATION], search[DUAL] = value, max(information, 0.0), dual


@part
def _largest(x: Array) -> float:
    """The maximum, NaN where there is one."""
    most: float = x[0]
    for i in range(x.size):
        if math.isnan(x[i]):
            return math.nan
        most = max(most, x[i])
    return most


@shared(VECTOR)
def entropy(weights: Array) -> float:
    """``h`` of a histogram with mass in every bin."""
    one_version()
    total = 0.0
    for i in range(weights.size):
        total -= weights[i] * math.log(weights[i])
    return total
