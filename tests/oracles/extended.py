"""Sinkhorn distances in extended precision: Newton's method on the dual, with mpmath.

State: logarithms ``b`` of the column scalings. Rows are always exact, so the plan is a function of
``b`` alone, and the Hessian is the Laplacian of a graph on the columns; eliminating its nodes one
by one takes no subtraction, so masses and costs of any size do no harm. A ladder of lam leads to
the one asked for. The first part of the way is gone in floats where these suffice.
"""

from contextlib import contextmanager
from fractions import Fraction

import mpmath

from tests.oracles.exact import Enclosure, on_support

SMALL = 1e5  #: lam times the largest cost up to which floats prepare the way
DIGITS = 50
STEPS = 400  #: of Newton, in all


class NoAnswerError(ArithmeticError):
    """The oracle has not converged in bounded time."""


class _Pair:
    """One pair on its bins with mass, in one kind of numbers (``mpmath.mp`` or ``mpmath.fp``)."""

    def __init__(self, ctx, r, c, M):
        self.ctx = ctx
        self.r, self.c = ([_number(ctx, x) for x in side] for side in (r, c))
        self.M = [[ctx.mpf(x) for x in row] for row in M.tolist()]
        self.log_r, self.log_c = ([ctx.log(x) for x in side] for side in (self.r, self.c))
        self.top = max(map(max, self.M))
        self.left = STEPS

    def at(self, lam, b):
        """Everything that is known at ``b``: logarithms of the plan, plan, columns, dual."""
        ctx = self.ctx
        logs, a = [], []
        for log_r, row in zip(self.log_r, self.M, strict=True):
            line = [y - lam * x for y, x in zip(b, row, strict=True)]
            high = max(line)
            shift = log_r - high - ctx.log(sum(self._exp(x - high) for x in line))
            a.append(shift)
            logs.append([x + shift for x in line])
        P = [[self._exp(x) for x in line] for line in logs]
        columns = [sum(column) for column in zip(*P, strict=True)]
        dual = _dot(a, self.r) + _dot(b, self.c)
        return logs, P, columns, dual

    def _exp(self, x):
        """The exponential; 0 where it has more digits than there is memory."""
        return self.ctx.exp(x) if x > -1e6 else self.ctx.mpf(0)

    def solve(self, lam, b, tol):
        """Newton's steps at one lam until the columns are right up to ``tol``."""
        logs, P, columns, dual = self.at(lam, b)
        while True:
            missing = [x - y for x, y in zip(self.c, columns, strict=True)]
            if sum(map(abs, missing)) <= tol:
                return b, (logs, P, columns, dual)
            step = self._newton(P, missing)
            gain, length = _dot(step, missing), self.ctx.mpf(1)
            while True:
                self.left -= 1
                if self.left < 0:
                    raise NoAnswerError
                new = [x + length * y for x, y in zip(b, step, strict=True)]
                state = self.at(lam, new)
                if state[3] >= dual + length * gain / 10:
                    break
                length /= 4
                if length < 1e-6:  # rounding, or a step that is far too long: one plain sweep
                    new = [
                        x + self.ctx.log(y / z) if z > 0 else x + 1
                        for x, y, z in zip(b, self.c, columns, strict=True)
                    ]
                    state = self.at(lam, new)
                    break
            b, (logs, P, columns, dual) = new, state

    def _newton(self, P, missing):
        """Solve the Laplacian system by elimination; the heaviest column stays where it is."""
        order = sorted(range(len(self.c)), key=lambda j: -self.c[j])
        n = len(order)
        W = [
            [sum(row[j] * row[k] / x for row, x in zip(P, self.r, strict=True)) for k in order]
            for j in order
        ]
        y = [missing[j] for j in order]
        sums = [0] * n
        for k in range(n - 1, 0, -1):
            sums[k] = sum(W[k][:k])
            if not sums[k] > 0:
                raise NoAnswerError
            for i in range(k):
                part = W[i][k] / sums[k]
                y[i] += part * y[k]
                for j in range(k):
                    W[i][j] += part * W[k][j]
        y[0] = 0 * y[0]
        for k in range(1, n):
            y[k] = (y[k] + sum(W[k][i] * y[i] for i in range(k))) / sums[k]
        step = [None] * n
        for place, j in enumerate(order):
            step[j] = y[place]
        return step

    def climb(self, lam, tol):
        """From a flat kernel up to ``lam``, by factors of 4."""
        here = min(lam, 2 / self.top if self.top > 0 else lam)
        b = list(self.log_c)
        while here < lam:
            b, _ = self.solve(here, b, 1e-3)
            following = min(4 * here, lam)
            b = [x * (following / here) for x in b]
            here = following
        return self.solve(lam, b, tol)

    def coupling(self, state):
        """The plan made to fit both sides, and its divergence from the plan."""
        logs, P, columns, _ = state
        scale = [min(1, x / y) for x, y in zip(self.c, columns, strict=True)]
        G = [[x * y for x, y in zip(row, scale, strict=True)] for row in P]
        left = [x - sum(row) for x, row in zip(self.r, G, strict=True)]
        missing = [x - sum(col) for x, col in zip(self.c, zip(*G, strict=True), strict=True)]
        total = sum(left)
        if total > 0:
            G = [
                [g + max(x, 0) * max(y, 0) / total for g, y in zip(row, missing, strict=True)]
                for row, x in zip(G, left, strict=True)
            ]
        log = self.ctx.log
        divergence = sum(
            g * (log(g) - x)
            for row, line in zip(G, logs, strict=True)
            for g, x in zip(row, line, strict=True)
            if g > 0
        )
        return G, max(divergence, 0)

    def cost(self, G):
        return sum(_dot(row, line) for row, line in zip(G, self.M, strict=True))

    def information(self, G):
        """``KL(G || r c^T)``."""
        return sum(
            g * (self.ctx.log(g) - x - y)
            for row, x in zip(G, self.log_r, strict=True)
            for g, y in zip(row, self.log_c, strict=True)
            if g > 0
        )


