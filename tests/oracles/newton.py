"""Newton's method on the dual of one pair, in floats or in as many digits as are asked for.

State: logarithms ``b`` of the column scalings. Rows are always exact, so the plan is a function of
``b`` alone, and the Hessian is the Laplacian of a graph on the columns; eliminating its nodes one
by one takes no subtraction, so masses and costs of any size do no harm.
"""

import mpmath

STEPS = 400  #: of Newton, in all


class NoAnswerError(ArithmeticError):
    """The oracle has not converged in bounded time."""


class Pair:
    """One pair on its bins with mass, in one kind of numbers (``mpmath.mp`` or ``mpmath.fp``)."""

    def __init__(self, ctx, r, c, M):
        self.ctx = ctx
        self.r, self.c = ([number(ctx, x) for x in side] for side in (r, c))
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
        dual = dot(a, self.r) + dot(b, self.c)
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
            gain, length = dot(step, missing), self.ctx.mpf(1)
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
        scale = [min(1, x / y) if y > 0 else 1 for x, y in zip(self.c, columns, strict=True)]
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
        return sum(dot(row, line) for row, line in zip(G, self.M, strict=True))

    def information(self, G):
        """``KL(G || r c^T)``."""
        return sum(
            g * (self.ctx.log(g) - x - y)
            for row, x in zip(G, self.log_r, strict=True)
            for g, y in zip(row, self.log_c, strict=True)
            if g > 0
        )


def number(ctx, x):
    """A fraction in the numbers of ``ctx``."""
    return float(x) if ctx is mpmath.fp else ctx.mpf(x.numerator) / x.denominator


def dot(x, y):
    """The sum of products."""
    return sum(a * b for a, b in zip(x, y, strict=True))
