"""Reading histograms and costs where they live, with one look by the host.

Masses are divided by their sum in any case, as part of what is differentiated: the distance is a
function of ``r / sum(r)``, so its gradient has no component along r, and gradients of bins without
mass are 0. The rules are those of `inputs`. What is wrong is counted on the device; only if
something is, the numbers are fetched and read again by `histograms` and `Ground`, which say what
and where. Under `jit` and `vmap` there are no numbers to look at yet, and no error can be raised:
rows that would be refused are `guarded`, and their results become NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.ground.grid import GridCosts
from sinkdist.inputs import histograms
from sinkdist.inputs.array_context import ArrayContext, kind_of
from sinkdist.inputs.messages import check_shape, not_a_family, unmatched
from sinkdist.inputs.thresholds import NEGLIGIBLE, negative_rounding, slack
from sinkdist.problem.problem import require_range
from sinkdist.solution.reductions import Array
from sinkdist.solvers.policy import SYMMETRY
from sinkdist.wording import option

__all__ = [
    "Costs", "Family", "check", "guarded", "matched", "median_of", "read_costs", "read_family",
    "require_families",
]  # fmt: skip

_HOST = "bring {} arrays to the host first, as by numpy.asarray"


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Histograms on a device: rows that sum to 1, unless totals may differ.

    ``bad`` marks those that are to be refused.

    ``empty`` marks rows without mass where ``on_empty="nan"``: they are given one unit of mass in
    their first bin, and their results become NaN.
    """

    name: str
    rows: Array
    is_vector: bool
    empty: Array | None
    bad: Array
    given: Array

    @property
    def n(self) -> int:
        """Number of histograms."""
        return int(self.rows.shape[0])

    def taken(self, xp: Any, index: Array) -> Family:
        """Some rows."""
        rows, bad = xp.take(self.rows, index, axis=0), xp.take(self.bad, index)
        empty = None if self.empty is None else xp.take(self.empty, index)
        return replace(self, rows=rows, empty=empty, bad=bad)


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """Costs on a device; ``ground`` is there if they came from the host and are constant.

    ``array`` is their matrix; of a ``grid`` whose costs are sums over axes it is the cost of a step
    along each of them. ``largest`` is None while it is not known; ``bad`` then says, on the device,
    whether there are costs that would be refused.
    """

    array: Array
    ground: Ground | None
    largest: float | None
    given: Any
    bad: Array | None = None
    grid: GridCosts | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""
        rows, columns = self.array.shape if self.grid is None else self.grid.shape
        return int(rows), int(columns)

    @property
    def learns(self) -> bool:
        """Whether a gradient with respect to the costs may be asked for."""
        return self.ground is None

    def is_symmetric(self, context: ArrayContext) -> bool | None:
        """Whether costs are symmetric, by the rule of `Ground`; None while that is not known."""
        xp, M = context.xp, self.array
        if self.ground is not None:
            return self.ground.is_symmetric
        if M.shape[0] != M.shape[1]:
            return False
        same = context.host(xp.all(xp.abs(M - M.T) <= SYMMETRY * xp.minimum(M, M.T)))
        return None if same is None else bool(same)


def read_family(
    context: ArrayContext, values: Any, name: str, dtype: np.dtype[Any], bins: int, normalize: bool,
    on_empty: str, any_total: bool = False,
) -> Family:  # fmt: skip
    """One histogram or a family; shape and kind are checked here, numbers by `check`."""
    histograms.check_on_empty(on_empty)
    check_shape(tuple(values.shape), name, bins, "the ground metric")
    xp, source = context.xp, str(values.dtype).rpartition(".")[2]
    x = context.cast(values[None, :] if values.ndim == 1 else values, dtype)
    top = xp.max(x, axis=1, keepdims=True)
    negative = x < -negative_rounding(source) * xp.maximum(top, 0.0)
    bad = xp.any(negative | ~xp.isfinite(x), axis=1)
    x = xp.where(x < NEGLIGIBLE[dtype.name], 0.0, x)
    if normalize:  # by the maximum first: the sum may be too large
        x = x / xp.where(top > 0, context.constant(top), 1.0)
    total = xp.sum(x, axis=1, keepdims=True)
    empty = total[:, 0] == 0
    if not (normalize or any_total):
        off = xp.abs(total[:, 0] - 1.0)
        bad = bad | (~empty & ~(off <= slack(source, values.shape[-1])))
    rows = x if any_total and not normalize else x / xp.where(empty[:, None], 1.0, total)
    if on_empty == "raise":
        return Family(name, rows, values.ndim == 1, None, bad | empty, values)
    first = rows[:, :1] + context.cast(empty[:, None], dtype)
    rows = xp.concat([first, rows[:, 1:]], axis=1)
    return Family(name, rows, values.ndim == 1, empty, bad, values)


