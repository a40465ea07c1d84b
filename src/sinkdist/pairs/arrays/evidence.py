"""What a `Solution` of torch, JAX or CuPy arrays rests on: plans and certificates in blocks.

Certificates are taken in float64 wherever the device has it, from the numbers that the caller gave
and not from their rounding to the dtype of the results; bounds are rounded outwards to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.pairs.arrays.call import Call
from sinkdist.pairs.arrays.pairs import Solved
from sinkdist.solution.certificates import Measures, bracket, bracket_of_penalised, measure
from sinkdist.solution.plans import SparsePlan
from sinkdist.solution.projection import projected
from sinkdist.solution.reductions import Array, entropy
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.arrays.operators import Potentials, plan
from sinkdist.solvers.arrays.transport import Domain
from sinkdist.solvers.members import Constrained
from sinkdist.solvers.outcome import PLAIN, RELAXED

__all__ = ["ArrayEvidence"]

_BLOCK = 1 << 22  #: entries of plans looked at together


@dataclass(frozen=True, eq=False)
class ArrayEvidence:
    """Histograms and answers on a device; ``R`` has one row, shared, or one per pair."""

    call: Call
    R: Array
    C: Array
    solved: Solved
    single: bool

    @property
    def xp(self) -> Any:
        """The library of the numbers."""
        return self.call.context.xp

    def one(self, numbers: Array) -> Array:
        """The only entry, for a single pair."""
        return numbers[0, ...] if self.single else numbers

    def shaped(self, numbers: Array) -> Array:
        """Numbers per pair in the results' dtype."""
        return self.one(self.call.context.cast(numbers, self.call.dtype))

    def bounds(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Bounds in the results' dtype, rounded outwards."""
        eps = float(np.finfo(self.call.dtype).eps)
        if float(self.xp.finfo(low.dtype).eps) < eps:
            low, high = low - eps * self.xp.abs(low), high + eps * self.xp.abs(high)
        return self.shaped(low), self.shaped(high)

    def on_host(self, numbers: Array) -> npt.NDArray[Any] | None:
        """Numbers that can be printed; None under `jit` and `vmap`."""
        return self.call.context.host(numbers)

    def plan(self, s: Solution) -> Array:
        """All plans, or the only one."""
        return self.shaped(self._plans(self.call.costs.array, self.R, self.C, 0, self._n))

    def each(self, answer: Callable[[int], Any]) -> Any:
        """One answer per pair; the only one, for a single pair."""
        return answer(0) if self.single else [answer(k) for k in range(self._n)]

    def pieces(self, s: Solution, k: int) -> Iterator[SparsePlan]:
        """One plan, fetched from the device; an exact one as the few entries it was solved as."""
        host, exact, pairs = self.call.context.host, self.solved.exact, self.solved.exact_pairs
        if exact is not None and pairs is not None and (place := np.flatnonzero(pairs == k)).size:
            entries = [host(x[int(place[0]), ...]) for x in exact.plan]
            if any(x is None for x in entries):
                raise _not_known()
            rows, columns, mass = map(np.asarray, entries)
            yield SparsePlan(rows.astype(int), columns.astype(int), mass).only(mass > 0.0)
            return
        M, R = self.call.costs.array, self.R if self.R.shape[0] == 1 else self.R[k : k + 1, :]
        P = host(self._plans(M, R, self.C[k : k + 1, :], k, k + 1))
        if P is None:
            raise _not_known()
        yield SparsePlan.of(np.asarray(P, dtype=np.float64)[0])

    def rows(self, s: Solution, k: int, index: npt.NDArray[Any]) -> Array:
        """Some rows of one pair's plan."""
        M, R = self.call.costs.array, self.R if self.R.shape[0] == 1 else self.R[k : k + 1, :]
        found = self._plans(M, R, self.C[k : k + 1, :], k, k + 1)[0, ...]
        chosen = self.xp.take(found, self.call.context.put(index), axis=0)
        return self.call.context.cast(chosen, self.call.dtype)

    def projection(self, s: Solution, k: int, places: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Where the mass of every row goes on average, on the host."""
        return projected(self.pieces(s, k), int(s.ground.shape[0]), places)

    def costs_at(self, s: Solution, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Any:
        """Costs of some moves, fetched from the device."""
        M = self.call.context.host(self.call.context.constant(self.call.costs.array))
        if M is None:
            raise _not_known()
        return np.asarray(M, dtype=np.float64)[rows, columns]

    def objective(self, s: Solution) -> Array:
        """``<P, M> - h(P) / lam``; differentiable."""
        return self.shaped(self.solved.answer.objective)

    def objective_bounds(self, s: Solution) -> tuple[Array, Array]:
        """None of these arrays has them."""
        raise InputTypeError(
            "objective_bounds are for NumPy arrays; others have gap and emd_bounds."
        )

    def entropy(self, s: Solution) -> Array:
        """``h(P)``: lam times what the objective lacks of the value; differentiable."""
        xp, lam = self.xp, s.lam
        usual = (lam > 0) & (lam < xp.inf)
        difference = xp.where(usual, s.value - s.objective, 0.0)
        limits = entropy(xp, self.R) + entropy(xp, self.C)  # of the independence table
        exact = self.solved.exact
        if exact is not None:
            limits = self._placed(limits, entropy(xp, exact.mass))
        return xp.where(usual, xp.where(usual, lam, 0.0) * difference, self.shaped(limits))

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs, some at a time."""
        xp = self.xp

        def part(M: Array, R: Array, C: Array, first: int, last: int) -> Measures:
            lam, F, G = self._filled(M, first, last)
            return measure(xp, self._plans(M, R, C, first, last), M, lam, F, G, R, C)

        found = Measures(*self._in_blocks(part))
        exact, empty = self.solved.exact, self.solved.answer.status == int(Status.EMPTY)
        if exact is not None and self._is_double(exact.low):  # proven by the solver
            low, high = self._placed(found.lower, exact.low), self._placed(found.upper, exact.high)
            gap = self._placed(found.gap, exact.high - exact.low)
            found = found._replace(lower=low, upper=high, gap=gap)
        return Measures(*(xp.where(empty, xp.nan, x) for x in found))

    def proven(self, s: Solution) -> tuple[Array, Array]:
        """Bounds on the distances that were asked for: by the member of the family."""
        xp, known = self.xp, s._measures
        member = self.call.member

        def part(M: Array, R: Array, C: Array, first: int, last: int) -> tuple[Array, Array]:
            lam, F, G = self._filled(M, first, last)
            pair = Measures(*(x[first:last] for x in known))
            finite = xp.where(lam < xp.inf, lam, 1.0)
            if isinstance(member, Constrained):
                P = self._plans(M, R, C, first, last)
                low, high = bracket(xp, P, M, finite, F, G, R, C, member.alpha)
            else:
                low, high = bracket_of_penalised(xp, pair, M, finite, R, C)
            exact = lam == xp.inf
            return xp.where(exact, pair.lower, low), xp.where(exact, pair.upper, high)

        low, high = self._in_blocks(part)
        nothing = xp.isnan(known.value)
        return xp.where(nothing, xp.nan, low), xp.where(nothing, xp.nan, high)

    @property
    def _n(self) -> int:
        return int(self.C.shape[0])

    def _is_double(self, array: Array) -> bool:
        return float(self.xp.finfo(array.dtype).eps) < 1e-15

    def _in_blocks(self, part: Callable[..., tuple[Array, ...]]) -> list[Array]:
        """Numbers of all pairs from a function of costs and histograms, the first and the last."""
        constant, n = self.call.context.constant, self._n
        M, R, C = map(constant, self._given)
        step = max(1, _BLOCK // (M.shape[0] * M.shape[1]))
        parts = []
        for k in range(0, max(n, 1), step):
            end = min(k + step, n)
            rows = R if R.shape[0] == 1 else R[k:end, :]
            parts.append(part(M, rows, C[k:end, :], k, end))
        return [self.xp.concat(numbers) for numbers in zip(*parts, strict=True)]

    def _placed(self, numbers: Array, exact: Array) -> Array:
        """Numbers of all pairs, those of exact pairs from a place of their own."""
        pairs, place = self.solved.exact_pairs, np.arange(self._n)
        assert pairs is not None
        place[pairs] = self._n + np.arange(pairs.size)
        return self.xp.take(self.xp.concat([numbers, exact]), self.call.context.put(place))

    @cached_property
    def _given(self) -> tuple[Array, Array, Array]:
        """Costs and histograms as they were given, in float64 where there is any."""
        if self._is_double(self.C) or not self.call.context.has_double:
            return self.call.costs.array, self.R, self.C
        return self.call.in_double()

    def _found(self, M: Array, first: int, last: int) -> tuple[Array, ...]:
        """The lam and potentials of some pairs, in the dtype of the costs."""
        found, dtype = self.solved.answer, np.dtype(str(M.dtype).rpartition(".")[2])
        parts = found.lam[first:last], found.F[first:last, :], found.G[first:last, :]
        return tuple(self.call.context.constant(self.call.context.cast(x, dtype)) for x in parts)

    def _filled(self, M: Array, first: int, last: int) -> tuple[Array, ...]:
        """The same, with 0 for the potentials of pairs that have none."""
        lam, *potentials = self._found(M, first, last)
        none = (self.solved.answer.status == int(Status.EMPTY))[first:last, None]
        return lam, *(self.xp.where(none, 0.0, x) for x in potentials)

    def _plans(self, M: Array, R: Array, C: Array, first: int, last: int) -> Array:
        """The plans of some pairs, in the form that their lam asks for; without gradients."""
        context, found, xp = self.call.context, self.solved.answer, self.xp
        M = context.constant(M)
        lam, F, G = self._found(M, first, last)
        usual = (lam > 0) & (lam < xp.inf)
        F, G = (xp.where(usual[:, None], x, 0.0) for x in (F, G))
        lam = xp.where(usual, lam, 0.0)[:, None]
        P = plan(xp, M, lam, Potentials(F, G))
        if self.call.spec.domain in (Domain.SCALING, Domain.AUTO):  # as it was measured
            scaled = ((found.ran == PLAIN) | (found.ran == RELAXED))[first:last, None]
            U, V = (xp.exp(xp.where(scaled, lam * x, 0.0)) for x in (F, G))
            K = xp.exp(-xp.where(scaled, lam, 0.0)[:, :, None] * M)
            P = xp.where(scaled[:, :, None], U[:, :, None] * K * V[:, None, :], P)
        P = context.constant(xp.where(usual[:, None, None], P, R[:, :, None] * C[:, None, :]))
        exact, pairs = self.solved.exact, self.solved.exact_pairs
        if exact is None or pairs is None:
            return P
        dense = np.zeros(tuple(P.shape))
        known = [context.host(x) for x in exact.plan]
        for k in np.flatnonzero((first <= pairs) & (pairs < last)):
            at, to, mass = (np.asarray(x)[k] for x in known)
            np.add.at(dense[pairs[k] - first], (at, to), mass)
        exactly = context.put(np.isin(np.arange(first, last), pairs))
        return xp.where(exactly[:, None, None], xp.astype(context.put(dense), M.dtype), P)


def _not_known() -> InputTypeError:
    """The error for plans that are not computed yet."""
    return InputTypeError(
        "Sparse plans and moves are made on the host, which needs numbers that are known: call "
        "them outside of jit, vmap and other transformations."
    )
