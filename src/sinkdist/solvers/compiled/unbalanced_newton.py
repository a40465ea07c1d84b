"""Newton's method where marginals are held by a penalty: for pairs that scaling hands over.

Those are pairs whose kernel floats cannot hold, or that would take very many sweeps. Everything is
in logarithms, on the bins with mass, in NumPy: a ladder of rising lam, as for balanced pairs, and
on each rung a few sweeps and steps of Newton's method. Its matrix is ``[D1 P; P^T D2]`` with
``D = marginal + pull / k``; one side is eliminated and the rest factorised, which the penalty keeps
positive definite. The constants that are nearly free when ``k`` is large are set in closed form.

Names are those of `solvers.compiled.unbalanced`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.masses import INVERSE1, INVERSE2, POWER1, POWER2, SHIFT, first_tau
from sinkdist.kernels.pair import mean_cost
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.compiled.unbalanced import law_of
from sinkdist.solvers.policy import LOOSE_START

__all__ = ["Climbed", "climb"]

RATIO = 4.0  #: from one rung to the next
FIRST = 12.0  #: lam times the mean cost on the lowest rung, at most
SWEEPS = 3  #: on each rung before Newton, and where its steps fail
STEPS = 200  #: of Newton on a rung, at most
SHORTEST = 1e-6  #: part of a step below which sweeps take over
OVERSHOT = 0.1  #: part of the slope that may point back at the end of a step
FAILURES = 40  #: steps without progress after which a pair has stalled
CLOSER = 0.5  #: of the tolerance is what Newton aims at: the last row update moves a little
#: Times the error: added to the matrix, which is nearly singular where a plan falls into parts.
DAMPING = 1e-3
LARGEST_SIDE = 6000  #: bins of the smaller side above which nothing is factorised


class Climbed(NamedTuple):
    """Log scalings, what is pulled to, the error of that plan, reads made, and how it ended."""

    x: Array
    y: Array
    tau: tuple[float, float]
    error: float
    n_iter: int
    act: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rung:
    """One pair at one lam: exponents ``N = lam M``, and logarithms of both histograms."""

    N: Array
    log_r: Array
    log_c: Array
    log_t: float
    law: Array

    def taus(self, x: Array, y: Array) -> tuple[float, float]:
        """What both sides are pulled to at the best translation."""
        first = _log_sum(self.log_r - self.law[INVERSE1] * x)
        second = _log_sum(self.log_c - self.law[INVERSE2] * y)
        tau = first_tau(self.law, self.log_t, first - second)
        return tau, tau + first - second

    def rows(self, y: Array, tau: float) -> Array:
        """The exact update of the rows."""
        sums = _log_sums(self.log_c + y - self.N)
        return np.asarray(self.law[POWER1] * (tau - sums))

    def columns(self, x: Array, tau: float) -> Array:
        """The same for the columns."""
        sums = _log_sums((self.log_r + x)[None, :] - self.N.T)
        return np.asarray(self.law[POWER2] * (tau - sums))

    def sweep(self, x: Array, y: Array) -> tuple[Array, Array]:
        """One plain sweep."""
        x = self.rows(y, self.taus(x, y)[0])
        return x, self.columns(x, self.taus(x, y)[1])

    def at(self, x: Array, y: Array) -> _Point:
        """The plan there, with the best total mass, and what both sides are pulled to."""
        logs = (self.log_r + x)[:, None] + (self.log_c + y) - self.N
        tau = self.taus(x, y)[0]
        wanted = tau + _log_sum(self.log_r - self.law[INVERSE1] * x)
        shift = self.law[SHIFT] * (wanted - _log_sum(logs.ravel()))
        y = y + shift
        P = np.exp(np.minimum(logs + shift, 600.0))
        one, two = self.taus(x, y)
        pulls = (
            np.exp(self.log_r + one - self.law[INVERSE1] * x),
            np.exp(self.log_c + two - self.law[INVERSE2] * y),
        )
        return _Point(x, y, P, P.sum(axis=1), P.sum(axis=0), *pulls)

    def direction(self, here: _Point) -> tuple[Array, Array] | None:
        """Newton's step; None where the matrix cannot be factorised."""
        one = here.p + self.law[INVERSE1] * here.pull1
        two = here.q + self.law[INVERSE2] * here.pull2
        damping = DAMPING * min(here.error, 1.0)
        if here.P.shape[0] < here.P.shape[1]:
            step = _eliminated(here.P.T, two, one, here.p, here.left2, here.left1, damping)
            return None if step is None else (step[1], step[0])
        return _eliminated(here.P, one, two, here.q, here.left1, here.left2, damping)


class _Point(NamedTuple):
    """A plan, its marginals ``p, q`` and what they are pulled to."""

    x: Array
    y: Array
    P: Array
    p: Array
    q: Array
    pull1: Array
    pull2: Array

    @property
    def left1(self) -> Array:
        """The gradient of the dual by the first potential, in units of 1 / lam."""
        return self.pull1 - self.p

    @property
    def left2(self) -> Array:
        """The same by the second."""
        return self.pull2 - self.q

    @property
    def error(self) -> float:
        """The L1 norm of the gradient."""
        found = float(np.abs(self.left1).sum() + np.abs(self.left2).sum())
        return found if math.isfinite(found) else math.inf


