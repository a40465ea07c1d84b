"""Checks of an answer by itself: finite, and what it says is what its own plan says.

A check takes a problem, the number of a pair and its `Answer`, and yields sentences about what is
wrong. None of them calls the package.
"""

import math
from functools import lru_cache

import numpy as np

from tests.fuzz.answers import SHORT
from tests.fuzz.problems import TINY
from tests.oracles.exact import normalised

EPS = 2.0**-53
SINGLE = 2.0**-24


@lru_cache(maxsize=64)
def masses(problem, pair):
    """The histograms of a pair, exactly: rounded to the working dtype, tiny ones left out."""
    i, j = problem.pairs[pair]
    out = []
    for row in (problem.R[i], problem.C[j]):
        row = np.asarray(row, float)
        if problem.dtype == np.float32:
            row = (row / row.sum()).astype("f4").astype(float)
        out.append(normalised(row, TINY[problem.dtype]))
    return out


def blur(problem, answer):
    """The relative rounding of a plan's entries: that of exponents, a part of tol at most.

    Where it may be more, the numbers have to be those of the plan itself.
    """
    if not 0.0 < answer.lam < math.inf:
        return 1e-12
    largest = sum(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in (answer.f, answer.g))
    exponents = 8.0 * EPS * answer.lam * (largest + float(problem.M.max()))
    return 1e-12 + min(exponents, 2e-3 * problem.tol)


def slack(problem):
    """How far marginals may be off by rounding alone."""
    bins = sum(problem.M.shape)
    return bins * (1e-14 if problem.dtype == np.float64 else 4.0 * SINGLE)


def vanishing(problem):
    """What is lost where an entry of a plan is too small to be a number."""
    if problem.dtype == np.float64:
        return 1e-115 * float(problem.M.max())
    return 1e-37 * max(1.0, float(problem.M.max()))


def plan_error(problem, pair, answer):
    """``|P1 - r|_1 + |P^T1 - c|_1`` of the plan that was returned, by exact sums."""
    error = 0.0
    for side, plan in zip(masses(problem, pair), (answer.plan, answer.plan.T), strict=True):
        sums = [math.fsum(line) for line in plan.tolist()]
        error += math.fsum(abs(x - float(y)) for x, y in zip(sums, side, strict=True))
    return error


def finite(problem, pair, answer):
    """Every number is one; potentials are -inf exactly on bins without mass."""
    numbers = {
        "value": answer.value, "marginal_error": answer.error, "gap": answer.gap,
        "alpha": answer.alpha, "emd_bounds": answer.bounds, "bracket": answer.bracket,
        "plan": answer.plan,
    }  # fmt: skip
    for name, number in numbers.items():
        if not np.isfinite(number).all():
            yield f"{name} is {number}"
    for name, potential, side in zip(
        "fg", (answer.f, answer.g), masses(problem, pair), strict=True
    ):
        there = np.array([x > 0 for x in side])
        if not np.isfinite(potential[there]).all():
            yield f"potential {name} is {potential} on bins with mass"
        if not np.isneginf(potential[~there]).all():
            yield f"potential {name} is {potential[~there]} on bins without mass"


def non_negative(problem, pair, answer):
    """A plan has no negative entry, a distance of non-negative costs is none."""
    if answer.value < 0.0 or answer.error < 0.0 or answer.gap < 0.0:
        yield f"value {answer.value}, marginal_error {answer.error}, gap {answer.gap}"
    if (answer.plan < 0.0).any():
        yield f"the plan has an entry of {answer.plan.min()}"


def error_is_the_plans(problem, pair, answer):
    """`marginal_error` is that of the plan which is returned."""
    error = plan_error(problem, pair, answer)
    allowed = slack(problem) + 1e-9 * error + 2.0 * blur(problem, answer)
    if not abs(error - answer.error) <= allowed:
        yield f"marginal_error is {answer.error!r}, that of the plan {error!r}"


def value_is_the_plans(problem, pair, answer):
    """`value` is ``<P, M>``."""
    cost = math.fsum((answer.plan * problem.M).ravel().tolist())
    allowed = blur(problem, answer) * cost + vanishing(problem)
    if problem.dtype == np.float32:
        allowed += 1e-5 * cost
    if not abs(cost - answer.value) <= allowed:
        yield f"value is {answer.value!r}, that of the plan {cost!r}"


