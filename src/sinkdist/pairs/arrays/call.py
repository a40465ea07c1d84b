"""Reading a call on device arrays: the options of the verbs, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.inputs.array_context import ArrayContext, context_of
from sinkdist.inputs.flags import flag
from sinkdist.pairs.arrays import reading
from sinkdist.pairs.arrays.reading import Costs, Family
from sinkdist.problem import masses, stopping, strength
from sinkdist.problem.options import Options
from sinkdist.problem.scale_check import check_scale
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.reductions import Array
from sinkdist.solvers import table
from sinkdist.solvers.arrays.axes import Axes, operator_of
from sinkdist.solvers.arrays.operators import CostOperator
from sinkdist.solvers.arrays.transport import BlockSpec, Domain, Parameters
from sinkdist.solvers.members import (
    Constrained,
    Exact,
    Independent,
    Member,
    Penalised,
    Unbalanced,
    member_of,
)
from sinkdist.solvers.policy import MODERATE, safe_exponent
from sinkdist.wording import option, setting

__all__ = ["Call", "read"]

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What was asked for, checked.

    ``costs`` and histograms are in the dtype that is computed in, which is float64 where float32
    cannot hold the kernel.
    """

    context: ArrayContext
    costs: Costs
    member: Member
    stopping: Stopping
    spec: BlockSpec  #: for the pairs, where there is a lam or an alpha
    dtype: np.dtype[Any]  #: that of the results
    known: bool  #: whether numbers can be looked at: not under `jit` and `vmap`
    #: Costs, and rows of matched pairs, in float64 as they were given.
    in_double: Callable[[], tuple[Array, Array, Array]]

    @property
    def operator(self) -> CostOperator:
        """The costs as loops ask for them."""
        return operator_of(self.context.xp, self.spec.axes, self.costs.array)

    @property
    def numbers(self) -> Parameters:
        """What may change from call to call."""
        member, stop = self.member, self.stopping
        number = member.alpha if isinstance(member, Constrained) else member.lam
        return Parameters(number, stop.tol, stop.max_iter)

    @property
    def ran(self) -> str:
        """What `Solution.solver` says while it is not known how pairs went."""
        member, domain = self.member, self.spec.domain
        if not isinstance(member, Penalised):
            return "simplex" if isinstance(member, Exact) else member.word
        if self.spec.iterations is not None:
            return "algorithm1"
        if domain is Domain.LOG:
            return "log"
        return "relaxed" if self.spec.relax else "plain"


def read(
    first: Any, second: Any, names: tuple[str, str], ground: Any, options: Options, keep: bool
) -> tuple[Call, Family, Family]:
    """Check everything before any work begins; the host looks at numbers once."""
    options = replace(options, normalize=flag("normalize", options.normalize))
    named = {names[0]: first, names[1]: second}
    context = context_of(named, ground)
    dtype = context.dtype([first, second], options.dtype)
    solver = table.by_name(options.solver)
    if solver.name == "newton":
        raise InputError(
            "{} is for NumPy arrays; on other devices there is no such choice: leave it out.",
            setting("solver", "newton"),
        )
    if options.workers is not None:
        raise InputError(
            "The {} option is for NumPy arrays; {} has threads of its own: leave it out.",
            option("workers"),
            context.kind,
        )
    stop = stopping.read(
        dtype, tol=options.tol, max_iter=options.max_iter, iterations=options.iterations,
        solver=solver.name,
    )  # fmt: skip
    asked = strength.read(
        lam=options.lam, reg=options.reg, alpha=options.alpha,
        median=lambda: reading.median_of(context, ground),
    )  # fmt: skip
    member = member_of(asked, masses.read(options.mass_penalty))
    member.check(stop.iterations, solver.name)
    by_axes = isinstance(member, Penalised | Independent)

    def families(costs: Costs, dtype: np.dtype[Any]) -> list[Family]:
        shape = costs.shape
        one = first is second and shape[0] == shape[1]
        given = zip((first, second)[: 1 if one else 2], names, shape, strict=False)
        return [
            reading.read_family(
                context,
                values,
                name,
                dtype,
                bins,
                options.normalize,
                options.on_empty,
                member.any_total,
            )
            for values, name, bins in given
        ]

    def in_double() -> tuple[Array, Array, Array]:
        wide = reading.read_costs(context, ground, _DOUBLE, by_axes)
        found = [
            family if known else reading.guarded(context, family)
            for family in families(wide, _DOUBLE)
        ]
        return wide.array, *reading.matched(context, found[0], found[-1])

    costs = reading.read_costs(context, ground, dtype, by_axes)
    if costs.ground is not None:
        check_scale(member.lam, options.lam, costs.ground)
    found = families(costs, dtype)
    costs, known = reading.check(
        context, dtype, found, costs, options.normalize, options.on_empty, member.any_total
    )
    domain, wide = _domain(context, dtype, member, costs.largest, solver.name)
    if wide:
        costs = replace(costs, array=reading.read_costs(context, ground, _DOUBLE, by_axes).array)
        found = families(costs, _DOUBLE)
    if not known:
        found = [reading.guarded(context, family) for family in found]
    spec = BlockSpec(
        domain, stop.iterations, solver.name != "plain", keep, costs.learns,
        _axes(costs, member.lam, _DOUBLE if wide else dtype),
    )  # fmt: skip
    call = Call(context, costs, member, stop, spec, dtype, known, in_double)
    return call, found[0], found[-1]


def _axes(costs: Costs, lam: float, dtype: np.dtype[Any]) -> Axes | None:
    """The grid that sums are taken along the axes of, if they are."""
    grid = costs.grid
    if grid is None:
        return None
    sharpness = [lam * step for step in grid.steps]
    power = 2 if grid.kind == "sqeuclidean" else 1
    return Axes.of(power, grid.sides, sharpness, safe_exponent(dtype))


def _domain(
    context: ArrayContext, dtype: np.dtype[Any], member: Member, largest: float | None, solver: str
) -> tuple[Domain, bool]:
    """Where to sweep, and whether in float64 because float32 cannot hold the kernel."""
    can_widen = dtype != _DOUBLE and context.has_double
    far = largest is not None and not (largest == 0.0 or MODERATE[0] < largest < MODERATE[1])
    if isinstance(member, Unbalanced):
        return Domain.LOG, can_widen
    if not isinstance(member, Penalised):
        return Domain.CONSTRAINED, can_widen and isinstance(member, Constrained)
    if solver == "log":
        return Domain.LOG, can_widen
    if largest is None:
        return Domain.AUTO, False
    if member.lam * largest <= safe_exponent(dtype):
        return Domain.SCALING, can_widen and far
    if member.lam * largest <= safe_exponent(_DOUBLE) and context.has_double:
        return Domain.SCALING, can_widen
    return Domain.LOG, can_widen
