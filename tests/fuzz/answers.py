"""Asking the package, and writing down all that it says: numbers, warnings, exceptions."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

import sinkdist as sd

SHORT = ("MAX_ITER", "STALLED")


@dataclass(frozen=True)
class Answer:
    """What `solve` says of one pair."""

    value: float
    error: float
    status: str
    lam: float
    n_iter: int
    solver: str
    f: np.ndarray
    g: np.ndarray
    plan: np.ndarray
    bounds: tuple
    bracket: tuple
    gap: float
    alpha: float


@dataclass(frozen=True)
class Heard:
    """What came of a call: a result or an exception, and the names of the warnings."""

    result: object
    warnings: tuple = ()
    raised: str = ""


def hear(call, *args, **options):
    """Call, and listen."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", sd.ScaleWarning)  # lam of any size is asked for
        try:
            result, raised = call(*args, **options), ""
        except Exception as error:  # whatever it is, it is a finding
            result, raised = None, f"{type(error).__name__}: {error}"
    return Heard(result, tuple(f"{w.category.__name__}: {w.message}" for w in caught), raised)


def ground(problem):
    """The ground as the caller would give it."""
    return problem.M if problem.places is None else sd.Ground.points(problem.places)


def sides(problem):
    """Both sides as the caller would give them."""
    R, C = problem.R, problem.C
    if problem.form == "one":
        return R[0], C[0]
    if problem.form == "one to many":
        return R[0], csr_array(C) if problem.sparse else C
    if problem.sparse:
        R, C = csr_array(R), csr_array(C)
    return R, C


def solve(problem, **more):
    """`solve` on each pair of a problem: heard, and then one `Answer` per pair."""
    if problem.form in ("all", "two families"):
        i, j = zip(*problem.pairs, strict=True)
        r, c = problem.R[list(i)], problem.C[list(j)]
    else:
        r, c = sides(problem)
    heard = hear(sd.solve, r, c, ground(problem), **{**problem.options, **more})
    if heard.raised:
        return heard, []
    taken = hear(_answers, heard.result)
    if taken.raised or taken.warnings:
        return Heard(None, heard.warnings + taken.warnings, taken.raised), taken.result or []
    return heard, taken.result


def distance(problem, **more):
    """`distance`, or `pairwise` for all pairs: heard, and the values in the order of pairs."""
    r, c = sides(problem)
    options = {**problem.options, **more}
    if problem.form == "all":
        heard = hear(sd.pairwise, r, ground=ground(problem), **options)
    elif problem.form == "two families":
        heard = hear(sd.pairwise, r, c, ground=ground(problem), **options)
    else:
        heard = hear(sd.distance, r, c, ground(problem), **options)
    if heard.raised:
        return heard, []
    return heard, np.atleast_1d(np.asarray(heard.result)).ravel().tolist()


def _answers(s):
    """A solution as records."""
    single = np.ndim(s.value) == 0
    plan, bounds, bracket, gap, alpha = s.plan, s.emd_bounds, s.bracket, s.gap, s.alpha
    if single:
        return [
            Answer(
                s.value, s.marginal_error, s.status.name, s.lam, s.n_iter, s.solver,
                *s.potentials, plan, bounds, bracket, gap, alpha,
            )
        ]  # fmt: skip
    f, g = s.potentials
    return [
        Answer(
            float(s.value[k]), float(s.marginal_error[k]), sd.Status(s.status[k]).name,
            float(s.lam if np.ndim(s.lam) == 0 else s.lam[k]), int(s.n_iter[k]), str(s.solver[k]),
            f[k], g[k], plan[k], (float(bounds[0][k]), float(bounds[1][k])),
            (float(bracket[0][k]), float(bracket[1][k])), float(gap[k]), float(alpha[k]),
        )
        for k in range(len(s.value))
    ]  # fmt: skip


def bits(values):
    """Numbers to the last bit."""
    return [math.nan if x is None else float(x).hex() for x in values]