def guarded(context: ArrayContext, family: Family) -> Family:
    """The same with one unit of mass in the first bin of bad rows, whose results will be NaN.

    So that no loop runs away on them. Their gradients pass, in order to become NaN as well.
    """
    xp = context.xp
    rows = xp.where(xp.isfinite(family.rows), family.rows, 0.0)
    fixed = context.constant(rows)
    first = xp.concat([xp.ones_like(fixed[:, :1]), xp.zeros_like(fixed[:, 1:])], axis=1)
    return replace(family, rows=xp.where(family.bad[:, None], first, fixed) + (rows - fixed))


def require_families(*families: Family) -> None:
    """Raise for a single histogram where a family is wanted."""
    for family in families:
        if family.is_vector:
            raise not_a_family(family.name, family.rows.shape[1])


def matched(context: ArrayContext, A: Family, B: Family) -> tuple[Array, Array]:
    """Rows of matched pairs; a single histogram on the left stays one row."""
    if not (A.is_vector or B.is_vector or A.n == B.n):
        raise unmatched(A.n, B.n)
    if B.is_vector and not A.is_vector:
        return A.rows, context.xp.broadcast_to(B.rows, (A.n, B.rows.shape[1]))
    return A.rows, B.rows


def read_costs(
    context: ArrayContext, ground: Any, dtype: np.dtype[Any], by_axes: bool = False
) -> Costs:
    """Costs where the histograms are: moved there once if they are on the host.

    Of a large grid only those of a step along every axis, where ``by_axes`` is enough.
    """
    if kind_of(ground) is None:
        ground = Ground.of(ground)
        require_range(ground.max, dtype)
        grid = ground.as_grid
        if grid is not None and by_axes and grid.is_separable:
            if not grid.has_axes:
                raise grid.refusal_of_axes(_HOST.format(context.kind))
            steps = context.put(np.array(grid.steps), dtype)
            return Costs(steps, ground, ground.max, ground, grid=grid)
        refusal = ground.refusal("costs", _instead(context, ground))
        if refusal is not None:
            raise refusal
        place = (context.kind, str(context.device), dtype.name)
        matrix = ground.moved(place, lambda costs: context.put(costs.dense, dtype))
        return Costs(matrix, ground, ground.max, ground)
    if ground.ndim != 2 or 0 in ground.shape:
        Ground(np.empty(tuple(ground.shape)))  # raises, and says why
    return Costs(context.cast(ground, dtype), None, None, ground)


def _instead(context: ArrayContext, ground: Ground) -> str:
    """What those may do whose costs would be too large a matrix."""
    host = _HOST.format(context.kind)
    grid = ground.as_grid
    if grid is None:
        return f"Such grounds are for NumPy arrays: {host}"
    if not grid.is_separable:
        return (
            f"Euclidean distances on such grids are for NumPy arrays: {host}. Or use "
            "metric='sqeuclidean' or 'cityblock', which need no matrix"
        )
    return (
        "Without it, such grids are solved at a finite lam or reg, and equal masses. What was "
        f"asked for is for NumPy arrays: {host}"
    )


def median_of(context: ArrayContext, ground: Any) -> float:
    """The median cost, for a lam that is relative to it; the host has to know the costs."""
    if kind_of(ground) is None:
        return Ground.of(ground).median
    costs = context.host(ground)
    if costs is None:
        raise InputError(
            "{} over the median needs costs that are known, and these are being traced: pass a "
            "Ground, or a number.",
            option("lam"),
        )
    return Ground(costs).median


def check(
    context: ArrayContext, dtype: np.dtype[Any], families: list[Family], costs: Costs,
    normalize: bool, on_empty: str, any_total: bool = False,
) -> tuple[Costs, bool]:  # fmt: skip
    """Look once at what was counted, and raise what `histograms` and `Ground` have to say.

    Returns the costs with their largest, and whether there was something to look at.
    """
    xp, M = context.xp, costs.array
    marks = [context.cast(xp.any(family.bad), dtype) for family in families]
    if costs.ground is None:
        marks += [xp.min(M), xp.max(M)]
    seen = context.host(xp.stack([context.constant(mark) for mark in marks]))
    if seen is None:
        bad = None if costs.ground is not None else ~((xp.min(M) >= 0) & (xp.max(M) < xp.inf))
        return replace(costs, bad=bad), False
    for family, bad in zip(families, seen, strict=False):
        if bad:
            numbers = context.host(family.given)
            histograms.read(
                numbers, family.name, dtype=dtype, normalize=normalize, on_empty=on_empty,
                any_total=any_total,
            )  # fmt: skip
    if costs.ground is not None:
        return costs, True
    least, largest = float(seen[-2]), float(seen[-1])
    if not (least >= 0.0 and 0.0 < largest < math.inf):  # for this dtype, or at all
        largest = Ground(context.host(costs.given)).max
    require_range(largest, dtype)
    return replace(costs, largest=largest), True
