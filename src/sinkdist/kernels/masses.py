"""Half a sweep where marginals are only held by a penalty: the elementwise part, for one side.

A side of a pair has histogram ``p``, log scalings ``x``, scalings ``u = p exp(x)``, and what its
marginal is pulled to, ``p exp(tau - x / k)`` with ``k`` lam times its penalty: kept as
``e = exp(-x / k)``. An exact update is ``x = (tau - log s) k / (1 + k)``, with ``s`` the sums of
the kernel over the other side. Powers are a logarithm and exponentials of whole vectors, or series
of a few terms near the end, where ``**`` would be a call per bin. Loops touch two or three arrays
each: of more, LLVM gives up finding out that they lie apart, and does not vectorise.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.exp import LN2_HIGH, LN2_LOW
from sinkdist.kernels.exponential import exp_in_place
from sinkdist.kernels.pair import representable
from sinkdist.kernels.views import bits_of

#: What all pairs share, in one vector: exponents of both updates, one over ``k`` of both sides, the
#: first side's share of the penalties, and how far a common shift goes.
POWER1, POWER2, INVERSE1, INVERSE2, SHARE, SHIFT = range(6)
LAW = 6

#: What marginals may be off by, relatively, for series of nine and of five terms to be exact.
CLOSE, CLOSER = 0.03, 1e-3
TINY = 1e-300  #: what keeps bins without mass from being 0 / 0

_MANTISSA = (1 << 52) - 1
_HALF = 1022 << 52
_ROOT = math.sqrt(0.5)


@shared(VECTOR, VECTOR, INTEGERS, reorder=False)
def log_of(x: Array, out: Array, exponents: Array) -> None:
    """``out = log(x)`` of positive, normal numbers; ``exponents`` is int64 scratch.

    ``x = 2^k m`` with ``m`` near 1, and ``log m = 2 atanh((m - 1) / (m + 1))`` as a series.
    """
    one_version()
    source, mantissa = bits_of(x), bits_of(out)
    for j in range(x.size):
        exponents[j] = (source[j] >> 52) - 1022
        mantissa[j] = (source[j] & _MANTISSA) | _HALF
    for j in range(x.size):
        low = out[j] < _ROOT
        m = 2.0 * out[j] if low else out[j]
        k = float(exponents[j]) - (1.0 if low else 0.0)
        z = (m - 1.0) / (m + 1.0)
        t = z * z
        p = 1.0 / 21.0
        p = p * t + 1.0 / 19.0
        p = p * t + 1.0 / 17.0
        p = p * t + 1.0 / 15.0
        p = p * t + 1.0 / 13.0
        p = p * t + 1.0 / 11.0
        p = p * t + 1.0 / 9.0
        p = p * t + 1.0 / 7.0
        p = p * t + 1.0 / 5.0
        p = p * t + 1.0 / 3.0
        out[j] = k * LN2_HIGH + (2.0 * z * (1.0 + p * t) + k * LN2_LOW)


@shared(MATRIX, VECTOR, VECTOR)
def row_sums(K: Array, v: Array, s: Array) -> None:
    """``s = K v``, four rows at a time."""
    one_version()
    m, n = K.shape
    whole = m - m % 4
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            s0 += K[i, j] * v[j]
            s1 += K[i + 1, j] * v[j]
            s2 += K[i + 2, j] * v[j]
            s3 += K[i + 3, j] * v[j]
        s[i], s[i + 1], s[i + 2], s[i + 3] = s0, s1, s2, s3
    for i in range(whole, m):
        total = 0.0
        for j in range(n):
            total += K[i, j] * v[j]
        s[i] = total


@shared(MATRIX, VECTOR, VECTOR)
def sums_of_columns(K: Array, u: Array, s: Array) -> None:
    """``s = K^T u``, four rows at a time."""
    one_version()
    m, n = K.shape
    whole = m - m % 4
    for j in range(n):
        s[j] = 0.0
    for i in range(0, whole, 4):
        u0, u1, u2, u3 = u[i], u[i + 1], u[i + 2], u[i + 3]
        for j in range(n):
            s[j] += (u0 * K[i, j] + u1 * K[i + 1, j]) + (u2 * K[i + 2, j] + u3 * K[i + 3, j])
    for i in range(whole, m):
        for j in range(n):
            s[j] += u[i] * K[i, j]


@shared(VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, VECTOR)
def violation(
    s: Array, p: Array, u: Array, e: Array, tau: float, ratio: Array
) -> tuple[float, float]:
    """``|u s - p e exp(tau)|_1``: how far marginals are from what they are pulled to.

    Infinite where a sum is not representable. ``ratio`` becomes what is pulled to over what there
    is. Also returned is how far from 1 it is: 0 where all are within CLOSER, 1 within CLOSE, else
    2.
    """
    one_version()
    scale = math.exp(tau)
    total, lost, far, near = 0.0, 0.0, 0.0, 0.0
    for j in range(s.size):
        have, pull = u[j] * s[j], p[j] * e[j] * scale
        total += abs(have - pull)
        lost += 0.0 if representable(s[j]) or p[j] == 0.0 else 1.0
        ratio[j] = (pull + TINY) / (have + TINY)
    for j in range(s.size):
        off = abs(ratio[j] - 1.0)
        far += 0.0 if off < CLOSE else 1.0  # also where it is not a number
        near += 0.0 if off < CLOSER else 1.0
    return (total if lost == 0.0 else np.inf), (2.0 if far > 0.0 else 1.0 if near > 0.0 else 0.0)


@shared(
    VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, FLOAT, FLOAT, FLOAT, FLOAT, VECTOR, INTEGERS
)  # fmt: skip
def update(
    s: Array, p: Array, x: Array, e: Array, u: Array, power: float, inverse: float, tau: float,
    w: float, far: float, work: Array, exponents: Array,
) -> tuple[float, float]:  # fmt: skip
    """Move one side to its optimum, or ``w`` times as far; ``p . e`` and ``u . s`` afterwards.

    ``work`` holds the ratio of `violation`, and ``far`` how far it is from 1: near the optimum
    steps are small, and series of a few terms are exact.
    """
    one_version()
    if far > 1.0:
        _exact_update(s, p, x, e, u, power, inverse, tau, w, work, exponents)
    elif far > 0.0:
        for j in range(s.size):
            work[j] = w * power * _log_of_close(work[j])
        for j in range(s.size):
            x[j] += work[j]
        for j in range(s.size):
            u[j] *= _exp_of_small(work[j])
        for j in range(s.size):
            e[j] *= _exp_of_small(-inverse * work[j])
    else:
        for j in range(s.size):
            work[j] = w * power * _log_of_closer(work[j])
        for j in range(s.size):
            x[j] += work[j]
        for j in range(s.size):
            u[j] *= _exp_of_tiny(work[j])
        for j in range(s.size):
            e[j] *= _exp_of_tiny(-inverse * work[j])
    pull, mass = 0.0, 0.0
    for j in range(s.size):
        pull += p[j] * e[j]
    for j in range(s.size):
        mass += u[j] * s[j]
    return pull, mass


@part
def _log_of_close(y: float) -> float:
    """``log(y)`` within CLOSE of 1."""
    z = (y - 1.0) / (y + 1.0)
    t = z * z
    return 2.0 * z * (1.0 + t * (1.0 / 3.0 + t * (0.2 + t * (1.0 / 7.0 + t / 9.0))))


@part
def _log_of_closer(y: float) -> float:
    """``log(y)`` within CLOSER of 1."""
    d = y - 1.0
    return d * (1.0 - d * (0.5 - d * (1.0 / 3.0 - d * (0.25 - d * 0.2))))


@part
def _exp_of_small(d: float) -> float:
    """``exp(d)`` for ``|d| < 2.1 CLOSE``, by its series."""
    p = 1.0 + d / 9.0
    p = 1.0 + d * 0.125 * p
    p = 1.0 + d * (1.0 / 7.0) * p
    p = 1.0 + d * (1.0 / 6.0) * p
    p = 1.0 + d * 0.2 * p
    p = 1.0 + d * 0.25 * p
    p = 1.0 + d * (1.0 / 3.0) * p
    return 1.0 + d * (1.0 + d * 0.5 * p)


@part
def _exp_of_tiny(d: float) -> float:
    """``exp(d)`` for ``|d| < 2.1 CLOSER``, by its series."""
    return 1.0 + d * (1.0 + d * (0.5 + d * (1.0 / 6.0 + d * (1.0 / 24.0 + d * (1.0 / 120.0)))))


@shared(VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, FLOAT, FLOAT, FLOAT, VECTOR, INTEGERS)
def _exact_update(
    s: Array, p: Array, x: Array, e: Array, u: Array, power: float, inverse: float, tau: float,
    w: float, work: Array, exponents: Array,
) -> None:  # fmt: skip
    """The update by a logarithm and exponentials, from anywhere."""
    one_version()
    log_of(s, work, exponents)
    if w == 1.0:
        for j in range(s.size):
            x[j] = power * (tau - work[j])
    else:
        for j in range(s.size):
            x[j] += w * (power * (tau - work[j]) - x[j])
    for j in range(s.size):
        u[j] = x[j]
    exp_in_place(u)
    for j in range(s.size):
        u[j] *= p[j]
    for j in range(s.size):
        e[j] = -inverse * x[j]
    exp_in_place(e)


@part
def first_tau(law: Array, log_t: float, difference: float) -> float:
    """``tau`` of the first side at the best translation; the second's is ``difference`` more.

    ``difference`` is that of the logarithms of ``p . e`` of both sides.
    """
    share: float = law[SHARE]
    return (2.0 * share - 1.0) * log_t - (1.0 - share) * difference


@shared(VECTOR, FLOAT, FLOAT, FLOAT, FLOAT, VECTOR, VECTOR, VECTOR, VECTOR)
def settle(
    law: Array, log_t: float, pull1: float, pull2: float, mass: float, y: Array, v: Array,
    e: Array, tau: Array,
) -> None:  # fmt: skip
    """The best translation and the best total mass for given shapes, both in closed form.

    The dual is maximal over constants added to the two potentials where both sides are pulled to
    the mass that the plan has. Their difference goes into ``tau``, their sum into the second side.
    """
    one_version()
    first, second = math.log(pull1), math.log(pull2)
    wanted = first_tau(law, log_t, first - second) + first
    shift = law[SHIFT] * (wanted - math.log(mass))
    grow, less = math.exp(shift), math.exp(-shift * law[INVERSE2])
    for j in range(y.size):
        y[j] += shift
        v[j] *= grow
        e[j] *= less
    second -= shift * law[INVERSE2]
    tau[0] = first_tau(law, log_t, first - second)
    tau[1] = tau[0] + first - second
