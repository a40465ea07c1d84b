"""Reading a call: everything is checked before any work begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs import histograms
from sinkdist.inputs.arrays import is_sparse
from sinkdist.inputs.flags import flag, listener
from sinkdist.inputs.histograms import Histograms, working_dtype
from sinkdist.inputs.messages import not_a_family
from sinkdist.problem import masses, stopping, strength
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem, require_range
from sinkdist.problem.scale_check import check_scale
from sinkdist.solvers import table
from sinkdist.solvers.members import member_of

__all__ = ["check_flags", "problem_of", "read_families", "read_problem", "require_families"]

_WEAK = 1e-14  #: lam times the largest cost that changes nothing


def check_flags(options: Options) -> None:
    """Raise for options that are True or False, or a listener, and were given as something else."""
    for name in ("coincidence", "debiased", "overwrite"):
        flag(name, getattr(options, name))
    listener(options.progress)


def read_problem(first: Any, second: Any, ground: Any, options: Options) -> Problem:
    """Check all that is not a histogram; the dtype of the histograms may decide the problem's."""
    problem = problem_of(ground, options, working_dtype(first, second, dtype=options.dtype))
    check_scale(problem.member.lam, options.lam, problem.ground)
    return problem


def problem_of(ground: Any, options: Options, dtype: np.dtype[Any]) -> Problem:
    """The same for a dtype that is known."""
    solver = table.by_name(options.solver)
    stop = stopping.read(
        dtype, tol=options.tol, max_iter=options.max_iter, iterations=options.iterations,
        solver=solver.name,
    )  # fmt: skip
    penalty, costs = masses.read(options.mass_penalty), Ground.of(ground)
    asked = strength.read(
        lam=options.lam, reg=options.reg, alpha=options.alpha, median=lambda: costs.median
    )
    member = member_of(asked, penalty)
    problem = Problem(costs, member, stop, solver, dtype, options)
    member.check(stop.iterations, solver.name)
    require_range(problem.ground.max, dtype)
    if asked.name == "lam" and member.lam == 0.0 < asked.value:
        _require_weak(asked.value, problem.ground)
    return problem


def _require_weak(lam: float, ground: Ground) -> None:
    """Raise for a lam whose inverse is too large for floats, though costs are large as well."""
    if lam * ground.max > _WEAK:
        raise InputError(
            f"lam = {lam:.3g} with costs up to {ground.max:.3g} is beyond the range of floats: "
            "divide the costs by a number, and multiply lam by it."
        )


def read_families(
    first: Any, second: Any, names: tuple[str, str], problem: Problem
) -> tuple[Histograms, Histograms]:
    """Read both sides of a call; one family given twice is read once."""
    options = problem.options
    if first is not second:
        histograms.check_same_bins(first, second, *names)

    def read(values: Any, name: str, bins: int) -> Histograms:
        return histograms.read(
            values, name, dtype=problem.dtype, bins=bins, normalize=options.normalize,
            on_empty=options.on_empty, any_total=problem.member.any_total,
        )  # fmt: skip

    rows, columns = problem.ground.shape
    a = read(first, names[0], rows)
    if first is second and rows == columns:
        return a, a
    b = read(second, names[1], columns)
    if names == ("r", "c"):
        return _one_row(first, a, b.n), _one_row(second, b, a.n)
    return a, b


def _one_row(given: Any, family: Histograms, others: int) -> Histograms:
    """A sparse matrix of one row, as ``X[3]`` gives, is one histogram beside a family."""
    if family.n == 1 and others != 1 and not family.is_vector and is_sparse(given):
        return replace(family, is_vector=True)
    return family


def require_families(A: Histograms, B: Histograms) -> None:
    """Raise for a single histogram where a family is wanted."""
    for family, name in ((A, "X"), (B, "Y")):
        if family.is_vector:
            raise not_a_family(name, family.d)
