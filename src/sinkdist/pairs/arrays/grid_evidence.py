"""What a `Solution` of torch, JAX or CuPy arrays on a large grid rests on.

There is no matrix to take certificates and plans from on the device. They are taken on the host,
from the potentials that came out, as those of NumPy arrays are; the answers are put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.arrays.evidence import ArrayEvidence
from sinkdist.solution.certificates import Measures
from sinkdist.solution.evidence import HostEvidence
from sinkdist.solution.plans import SparsePlan
from sinkdist.solution.reductions import Array
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status

__all__ = ["GridEvidence"]

_SINGLE = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class GridEvidence(ArrayEvidence):
    """Numbers and gradients as for all arrays on a device; plans and bounds of the host."""

    def plan(self, s: Solution) -> Array:
        """All plans, or the only one; an error with the size where they are too large."""
        return self._put(self._host.plan, self.call.dtype)

    def pieces(self, s: Solution, k: int) -> Iterator[SparsePlan]:
        """One plan on the host, some rows at a time."""
        return self._host._evidence.pieces(self._host, k)

    def rows(self, s: Solution, k: int, index: npt.NDArray[Any]) -> Array:
        """Some rows of one pair's plan."""
        return self._put(self._host._evidence.rows(self._host, k, index), self.call.dtype)

    def projection(self, s: Solution, k: int, places: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Where the mass of every row goes on average, on the host."""
        return self._host._evidence.projection(self._host, k, places)

    def costs_at(self, s: Solution, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Any:
        """Costs of some moves."""
        return self._host.ground.costs_at(rows, columns)

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs."""
        found = self._host._measures
        low, high = self._outwards(found.lower, found.upper)
        gap = self._outwards(found.gap, found.gap)[1]
        rest = {x: self._put(getattr(found, x)) for x in ("value", "entropy", "alpha", "cost")}
        return Measures(lower=low, upper=high, gap=gap, **rest)

    def proven(self, s: Solution) -> tuple[Array, Array]:
        """Bounds on the distances that were asked for."""
        return self._outwards(*self._host._evidence.proven(self._host))

    def _outwards(self, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Bounds of the host, which stay bounds where the device has no float64."""
        if not self.call.context.has_double:
            low, high = low - _SINGLE * np.abs(low), high + _SINGLE * np.abs(high)
        return self._put(low), self._put(high)

    def _put(self, numbers: npt.NDArray[Any], dtype: Any = None) -> Array:
        """Numbers of the host where the others are; in float64 where there is any."""
        double = np.float64 if self.call.context.has_double else np.float32
        return self.call.context.put(np.asarray(numbers), double if dtype is None else dtype)

    @cached_property
    def _host(self) -> Solution:
        """The same solution of NumPy arrays."""
        host, found = self.call.context.host, self.solved.answer
        names = ("value", "error", "n_iter", "status", "lam", "F", "G")
        known = [host(getattr(found, name)) for name in names]
        given = [host(x) for x in self._given[1:]]
        if any(x is None for x in (*known, *given)):
            raise InputTypeError(
                "Plans and bounds on large grids are made on the host, which needs numbers that "
                "are known: ask for them outside of jit, vmap and other transformations."
            )
        value, error, n_iter, status, lam, F, G = (np.asarray(x) for x in known)
        R, C = (np.array(x, np.float64) for x in given)
        C[status == int(Status.EMPTY)] = 0.0
        evidence = HostEvidence(Histograms(R, len(R) == 1), Histograms(C, self.single), None, None)
        potentials = self._only(F.astype(np.float64)), self._only(G.astype(np.float64))
        ran = np.full(len(C), self.call.ran)
        return Solution(
            value, error, n_iter, status, ran, lam.astype(np.float64), potentials,
            self.call.costs.ground, _evidence=evidence,
        )  # fmt: skip

    def _only(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The only row, for a single pair."""
        return numbers[0] if self.single else numbers
