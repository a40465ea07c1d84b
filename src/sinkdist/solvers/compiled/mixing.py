"""Accelerated sweeps over one large pair: each step mixes the last few.

A plain sweep converges slowly where mass stays in its bins, because each bin answers to its own
scaling. Dividing the gradient ``c - P^T 1`` of the dual by the diagonal of its Hessian ends that,
and Anderson's mixing of the last steps ends what is left: the step whose weighted residual would be
least, were the map linear. One sweep takes one read of the kernel, whose column sums are the
gradient; the diagonal takes one more, every `LIFE` sweeps.

Mixing is only valid locally: sweeps are plain until the error is small, and after one that made it
larger.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.chunks import ACC, SINGLE_MATRIX, SQUARED, SQUARES, SWEEP, C, V
from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.exp import exp_of
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.compiled.team import lead
from sinkdist.solvers.policy import NEAR

__all__ = ["FIELDS", "LIFE", "MADE", "VECTORS", "mixed_sweeps"]

DEPTH = 5  #: steps that are mixed
LIFE = 10  #: sweeps for which the diagonal of the Hessian serves; then mixing begins anew
FARTHEST = 2.0  #: a step without mixing moves ``log v`` by no more
LEAST_WEIGHT = 1e-3  #: of the column sum: how much of the diagonal is left where mass stays
DEPENDENT = 1e-12  #: a difference of which less is left beside the newer ones is not mixed
WORSE = 2.0  #: an error so many times the last one ends the mixing
PLAIN_AT_MOST = 30  #: sweeps far from the solution

# What is known of a pair between calls: reads of the kernel, differences kept, sweeps since the
# weights were made (-1: none), whether there is a last step, errors, plain and slow spells.
MADE, KEPT, AGE, HAS_LAST, ERROR, AT_WEIGHTS, PLAIN, SLOW = range(8)
FIELDS = 8

# Vectors over columns; the differences of positions and of corrections follow.
POSITION, CORRECTION, LAST_POSITION, LAST_CORRECTION, WEIGHT = range(5)
MOVES = 5
CHANGES = MOVES + DEPTH
VECTORS = CHANGES + DEPTH


@shared(
    VECTOR, MATRIX, SINGLE_MATRIX, MATRIX, MATRIX, MATRIX, INTEGERS, MATRIX, VECTOR, FLOAT, FLOAT,
    INT,
)  # fmt: skip
def mixed_sweeps(
    strength: Array, M: Array, K: Array, rows: Array, columns: Array, parts: Array, team: Array,
    history: Array, control: Array, tol: float, longest: float, sweeps: int,
) -> int:  # fmt: skip
    """Sweep until the columns' L1 error is at most ``tol``; how the pair stands.

    Rows are exact on return. HANDED_OVER is a pair that would take more than ``longest`` sweeps.
    """
    one_version()
    c, v, acc, gram = columns[C], columns[V], columns[ACC], np.empty((DEPTH, DEPTH + 1))
    for _ in range(sweeps):
        control[MADE] += 1.0
        if math.isnan(lead(np.int64(SWEEP), strength, M, K, rows, columns, parts, team)):
            return OVERFLOW
        error = 0.0
        for j in range(c.size):
            error += abs(v[j] * acc[j] - c[j])
        if not error < 1e300:
            return OVERFLOW
        if error <= tol:
            return CONVERGED
        grew = control[HAS_LAST] != 0.0 and error > WORSE * control[ERROR]
        control[ERROR] = error
        if error > NEAR or control[MADE] == 1.0 or grew:
            if not _plain(c, v, acc):
                return OVERFLOW
            control[KEPT] = control[HAS_LAST] = 0.0
            control[AGE] = -1.0
            control[PLAIN] += 1.0
            if control[PLAIN] > PLAIN_AT_MOST:
                return HANDED_OVER
            continue
        if control[AGE] < 0.0 or control[AGE] >= LIFE:
            if _is_slow(control, error, tol, longest):
                return HANDED_OVER
            control[MADE] += 1.0
            lead(np.int64(SQUARES), strength, M, K, rows, columns, parts, team)
            _weigh(v, acc, columns[SQUARED], history, control)
        control[AGE] += 1.0
        _correct(c, v, acc, history)
        _mix(v, c, history, control, gram)
    return RUNNING


@part
def _plain(c: Array, v: Array, acc: Array) -> bool:
    """A plain step of the columns; whether sums are positive."""
    ok = True
    for j in range(c.size):
        ok &= acc[j] > 0.0
        v[j] = c[j] / acc[j]
    return ok


@part
def _is_slow(control: Array, error: float, tol: float, longest: float) -> bool:
    """Whether, twice in a row, the sweeps since the last weights promise too little."""
    if control[AGE] >= 0.0:
        rate = math.log(error / control[AT_WEIGHTS]) / control[AGE]
        slow = not rate < 0.0 or math.log(tol / error) / rate > longest
        control[SLOW] = control[SLOW] + 1.0 if slow else 0.0
    control[AT_WEIGHTS] = error
    return bool(control[SLOW] >= 2.0)


@part
def _weigh(v: Array, acc: Array, squared: Array, history: Array, control: Array) -> None:
    """The diagonal of the Hessian as it is here; mixing begins anew."""
    weight, position = history[WEIGHT], history[POSITION]
    for j in range(v.size):
        have = v[j] * acc[j]
        weight[j] = max(have - v[j] * v[j] * squared[j], LEAST_WEIGHT * have)
    if control[AGE] < 0.0:  # after a plain step
        for j in range(v.size):
            position[j] = math.log(v[j])
    control[AGE] = control[KEPT] = control[HAS_LAST] = 0.0


@part
def _correct(c: Array, v: Array, acc: Array, history: Array) -> None:
    """The step of each bin by itself, centred: a shift of all would change nothing."""
    correction, weight = history[CORRECTION], history[WEIGHT]
    mean = 0.0
    for j in range(c.size):
        step = (c[j] - v[j] * acc[j]) / weight[j]
        correction[j] = min(max(step, -FARTHEST), FARTHEST)
        mean += c[j] * correction[j]
    for j in range(c.size):
        correction[j] -= mean


@shared(VECTOR, VECTOR, MATRIX, VECTOR, MATRIX)
def _mix(v: Array, c: Array, history: Array, control: Array, gram: Array) -> None:
    """Take the step; keep what is needed to mix it into those to come."""
    one_version()
    n, count = v.size, int(control[KEPT])
    x, f, weight = history[POSITION], history[CORRECTION], history[WEIGHT]
    if control[HAS_LAST] != 0.0:
        move, change = history[MOVES + count % DEPTH], history[CHANGES + count % DEPTH]
        for j in range(n):
            move[j] = x[j] - history[LAST_POSITION, j]
            change[j] = f[j] - history[LAST_CORRECTION, j]
        count += 1
    for j in range(n):
        history[LAST_POSITION, j], history[LAST_CORRECTION, j] = x[j], f[j]
    control[KEPT], control[HAS_LAST] = float(count), 1.0
    kept = min(count, DEPTH)
    for a in range(kept):  # newest first
        first = history[CHANGES + (count - 1 - a) % DEPTH]
        for b in range(a, kept):
            second = history[CHANGES + (count - 1 - b) % DEPTH]
            gram[a, b] = gram[b, a] = _weighted(weight, first, second)
        gram[a, DEPTH] = _weighted(weight, first, f)
    _solve(gram, kept)
    for j in range(n):
        x[j] += f[j]
    for a in range(kept):
        share = gram[a, DEPTH]
        move = history[MOVES + (count - 1 - a) % DEPTH]
        change = history[CHANGES + (count - 1 - a) % DEPTH]
        for j in range(n):
            x[j] -= share * (move[j] + change[j])
    mean = 0.0
    for j in range(n):
        mean += c[j] * x[j]
    for j in range(n):
        x[j] -= mean
        v[j] = exp_of(x[j])


@part
def _weighted(weight: Array, x: Array, y: Array) -> float:
    """A weighted product of two vectors."""
    total = 0.0
    for j in range(x.size):
        total += weight[j] * x[j] * y[j]
    return total


@shared(MATRIX, INT, allocates=False)
def _solve(gram: Array, count: int) -> None:
    """Solve the normal equations in place, by elimination; dependent unknowns are 0."""
    one_version()
    for a in range(count):
        if not gram[a, a] > 0.0:
            gram[a, a] = 0.0
            continue
        for b in range(a + 1, count):
            factor = gram[b, a] / gram[a, a]
            before = gram[b, b]
            for k in range(a, count):
                gram[b, k] -= factor * gram[a, k]
            gram[b, DEPTH] -= factor * gram[a, DEPTH]
            if gram[b, b] <= DEPENDENT * before:
                gram[b, b] = 0.0
    for a in range(count - 1, -1, -1):
        if gram[a, a] == 0.0:
            gram[a, DEPTH] = 0.0
            continue
        for b in range(a + 1, count):
            gram[a, DEPTH] -= gram[a, b] * gram[b, DEPTH]
        gram[a, DEPTH] /= gram[a, a]
