"""Checks against the truth, by oracles that share nothing with the package.

Each takes a problem, the number of a pair, its `Answer` and a `Truth`, which computes on demand and
remembers. What an oracle cannot answer in bounded time is counted as skipped.
"""

import math
from fractions import Fraction
from functools import cached_property

import mpmath
import numpy as np

from tests.fuzz.checks import SINGLE, masses, slack
from tests.oracles import extended, linear_program, log_domain
from tests.oracles.exact import Enclosure, mean_cost

MANY = 22_500  #: cells beyond which the exact simplex is not asked
FEW = 6  #: bins up to which extended precision is quick
FEW_SHARP = 4  #: the same where lam is large
MILD = 50.0  #: lam times the median cost up to which plain sweeps converge


class Skip(Exception):
    """The oracles have no answer."""


class Truth:
    """What is true of one pair."""

    def __init__(self, problem, pair):
        self.problem, self.M = problem, problem.M
        self.r, self.c = masses(problem, pair)
        self.bins = [sum(x > 0 for x in side) for side in (self.r, self.c)]

    @cached_property
    def emd(self):
        """The exact distance."""
        if self.bins[0] * self.bins[1] > MANY:
            raise Skip("emd")
        return linear_program.emd(self.r, self.c, self.M)

    @cached_property
    def mean(self):
        """``r^T M c``."""
        return mean_cost(self.r, self.c, self.M)

    @cached_property
    def entropy(self):
        """``min(h(r), h(c))``, rounded up."""

        def one(side):
            return -math.fsum(float(x) * math.log(float(x)) for x in side if x > 0)

        return Fraction(max(0.0, min(one(self.r), one(self.c)))) * (1 + Fraction(1, 10**14))

    @cached_property
    def slack(self):
        """What rounding the histograms may change in a distance.

        0 in float64, unless counts are divided by their sums: the distance is then that of what
        the divisions give.
        """
        if self.problem.dtype == np.float64:
            divided = self.problem.options.get("normalize", False)
            return Fraction(8 * 2.0**-53) * self.mean * divided
        return Fraction(16 * SINGLE) * self.mean

    @cached_property
    def optimum(self):
        """Where ``d^lam`` lies, and where the least objective does, in extended precision."""
        lam, L = self.problem.lam, self.problem.lam * float(self.M.max())
        if max(self.bins) > (FEW if L < extended.SMALL else FEW_SHARP):
            raise Skip("extended: many bins")
        try:
            return extended.penalised(self.r, self.c, self.M, lam)
        except (extended.NoAnswerError, OverflowError):
            raise Skip("extended: no answer") from None

    @cached_property
    def distance(self):
        """Where the distance that was asked for lies."""
        kind = self.problem.kind
        if kind == "independence":
            return Enclosure(self.mean, self.mean)
        if kind == "exact" or (kind == "constrained" and self._is_vacuous):
            return Enclosure(self.emd, self.emd)
        if kind == "constrained":
            return self._constrained()
        lam = Fraction(self.problem.lam)
        known = Enclosure(self.emd, min(self.mean, self.emd + self.entropy / lam))
        try:
            return known.cut(self.optimum[0])
        except Skip:
            if self.problem.lam * float(np.median(self.M)) > MILD:
                return known
            return known.cut(log_domain.penalised(self.r, self.c, self.M, self.problem.lam))

    @property
    def _is_vacuous(self):
        return Fraction(self.problem.alpha) >= self.entropy

    def _constrained(self):
        if max(self.bins) > FEW - 1:
            raise Skip("extended: many bins")
        if min(self.bins) == 1 or self.emd == self.mean:
            return Enclosure(self.mean, self.mean)
        try:
            return extended.constrained(self.r, self.c, self.M, self.problem.alpha, self.emd)
        except (extended.NoAnswerError, OverflowError):
            raise Skip("extended: no answer") from None


def emd_bounds_hold(problem, pair, answer, truth):
    """``lower <= EMD <= upper``, without any tolerance."""
    low, high = _fractions(answer.bounds)
    emd = truth.emd
    if not low - truth.slack <= emd <= high + truth.slack:
        yield f"emd_bounds are {answer.bounds}, but the EMD is {float(emd)!r}{_off(low, emd, high)}"


def bracket_holds(problem, pair, answer, truth):
    """The bracket holds the distance that was asked for."""
    low, high = _fractions(answer.bracket)
    real = truth.distance
    if not Enclosure(low - truth.slack, high + truth.slack).meets(real):
        yield (
            f"bracket is {answer.bracket}, but the distance is {float(real.lower)!r}"
            f"{_off(low, real.lower, high)}"
        )


def gap_holds(problem, pair, answer, truth):
    """The gap is at least what the plan's objective lies above the least one.

    It is that of the plan made a coupling, which moves at most twice its marginal error: costs
    change by that part of the largest, the entropy by Fannes' inequality.
    """
    lam = problem.lam
    if problem.kind not in ("penalised", "fixed") or problem.dtype != np.float64:
        return
    moved = 2.0 * answer.error + slack(problem)
    if not (moved < 1e-3 and np.isfinite(answer.gap)):
        raise Skip("the plan is no coupling")
    _, least = truth.optimum
    P = answer.plan[answer.plan > 0.0]
    objective = float((answer.plan * problem.M).sum()) + float((P * np.log(P)).sum()) / lam
    allowed = moved * (float(problem.M.max()) + math.log(answer.plan.size / moved) / lam)
    allowed += 64 * 2.0**-53 * (float(problem.M.max()) + abs(float(least.upper)))
    above = objective - float(least.upper)
    if not above <= answer.gap + allowed:
        yield f"gap is {answer.gap!r}, but the plan's objective is {above!r} above the least"


def steps_are_the_papers(problem, pair, answer, truth):
    """`iterations=n` is Algorithm 1 with n updates."""
    if problem.kind != "fixed":
        return
    value, error = log_domain.algorithm1(
        truth.r, truth.c, problem.M, problem.lam, problem.options["iterations"]
    )
    allowed = max(1e-8 if problem.dtype == np.float64 else 1e-4, 2.0 * error)
    if allowed > 1e-3:
        raise Skip("algorithm 1: beyond floats")
    least = 1e-300 if problem.dtype == np.float64 else 1e-36
    if not abs(answer.value - value) <= allowed * value + least:
        yield f"value is {answer.value!r}, but Algorithm 1 gives {value!r}"


def _fractions(ends):
    """Both ends of an interval; what is not finite is the matter of another check."""
    if not np.isfinite(ends).all():
        raise Skip("not finite")
    return map(Fraction, ends)


def _off(low, real, high):
    """By how much an interval misses, relative to the truth."""
    miss = max(low - real, real - high)
    part = mpmath.mpf(miss.numerator) / miss.denominator
    if real > 0:
        part = part * real.denominator / real.numerator
    return f" (off by {mpmath.nstr(part, 3)} of it)"


TRUTHS = (emd_bounds_hold, bracket_holds, gap_holds, steps_are_the_papers)