def climb(
    M: Array, lam: float, rho: tuple[float, float], r: Array, c: Array, log_t: float, tol: float,
    max_iter: int, stop: Stop,
) -> Climbed:  # fmt: skip
    """Solve one pair of histograms that sum to 1, on their bins with mass."""
    height = min(max(lam * mean_cost(M, r, c), 1e-300), 1e300)
    rungs = max(0, math.ceil(math.log(height / FIRST) / math.log(RATIO)))
    x, y, reads, act = np.zeros(r.size), np.zeros(c.size), 0, RUNNING
    for k in range(rungs, -1, -1):
        here = lam / RATIO**k
        rung = _Rung(here * M, np.log(r), np.log(c), log_t, law_of(here, rho))
        goal = CLOSER * tol if k == 0 else max(LOOSE_START, tol)
        x, y, made, act = _solve_at(rung, x, y, goal, max_iter - reads, stop)
        reads += made
        if k and reads >= max_iter:  # the allowance is used up: end at lam, as it is
            x, y = x * RATIO**k, y * RATIO**k
            rung = _Rung(lam * M, np.log(r), np.log(c), log_t, law_of(lam, rho))
            act = RUNNING
            break
        if k:
            x, y = RATIO * x, RATIO * y
    return _ended(rung, x, y, tol, reads, act)


def _ended(rung: _Rung, x: Array, y: Array, tol: float, reads: int, act: int) -> Climbed:
    """End with exact rows, and say what comes of it."""
    tau = rung.taus(x, y)
    x = rung.rows(y, tau[0])
    P = np.exp(np.minimum((rung.log_r + x)[:, None] + (rung.log_c + y) - rung.N, 600.0))
    pulls = (
        rung.log_r + tau[0] - rung.law[INVERSE1] * x,
        rung.log_c + tau[1] - rung.law[INVERSE2] * y,
    )
    error = sum(float(np.abs(P.sum(axis=1 - k) - np.exp(pulls[k])).sum()) for k in (0, 1))
    if error <= tol:
        act = CONVERGED
    elif act == CONVERGED:
        act = HANDED_OVER
    return Climbed(x, y, tau, error, reads, act)


def _solve_at(
    rung: _Rung, x: Array, y: Array, goal: float, allowance: int, stop: Stop
) -> tuple[Array, Array, int, int]:
    """Steps at one lam until the error is at most ``goal``; reads made, and how it ended."""
    reads, failures, best = 0, 0, math.inf
    factorises = min(rung.N.shape) <= LARGEST_SIDE
    steps = STEPS if factorises else allowance
    for _ in range(SWEEPS):
        x, y = rung.sweep(x, y)
        reads += 1
    here = rung.at(x, y)
    for _ in range(steps):
        stop.check()
        if here.error <= goal:
            return here.x, here.y, reads, CONVERGED
        if reads >= allowance:
            return here.x, here.y, reads, RUNNING
        new = _stepped(rung, here) if factorises else None
        reads += 2
        if new is None:
            x, y = here.x, here.y
            for _ in range(SWEEPS):
                x, y = rung.sweep(x, y)
                reads += 1
            new = rung.at(x, y)
        here = new
        failures = 0 if here.error < CLOSER * best else failures + 1
        best = min(best, here.error)
        if failures > FAILURES and factorises:
            break
    return here.x, here.y, reads, HANDED_OVER


def _stepped(rung: _Rung, here: _Point) -> _Point | None:
    """A step of Newton's, shortened until it does not overshoot; None where that takes too long."""
    step = rung.direction(here)
    if step is None:
        return None
    slope = float(here.left1 @ step[0] + here.left2 @ step[1])
    length = 1.0
    while length >= SHORTEST:
        new = rung.at(here.x + length * step[0], here.y + length * step[1])
        back = float(new.left1 @ step[0] + new.left2 @ step[1])
        if math.isfinite(new.error) and back >= -OVERSHOT * slope:
            return new
        length *= 0.5
    return None


def _eliminated(
    P: Array, one: Array, two: Array, q: Array, left1: Array, left2: Array, damping: float
) -> tuple[Array, Array] | None:
    """Solve ``[D1 P; P^T D2]`` without its first side; constants are held, by ``q q^T``."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if not (one.min() > 0.0 and two.min() > 0.0):
        return None
    root1, root2 = np.sqrt(one), np.sqrt(two)
    B = P / root1[:, None] / root2
    held = q / root2 / math.sqrt(float(q.sum()))
    matrix = np.outer(held, held) - B.T @ B
    matrix[np.diag_indices_from(matrix)] += 1.0 + damping
    side = (left2 - P.T @ (left1 / one)) / root2
    try:
        second = cho_solve(cho_factor(matrix, check_finite=False), side, check_finite=False) / root2
    except LinAlgError:
        return None
    first = (left1 - P @ second) / one
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    return first, second


def _log_sums(x: Array) -> Array:
    """Logarithms of the sums of the exponentials of every row."""
    top = x.max(axis=1)
    return np.asarray(top + np.log(np.exp(x - top[:, None]).sum(axis=1)))


def _log_sum(x: Array) -> float:
    """The same of a vector."""
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum()))
