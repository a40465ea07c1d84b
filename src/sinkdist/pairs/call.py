"""Reading a call: everything is checked before any work begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs import histograms
from sinkdist.inputs.histograms import Histograms
from sinkdist.problem import stopping, strength
from sinkdist.problem.stopping import Stopping
from sinkdist.problem.strength import Kind, Strength
from sinkdist.scale import threads
from sinkdist.solvers import table
from sinkdist.solvers.policy import MODERATE, SINGLE
from sinkdist.solvers.task import Task

__all__ = ["Call", "read_call", "read_families", "refuse_choice", "require_range"]

_LARGE_KERNEL = 1 << 19  #: entries from which a kernel is built on threads
_WEAK = 1e-14  #: lam times the largest cost that changes nothing
_CHECKED_BINS = 512  #: up to which every triangle is looked at for a single pair


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for, checked."""

    ground: Ground
    strength: Strength
    stopping: Stopping
    solver: table.Solver
    dtype: np.dtype[Any]

    def task(
        self, keep_potentials: bool, workers: int, pairs: int = 1, need_error: bool = False, *,
        as_given: bool = False,
    ) -> Task:  # fmt: skip
        """The same for the solvers, with the kernel prepared where there is one.

        ``as_given`` keeps the caller's unit of cost, however large or small costs are.
        """
        gibbs = block_gibbs = None
        metric = False
        ground, strength, unit = self.ground, self.strength, 1.0
        if not as_given:
            ground, strength, unit = self._in_moderate_units()
        kind, stop = strength.kind, self.stopping
        if kind is Kind.PENALISED:
            gibbs = ground.gibbs(strength.lam, np.dtype(np.float64))
            block_gibbs = ground.gibbs(strength.lam, self.dtype)
            if not block_gibbs.fits:  # float64 holds more
                block_gibbs = gibbs
            used = gibbs if pairs == 1 else block_gibbs
            if used.fits and used.matrix.size > _LARGE_KERNEL and workers > 1:
                used.build(lambda bands, fill: threads.run(bands, fill, workers))
        elif kind is not Kind.INDEPENDENCE:
            worth = max(ground.shape) <= max(_CHECKED_BINS, pairs)
            metric = ground.is_known_metric or (worth and bool(ground.is_metric))
        return Task(
            ground, strength, gibbs, block_gibbs, self.solver, stop.tol, stop.max_iter,
            stop.iterations, keep_potentials, metric, need_error, unit,
            None if kind is Kind.CONSTRAINED else self.strength.lam,
        )  # fmt: skip

    def _in_moderate_units(self) -> tuple[Ground, Strength, float]:
        """Costs of moderate size, and the strength in their unit; the unit is a power of two."""
        ground, strength = self.ground, self.strength
        least, most = MODERATE
        if least <= ground.max <= most or ground.max == 0.0:
            return ground, strength, 1.0
        unit = 2.0 ** math.frexp(ground.max)[1]
        if strength.kind is Kind.PENALISED:
            strength = Strength(min(max(strength.lam * unit, 1e-300), 1e300))
        return ground.moved("moderate", lambda costs: ground.scaled(unit)), strength, unit


def read_call(
    ground: Any, lam: Any, reg: Any, alpha: Any, tol: Any, max_iter: Any, iterations: Any,
    solver: Any, dtype: np.dtype[Any],
) -> Call:  # fmt: skip
    """Check all that is not a histogram."""
    chosen = table.by_name(solver)
    stop = stopping.read(
        dtype, tol=tol, max_iter=max_iter, iterations=iterations, solver=chosen.name
    )
    ground, asked = Ground.of(ground), strength.read(lam=lam, reg=reg, alpha=alpha)
    if asked.kind is not Kind.PENALISED:
        refuse_choice(asked.kind, iterations, chosen.name)
    require_range(ground.max, dtype)
    if asked.kind is Kind.INDEPENDENCE and (lam or reg):
        _require_weak(float(lam or 1.0 / reg), ground)
    return Call(ground, asked, stop, chosen, dtype)


def require_range(largest: float, dtype: np.dtype[Any]) -> None:
    """Raise where costs, and so the distances, are beyond float32, in which these would be."""
    least, most = SINGLE
    if dtype != np.float32 or least <= largest <= most or largest == 0.0:
        return
    raise InputError(
        f"The largest cost is {largest:.3g}, which {dtype.name} cannot hold, and neither could it "
        "hold the distance: pass histograms in float64, or dtype='float64', or a scaled ground."
    )


def _require_weak(lam: float, ground: Ground) -> None:
    """Raise for a lam whose inverse is too large for floats, though costs are large as well."""
    if lam * ground.max > _WEAK:
        raise InputError(
            f"lam = {lam:.3g} with costs up to {ground.max:.3g} is beyond the range of floats: "
            "divide the costs by a number, and multiply lam by it."
        )


def refuse_choice(kind: Kind, iterations: Any, solver: str) -> None:
    """Only a finite, positive lam leaves a choice of solver and of steps."""
    if iterations is not None:
        raise InputError(
            "'iterations' counts steps of Algorithm 1, which needs a positive, finite 'lam' or "
            f"'reg'; this call asks for the {kind.value} distance."
        )
    if solver != "auto":
        raise InputError(
            f"solver={solver!r} needs a positive, finite 'lam' or 'reg'; the {kind.value} distance "
            "has one way of its own."
        )


def read_families(
    first: Any, second: Any, names: tuple[str, str], call: Call, normalize: bool, on_empty: str
) -> tuple[Histograms, Histograms]:
    """Read both sides of a call; one family given twice is read once."""
    if first is not second:
        histograms.check_same_bins(first, second, *names)
    rows, columns = call.ground.shape
    a = histograms.read(
        first, names[0], dtype=call.dtype, bins=rows, normalize=normalize, on_empty=on_empty
    )
    if first is second and rows == columns:
        return a, a
    b = histograms.read(
        second, names[1], dtype=call.dtype, bins=columns, normalize=normalize, on_empty=on_empty
    )
    return a, b
