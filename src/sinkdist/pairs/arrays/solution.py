"""What `solve` returns for device arrays: the attributes of `Solution`, as arrays of their kind.

Numbers are arrays on the device, 0-d for a single pair. ``value`` and ``objective`` can be
differentiated, with respect to histograms and costs; so can ``entropy``, which is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sinkdist.pairs.arrays.call import Call
from sinkdist.pairs.arrays.pairs import Solved
from sinkdist.solution.status import Status
from sinkdist.solvers.arrays.constrained import entropy
from sinkdist.solvers.arrays.products import Array, inverse, weighted
from sinkdist.solvers.arrays.stabilised import Potentials, plan
from sinkdist.solvers.arrays.transport import Domain
from sinkdist.solvers.outcome import PLAIN, RAN, RELAXED

__all__ = ["ArraySolution"]

_BLOCK = 1 << 22  #: entries of plans looked at together


class _Measures(NamedTuple):
    """Numbers that take a look at whole plans, one per pair."""

    alpha: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False, repr=False)
class ArraySolution:
    """Transport between histograms that live on a device; see `Solution` for what each name means.

    Attributes
    ----------
    value, marginal_error, n_iter, status, lam : array
        One entry per pair, 0-d for a single pair; ``status`` holds the numbers of `Status`.
    potentials : tuple of array
        ``f, g`` in units of cost; -inf on bins without mass.
    solver : str or ndarray of str
        What ran, for each pair.

    Examples
    --------
    >>> import array_api_strict as xp
    >>> import sinkdist as sd
    >>> r, c = xp.asarray([0.5, 0.5]), xp.asarray([0.2, 0.8])
    >>> s = sd.solve(r, c, [[0, 1], [1, 0]], lam=10)
    >>> bool(s.converged), round(float(s.value), 4)
    (True, 0.3)
    """

    value: Array
    objective: Array
    marginal_error: Array
    n_iter: Array
    status: Array
    lam: Array
    potentials: tuple[Array, Array]
    _call: Call
    _R: Array
    _C: Array
    _single: bool
    _solved: Solved

    @classmethod
    def of(cls, call: Call, R: Array, C: Array, solved: Solved, single: bool) -> ArraySolution:
        """From answers to all pairs."""
        home, found = call.home, solved.answer

        def one(x: Array, cast: bool = True) -> Array:
            x = home.cast(x, call.dtype) if cast else x
            return x[0, ...] if single else x

        return cls(
            one(found.value), one(found.objective), one(found.error), one(found.n_iter, False),
            one(found.status, False), one(found.lam), (one(found.F), one(found.G)), call, R, C,
            single, solved,
        )  # fmt: skip

    @property
    def solver(self) -> Any:
        """What ran; what was asked for, while numbers are not known."""
        ran = self._call.home.host(self._solved.answer.ran)
        if ran is None:
            return self._call.ran
        names = np.array(RAN)[ran]
        return str(names[0]) if self._single else names

    @property
    def converged(self) -> Array:
        """Whether the tolerance was reached."""
        return self.status == int(Status.CONVERGED)

    @property
    def plan(self) -> Array:
        """The coupling ``P``, of shape (d, d'), or (n, d, d') for many pairs."""
        P = self._plans(0, self._n)
        P = self._call.home.cast(P, self._call.dtype)
        return P[0, :, :] if self._single else P

    @property
    def entropy(self) -> Array:
        """``h(P)``: lam times what the objective lacks of the value; differentiable."""
        xp, lam = self._call.home.xp, self.lam
        usual = (lam > 0) & (lam < xp.inf)
        difference = xp.where(usual, self.value - self.objective, 0.0)
        return xp.where(usual, xp.where(usual, lam, 0.0) * difference, self._shaped(self._limits))

    @property
    def alpha(self) -> Array:
        """``KL(P || r c^T)``: the radius of the ball on whose surface the plan lies."""
        return self._shaped(self._measures.alpha)

    @property
    def emd_bounds(self) -> tuple[Array, Array]:
        """A lower and an upper bound on the exact EMD, valid whether converged or not."""
        return self._shaped(self._measures.lower), self._shaped(self._measures.upper)

    @property
    def _n(self) -> int:
        return int(self._C.shape[0])

    @cached_property
    def _limits(self) -> Array:
        """Entropies where lam is 0 or infinite: of the independence table, or of an exact plan."""
        home = self._call.home
        xp = home.xp
        product = entropy(xp, self._R) + entropy(xp, self._C)
        exact, pairs = self._solved.exact, self._solved.exact_pairs
        if exact is None or pairs is None:
            return product
        place = np.arange(self._n)
        place[pairs] = self._n + np.arange(pairs.size)
        return xp.take(xp.concat([product, entropy(xp, exact.mass)]), home.put(place))

    @cached_property
    def _measures(self) -> _Measures:
        """Certificates of all pairs, some at a time."""
        xp = self._call.home.xp
        d, e = self._call.costs.matrix.shape
        step = max(1, _BLOCK // (d * e))
        parts = [self._measure(k, min(k + step, self._n)) for k in range(0, max(self._n, 1), step)]
        return _Measures(*(xp.concat(numbers) for numbers in zip(*parts, strict=True)))

    def _measure(self, first: int, last: int) -> _Measures:
        """The certificates of section 3 of the notes on algorithms, for some pairs."""
        xp, M = self._call.home.xp, self._call.home.constant(self._call.costs.matrix)
        P = self._plans(first, last)
        r, c = self._histograms(first, last)
        rows, columns = xp.sum(P, axis=2), xp.sum(P, axis=1)
        log_r, log_c = (xp.log(xp.where(h > 0, h, 1.0)) for h in (r, c))
        log_P = xp.log(xp.where(P > 0, P, 1.0))
        alpha = xp.sum(P * log_P, axis=(1, 2)) - xp.sum(rows * log_r, axis=1)
        alpha = xp.maximum(alpha - xp.sum(columns * log_c, axis=1), 0.0)
        f, g = (x[first:last, :] for x in (self._solved.answer.F, self._solved.answer.G))
        by_f = xp.min(M - f[:, :, None], axis=1)
        by_g = xp.min(M - g[:, None, :], axis=2)
        lower = xp.maximum(
            weighted(xp, r, f) + weighted(xp, c, by_f), weighted(xp, r, by_g) + weighted(xp, c, g)
        )
        G = P * xp.minimum(r * inverse(xp, rows), 1.0)[:, :, None]
        G = G * xp.minimum(c * inverse(xp, xp.sum(G, axis=1)), 1.0)[:, None, :]
        left = xp.maximum(r - xp.sum(G, axis=2), 0.0)
        missing = xp.maximum(c - xp.sum(G, axis=1), 0.0)
        rest = xp.sum((left @ M) * missing, axis=1) * inverse(xp, xp.sum(left, axis=1))
        return _Measures(alpha, xp.maximum(lower, 0.0), xp.sum(G * M, axis=(1, 2)) + rest)

    def _histograms(self, first: int, last: int) -> tuple[Array, Array]:
        """The histograms of some pairs, without gradients."""
        home = self._call.home
        R = self._R if self._R.shape[0] == 1 else self._R[first:last, :]
        return home.constant(R), home.constant(self._C[first:last, :])

    def _plans(self, first: int, last: int) -> Array:
        """The plans of some pairs, in the form that their lam asks for; without gradients."""
        home, found = self._call.home, self._solved.answer
        xp, M = home.xp, home.constant(self._call.costs.matrix)
        r, c = self._histograms(first, last)
        lam = found.lam[first:last]
        usual = (lam > 0) & (lam < xp.inf)
        F, G = (xp.where(usual[:, None], x[first:last, :], 0.0) for x in (found.F, found.G))
        lam = xp.where(usual, lam, 0.0)[:, None]
        P = plan(xp, M, lam, Potentials(F, G))
        if self._call.question.domain in (Domain.SCALING, Domain.AUTO):  # as it was measured
            scaled = ((found.ran == PLAIN) | (found.ran == RELAXED))[first:last, None]
            U, V = (xp.exp(xp.where(scaled, lam * x, 0.0)) for x in (F, G))
            K = xp.exp(-xp.where(scaled, lam, 0.0)[:, :, None] * M)
            P = xp.where(scaled[:, :, None], U[:, :, None] * K * V[:, None, :], P)
        P = xp.where(usual[:, None, None], P, r[:, :, None] * c[:, None, :])
        exact, pairs = self._solved.exact, self._solved.exact_pairs
        if exact is None or pairs is None:
            return home.constant(P)
        dense = np.zeros(tuple(P.shape))
        known = [home.host(x) for x in exact.plan]
        mine = (first <= pairs) & (pairs < last)
        for k in np.flatnonzero(mine):
            at, to, mass = (np.asarray(x)[k] for x in known)
            np.add.at(dense[pairs[k] - first], (at, to), mass)
        name = self._call.costs.matrix.dtype
        exactly = home.put(np.isin(np.arange(first, last), pairs))
        put = home.xp.astype(home.put(dense), name)
        return xp.where(exactly[:, None, None], put, home.constant(P))

    def _shaped(self, numbers: Array) -> Array:
        """One number per pair in the results' dtype; the only one, for a single pair."""
        numbers = self._call.home.cast(numbers, self._call.dtype)
        return numbers[0] if self._single else numbers

    def __repr__(self) -> str:
        home = self._call.home
        numbers = [
            home.host(x) for x in (self.value, self.marginal_error, self.n_iter, self.status)
        ]
        if any(x is None for x in numbers):
            return f"Solution({self._n} pairs, not computed yet)"
        value, error, n_iter, status = map(np.asarray, numbers)
        fine = status == Status.CONVERGED
        if self._single:
            return (
                f"Solution(value={value:.4g}, marginal_error={error:.1e}, converged={bool(fine)}, "
                f"solver={self.solver!r}, n_iter={n_iter})"
            )
        worst = float(np.nanmax(error, initial=0.0))
        return (
            f"Solution({value.size} pairs, {int(fine.sum())} converged, "
            f"worst marginal_error={worst:.1e})"
        )
