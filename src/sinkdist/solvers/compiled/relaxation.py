"""When to over-relax, when to stop, when to hand over: one pair's policy, from its errors alone.

A relaxed sweep ``u <- u (r / (u K v))^w`` converges at the rate ``w - 1`` for the best
``w = 2 / (1 + sqrt(1 - theta^2))``, where plain sweeps converge at ``theta^2``. The policy
estimates ``theta^2`` from the observed decrease of the error over a window of sweeps and keeps
re-estimating.

It stands apart because every loop follows it: the compiled loop over one pair and the loop over a
block of pairs call the same function, so a pair takes the same steps alone and in company.
"""

from __future__ import annotations

import math

from sinkdist.kernels.compiled import (
    FLOAT,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)
from sinkdist.solvers.policy import NEAR, PATIENCE, SLOWEST

#: Limits with a meaning: sweep plainly to the end; relax, and never give up.
PLAIN = 0.0
FOREVER = 1e18

# Fields of a pair's state, one row of float64 per pair.
OMEGA, START, COUNT, THETA2, RESUME, SWEEPS, FAILURES = range(7)
FIELDS = 7

# How a pair stands; OVERFLOW is a scaling that float64 cannot represent.
RUNNING, CONVERGED, HANDED_OVER, OVERFLOW = range(4)

WINDOW = 4  #: plain sweeps over which a rate is estimated
RELAXED_WINDOW = 8  #: relaxed ones: their error may grow for a few sweeps before it falls


@part
def begin(state: Array) -> None:
    """A fresh pair: plain sweeps."""
    for field in range(FIELDS):
        state[field] = 0.0
    state[OMEGA] = 1.0
    state[RESUME] = 1.0


@shared(VECTOR, FLOAT, FLOAT, FLOAT)
def decide(state: Array, error: float, tol: float, limit: float) -> int:
    """Take the error of the last sweep, set the next ``OMEGA``, and say how to go on.

    ``error`` is the exact L1 marginal error when the sweep was plain, an estimate when it was
    relaxed; only a plain sweep can end the run. ``limit`` is the number of sweeps worth waiting
    for; 0 asks for plain sweeps to the end.
    """
    one_version()
    w = state[OMEGA]
    state[SWEEPS] += 1.0
    if error <= tol:
        if w == 1.0:
            return CONVERGED
        state[RESUME] = w  # verify with a plain sweep, whose error is exact
        state[OMEGA] = 1.0
        return RUNNING
    if w == 1.0 and state[RESUME] > 1.0:
        state[OMEGA] = state[RESUME]
        state[RESUME] = 1.0
        return RUNNING
    if limit == 0.0:
        return RUNNING
    if state[COUNT] == 0.0:
        state[START] = error
        state[COUNT] = 1.0
        return RUNNING
    state[COUNT] += 1.0
    window = WINDOW if w == 1.0 else RELAXED_WINDOW
    if state[COUNT] <= window:
        return RUNNING
    return _new_window(state, error, tol, limit, window)


@part
def _new_window(state: Array, error: float, tol: float, limit: float, window: int) -> int:
    """A window is full: estimate the rate, choose ``OMEGA``, project the sweeps still needed."""
    w = state[OMEGA]
    rate = (error / state[START]) ** (1.0 / window)
    state[COUNT] = 0.0
    if error > NEAR:
        state[OMEGA] = 1.0
        return HANDED_OVER if state[SWEEPS] > PATIENCE and limit < FOREVER else RUNNING
    if rate >= 1.0:
        state[FAILURES] += 1.0
        state[THETA2] = 0.0
        state[OMEGA] = 1.0 + 0.5 * (w - 1.0) if state[FAILURES] < 4.0 else 1.0
        return HANDED_OVER if state[FAILURES] > 6.0 and limit < FOREVER else RUNNING
    theta2 = state[THETA2]
    if w == 1.0:
        theta2 = rate
    elif rate > w - 1.0:
        theta2 = max(theta2, (rate + w - 1.0) ** 2 / (rate * w * w))
    theta2 = min(theta2, SLOWEST)
    state[THETA2] = theta2
    state[OMEGA] = 2.0 / (1.0 + math.sqrt(1.0 - theta2))
    best_rate = max(state[OMEGA] - 1.0, 0.3)
    return HANDED_OVER if math.log(tol / error) / math.log(best_rate) > limit else RUNNING
