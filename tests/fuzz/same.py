"""Checks that the same question has the same answer: again, in company, by other threads, turned.

Each takes a problem and its answers, asks the package once more, and yields sentences.
"""

from dataclasses import replace

import numpy as np

from tests.fuzz import answers as ask
from tests.fuzz.answers import SHORT
from tests.fuzz.checks import SINGLE, blur, vanishing, warnings_tell
from tests.fuzz.truths import Truth

RELATIVE = 1e-12
SOME = 3  #: pairs of a batch that are asked for alone


def _apart(problem, first, second):
    """Whether two values differ by more than the promise allows."""
    promise = RELATIVE if problem.dtype == np.float64 else 1e-5
    allowed = promise * max(abs(first), abs(second)) + vanishing(problem)
    if problem.dtype == np.float32:  # nothing is promised of what is far below the costs
        allowed += SINGLE * float(np.median(problem.M))
        if problem.kind in ("penalised", "constrained"):  # alone it is solved in float64
            allowed += problem.tol * float(problem.M.max())
    return first != second and not abs(first - second) <= allowed


def again(problem, found):
    """The same call twice is equal to the bit."""
    _, first = ask.distance(problem)
    _, second = ask.distance(problem)
    if ask.bits(first) != ask.bits(second):
        yield f"distance is {first} and then {second}"


def distance_is_solve(problem, found):
    """`distance` and `pairwise` agree with `solve`, in value and in warning."""
    heard, values = ask.distance(problem)
    if heard.raised:
        yield f"distance raises {heard.raised}"
        return
    mirrored = problem.form == "all" and np.array_equal(problem.M, problem.M.T)
    solved = [
        (value, answer)
        for (i, j), value, answer in zip(problem.pairs, values, found, strict=True)
        if i <= j or not mirrored
    ]
    yield from warnings_tell(heard, [answer.status for _, answer in solved])
    for value, answer in solved:
        if problem.kind == "constrained" and answer.status == "CONVERGED":
            low, high = answer.bracket
            wide = problem.tol * high
            fine = low - wide <= value <= high + wide
        else:
            allowed = blur(problem, answer) + (1e-5 if problem.dtype == np.float32 else 0.0)
            allowed = allowed * max(value, answer.value) + vanishing(problem)
            fine = abs(value - answer.value) <= allowed
        if not fine and answer.status not in SHORT:
            yield f"distance is {value!r}, solve {answer.value!r} with bracket {answer.bracket}"


def alone_as_in_company(problem, found):
    """A pair's distance does not depend on its batch mates."""
    if problem.form == "one":
        return
    _, values = ask.distance(problem)
    mirrored = problem.form == "all" and np.array_equal(problem.M, problem.M.T)
    for k in _some(problem):
        i, j = problem.pairs[k]
        if mirrored and i > j:
            i, j = j, i
        alone = problem.pair(i, j)
        heard, (value,) = ask.distance(alone)
        if _apart(problem, value, values[k]):
            yield f"pair {i, j}: {value!r} alone, {values[k]!r} in company {list(heard.warnings)}"


def solved_alone_as_in_company(problem, found):
    """The same for `solve`, with its status."""
    if problem.form == "one":
        return
    for k in _some(problem):
        _, (single,) = ask.solve(problem.pair(*problem.pairs[k]))
        other = problem.dtype == np.float64 and single.status != found[k].status
        if _apart(problem, single.value, found[k].value) or other:
            yield (
                f"pair {problem.pairs[k]}: {single.value!r} {single.status} alone, "
                f"{found[k].value!r} {found[k].status} in company"
            )


def _some(problem):
    """A few pairs of a batch, always the same."""
    count = len(problem.pairs)
    return sorted({problem.index % count, count - 1, (7 * problem.index + 3) % count})[:SOME]


def any_number_of_workers(problem, found):
    """Threads change nothing."""
    _, one = ask.distance(problem, workers=1)
    for workers in (2, 3):
        _, many = ask.distance(problem, workers=workers)
        if any(_apart(problem, x, y) for x, y in zip(one, many, strict=True)):
            yield f"distance is {one} with 1 worker, {many} with {workers}"


# ------------------------------------------------------------------------------ turned around


def _permuted(problem, rng):
    i, j = rng.permutation(problem.M.shape[0]), rng.permutation(problem.M.shape[1])
    return replace(problem, R=problem.R[:, i], C=problem.C[:, j], M=problem.M[np.ix_(i, j)])


def _padded(problem, rng):
    d1, d2 = problem.M.shape
    k1, k2 = rng.integers(0, 4, 2)
    M = rng.random((d1 + k1, d2 + k2)) * (float(problem.M.max()) or 1.0)
    M[k1:, k2:] = problem.M
    R, C = (np.pad(X, [(0, 0), (k, 0)]) for X, k in ((problem.R, k1), (problem.C, k2)))
    return replace(problem, R=R, C=C, M=M)


def _transposed(problem, rng):
    return replace(problem, R=problem.C, C=problem.R, M=np.ascontiguousarray(problem.M.T))


def _scaled(problem, rng):
    unit = 2.0 ** float(rng.integers(-30, 31))
    options = dict(problem.options)
    for name, factor in (("lam", 1.0 / unit), ("reg", unit)):
        if name in options:
            options[name] *= factor
    return replace(problem, M=problem.M * unit, options=options), unit


def turned(problem, found):
    """Permuting, padding, transposing, scaling: within both brackets; exact ones to 1e-12."""
    k = problem.index % len(problem.pairs)
    plain = replace(problem.pair(*problem.pairs[k]), places=None)
    rng = np.random.default_rng(problem.index)
    slack = 0.0
    if problem.dtype == np.float32:
        slack = 32 * SINGLE * float(Truth(plain, 0).mean)
    answer = found[k]
    for name, turn in (
        ("permuted", _permuted), ("padded", _padded), ("transposed", _transposed),
        ("scaled", _scaled),
    ):  # fmt: skip
        other, unit = turn(plain, rng), 1.0
        if name == "scaled":
            other, unit = other
        if other.is_refused:
            continue
        heard, more = ask.solve(other)
        if heard.raised:
            yield f"{name}: raises {heard.raised}"
            continue
        yield from _agree(problem, name, answer, more[0], unit, slack)


def _agree(problem, name, answer, other, unit, slack):
    """Two answers to one question, the second in other units."""
    (low, high), value = (x / unit for x in other.bracket), other.value / unit
    if not (low - slack <= answer.bracket[1] and answer.bracket[0] <= high + slack):
        yield f"{name}: the brackets {answer.bracket} and {(low, high)} do not meet"
    exact = problem.kind == "exact" and "CONVERGED" in (answer.status, other.status)
    if exact and _apart(problem, value, answer.value):
        yield f"{name}: the exact distance is {answer.value!r} and then {value!r}"


SAME = (
    again, distance_is_solve, alone_as_in_company, solved_alone_as_in_company,
    any_number_of_workers, turned,
)  # fmt: skip