def penalised(r, c, M, lam):
    """Where ``d^lam`` lies, and the value that the dual of its objective takes at the optimum."""
    r, c, M = on_support(r, c, M)
    with _digits(lam * float(M.max())):
        pair = _Pair(mpmath.mp, r, c, M)
        lam = mpmath.mpf(lam)
        b, state = pair.solve(lam, _start(r, c, M, lam, pair), mpmath.mpf(10) ** -DIGITS)
        G, divergence = pair.coupling(state)
        value = pair.cost(G)
        spread = pair.top - min(map(min, pair.M))
        slack = spread / 2 * mpmath.sqrt(2 * divergence) + value * mpmath.mpf(10) ** -40
        objective = state[3] / lam
        return (
            Enclosure(_fraction(value - slack), _fraction(value + slack)),
            Enclosure(_fraction(objective), _fraction(objective + divergence / lam)),
        )


def dual(r, c, M, lam, f, g):
    """``<f, r> + <g, c> - (sum P - 1) / lam``: below the least objective, whatever f and g are."""
    r, c, M = on_support(r, c, M)
    f, g = ([float(x) for x in side if x > -mpmath.inf] for side in (f, g))
    size = lam * (float(M.max()) + max(map(abs, f)) + max(map(abs, g)))
    with _digits(size):
        exponents = [
            mpmath.mpf(lam) * (mpmath.mpf(x) + y - z)
            for x, row in zip(f, M.tolist(), strict=True)
            for y, z in zip(g, row, strict=True)
        ]
        if max(exponents) > 1e6:
            raise NoAnswerError
        total = sum(mpmath.exp(x) for x in exponents if x > -1e6)
        linear = _dot(map(Fraction, f), r) + _dot(map(Fraction, g), c)
        return linear - _fraction((total - 1) / mpmath.mpf(lam))


def constrained(r, c, M, alpha, emd):
    """Where ``d_{M,alpha}`` lies; ``emd`` is the exact distance, below which it cannot be."""
    r, c, M = on_support(r, c, M)
    try:
        with mpmath.workdps(15):
            best = _search(_Pair(mpmath.fp, r, c, M), float(alpha), 1e-10, 1e-11)[-1]
    except (NoAnswerError, OverflowError, ZeroDivisionError, ValueError):
        best = None
    with _digits(1e6):
        pair = _Pair(mpmath.mp, r, c, M)
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
    mean = sum(x * _dot(self_c, pair.c) for x, self_c in zip(pair.r, pair.M, strict=True))
    low, high = None, None  # nodes below and above
    for _ in range(40):
        b = pair.climb(lam, tol)[0] if b is None else [ctx.mpf(x) for x in b]
        b, state = pair.solve(lam, b, tol)
        G, _ = pair.coupling(state)
        information, value = pair.information(G), pair.cost(G)
        entropies = -_dot(pair.r, pair.log_r) - _dot(pair.c, pair.log_c)
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
            quick = _Pair(mpmath.fp, r, c, M)
            return [mpmath.mpf(x) for x in quick.climb(float(lam), 1e-9)[0]]
        except (NoAnswerError, OverflowError, ZeroDivisionError, ValueError):
            pass
    return pair.climb(lam, mpmath.mpf("1e-9"))[0]


@contextmanager
def _digits(largest):
    """Digits for potentials of the given size."""
    with mpmath.workdps(int(DIGITS + 20 + max(0.0, float(mpmath.log10(1 + largest))))):
        yield


def _number(ctx, x):
    return float(x) if ctx is mpmath.fp else ctx.mpf(x.numerator) / x.denominator


def _dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def _fraction(x):
    return Fraction(*mpmath.libmp.to_rational(mpmath.mpf(x)._mpf_))
