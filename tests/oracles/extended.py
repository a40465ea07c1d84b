"""Sinkhorn distances in extended precision, with mpmath: where they lie, with proof.

A ladder of lam leads to the one asked for. The first part of the way is gone in floats where these
suffice. Whatever Newton's method ends with, the plan is made a coupling and its distance from the
optimal one is bounded by its divergence, so that an answer is right even where it is not near.
"""

from contextlib import contextmanager
from fractions import Fraction

import mpmath

from tests.oracles.exact import Enclosure, on_support
from tests.oracles.newton import NoAnswerError, Pair, dot

SMALL = 1e5  #: lam times the largest cost up to which floats prepare the way
DIGITS = 50


def penalised(r, c, M, lam):
    """Where ``d^lam`` lies, and where the least ``<P, M> - h(P) / lam`` does."""
    r, c, M = on_support(r, c, M)
    with _digits(lam * float(M.max())):
        pair = Pair(mpmath.mp, r, c, M)
        lam = mpmath.mpf(lam)
        _, state = pair.solve(lam, _start(r, c, M, lam, pair), mpmath.mpf(10) ** -DIGITS)
        G, divergence = pair.coupling(state)
        value = pair.cost(G)
        spread = pair.top - min(map(min, pair.M))
        slack = spread / 2 * mpmath.sqrt(2 * divergence) + value * mpmath.mpf(10) ** -40
        objective = state[3] / lam
        return (
            Enclosure(_fraction(value - slack), _fraction(value + slack)),
            Enclosure(_fraction(objective), _fraction(objective + divergence / lam)),
        )


def constrained(r, c, M, alpha, emd):
    """Where ``d_{M,alpha}`` lies; ``emd`` is the exact distance, below which it cannot be."""
    r, c, M = on_support(r, c, M)
    try:
        with mpmath.workdps(15):
            best = _search(Pair(mpmath.fp, r, c, M), float(alpha), 1e-10, 1e-11)[-1]
    except (NoAnswerError, OverflowError, ZeroDivisionError, ValueError):
        best = None
    with _digits(1e6):
        pair = Pair(mpmath.mp, r, c, M)
        found = _search(pair, mpmath.mpf(alpha), 1e-20, mpmath.mpf(10) ** -DIGITS, best)
        lower = max(low for low, *_ in found)
        upper = min(high for _, high, *_ in found)
        tiny = upper * mpmath.mpf(10) ** -40
        return Enclosure(max(emd, _fraction(lower - tiny)), _fraction(upper + tiny))


def _search(pair, alpha, width, tol, start=None):
    """Values of lam that come nearer and nearer to the one where the information is ``alpha``.

    Returns ``(lower, upper, lam, information, b)`` for each.
    """
    ctx, found = pair.ctx, []
    lam, b = (start[2], start[4]) if start else (2 / pair.top, None)
    lam = ctx.mpf(lam)
    mean = sum(x * dot(self_c, pair.c) for x, self_c in zip(pair.r, pair.M, strict=True))
    low, high = None, None  # nodes below and above
    for _ in range(40):
        b = pair.climb(lam, tol)[0] if b is None else [ctx.mpf(x) for x in b]
        b, state = pair.solve(lam, b, tol)
        G, _ = pair.coupling(state)
        information, value = pair.information(G), pair.cost(G)
        entropies = -dot(pair.r, pair.log_r) - dot(pair.c, pair.log_c)
        share = 1 if information <= alpha else alpha / information
        here = (
            (state[3] + entropies - alpha) / lam, share * value + (1 - share) * mean, lam,
            information, b,
        )  # fmt: skip
        found.append(here)
        if found[-1][1] - max(x[0] for x in found) <= width * found[-1][1]:
            break
        low, high = (here, high) if information <= alpha else (low, here)
        new = _next(ctx, low, high, alpha)
        if lam * pair.top > 1e9:
            break
        b, lam = [x * (new / lam) for x in b], new
    return found


def _next(ctx, low, high, alpha):
    """The next lam: a secant in logarithms between two nodes, or far out."""
    if high is None:
        return low[2] * 3
    if low is None:
        return high[2] * min(ctx.sqrt(alpha / high[3]), ctx.mpf(0.9))
    span = ctx.log(high[2] / low[2])
    part = ctx.log(alpha / low[3]) / ctx.log(high[3] / low[3]) if low[3] > 0 else 0.5
    return low[2] * ctx.exp(span * min(max(part, 1e-3), 1 - 1e-3))


def _start(r, c, M, lam, pair):
    """Potentials near those wanted: by a ladder in floats, or else in extended precision."""
    if lam * pair.top < SMALL:
        try:
            quick = Pair(mpmath.fp, r, c, M)
            return [mpmath.mpf(x) for x in quick.climb(float(lam), 1e-9)[0]]
        except (NoAnswerError, OverflowError, ZeroDivisionError, ValueError):
            pass
    return pair.climb(lam, mpmath.mpf("1e-9"))[0]


@contextmanager
def _digits(largest):
    """Digits for potentials of the given size."""
    with mpmath.workdps(int(DIGITS + 20 + max(0.0, float(mpmath.log10(1 + largest))))):
        yield


def _fraction(x):
    return Fraction(*mpmath.libmp.to_rational(mpmath.mpf(x)._mpf_))