def status_is_honest(problem, pair, answer):
    """Converged means that the plan's own error is at most tol; FIXED is for fixed steps."""
    if (answer.status == "FIXED") != (problem.kind == "fixed"):
        yield f"status is {answer.status}"
    if answer.status not in ("CONVERGED", "FIXED", *SHORT):
        yield f"status is {answer.status}"
    if answer.status != "CONVERGED":
        return
    error = plan_error(problem, pair, answer)
    if not error <= problem.tol * (1.0 + 2.1e-3) + slack(problem):
        yield f"converged to tol={problem.tol}, but the error of the plan is {error}"


def proof_is_narrow(problem, pair, answer):
    """Converged with alpha: bracket within tol; exact: primal and dual agree."""
    if answer.status != "CONVERGED":
        return
    low, high = answer.bracket
    r, c = (np.array(side, float) for side in masses(problem, pair))
    wide = slack(problem) * float(r @ problem.M @ c) + vanishing(problem)
    if problem.kind == "constrained" and not high - low <= problem.tol * high * (1 + 1e-9) + wide:
        yield f"converged to tol={problem.tol}, but the bracket is {answer.bracket}"
    if problem.kind == "exact" and not high - low <= 1e-8 * high + wide:
        yield f"the bounds {answer.bracket} do not agree"


def constraint_holds(problem, pair, answer):
    """``KL(P || r c^T) <= alpha`` for what has converged."""
    if problem.kind != "constrained" or answer.status != "CONVERGED":
        return
    r, c = ([float(x) for x in side] for side in masses(problem, pair))
    terms = [
        p * (math.log(p) - math.log(a) - math.log(b))
        for row, a in zip(answer.plan.tolist(), r, strict=True)
        for p, b in zip(row, c, strict=True)
        if p > 0.0 and a > 0.0 and b > 0.0
    ]
    information = math.fsum(terms)
    rounding = (blur(problem, answer) + 8 * EPS) * (1.0 + math.fsum(map(abs, terms)))
    rounding += slack(problem)
    # A plan whose mass is 1 - e may seem to hold e less: the error of the marginals counts.
    if not information <= problem.alpha * (1 + 1e-9) + rounding + 4 * answer.error:
        yield f"alpha={problem.alpha}, but the plan holds {information}"


def ordered(problem, pair, answer):
    """Lower ends are below upper ones, and the bracket holds a converged value."""
    for name, (low, high) in (("emd_bounds", answer.bounds), ("bracket", answer.bracket)):
        if not 0.0 <= low <= high:
            yield f"{name} are {low!r}, {high!r}"
    if answer.status == "CONVERGED":
        low, high = answer.bracket
        if not low <= answer.value <= high:
            yield f"value {answer.value!r} is outside of its bracket {answer.bracket}"


def lam_as_asked(problem, pair, answer):
    """lam is the lam that was asked for."""
    asked = problem.lam
    if asked is None:
        return
    if answer.lam != (0.0 if asked < 1e-300 else asked):
        yield f"lam is {answer.lam!r}, but {asked!r} was asked for"


def cap_holds(problem, pair, answer):
    """`max_iter` caps the reads of the kernel, apart from a few that tell how the last ended."""
    cap = problem.options.get("max_iter", 10_000)
    if problem.kind in ("penalised", "constrained") and answer.n_iter > cap + 60:
        yield f"max_iter={cap}, but n_iter is {answer.n_iter}"


CHECKS = (
    finite, non_negative, error_is_the_plans, value_is_the_plans, status_is_honest,
    proof_is_narrow, constraint_holds, ordered, lam_as_asked, cap_holds,
)  # fmt: skip


def warnings_tell(heard, statuses):
    """One ConvergenceWarning exactly when some pair stopped short, and no other."""
    wanted = any(status in SHORT for status in statuses)
    names = [text.split(":")[0] for text in heard.warnings]
    if names != ["ConvergenceWarning"] * wanted:
        yield f"statuses {sorted(set(statuses))}, but the warnings are {list(heard.warnings)}"
