"""What a solve returns: `Solution`, and `Status` with its sentence.

Numbers that cost a pass over the kernel (plan, entropy, bounds) are computed when first asked for and kept.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist import bounds
from sinkdist.bounds import Measures
from sinkdist.ground import Ground
from sinkdist.histograms import Histograms

__all__ = ["Solution", "Status"]


class Status(enum.IntEnum):
    """How a pair ended; ``str(status)`` is a sentence with the remedy."""

    CONVERGED = 0
    MAX_ITER = 1
    STALLED = 2
    FIXED = 3
    EMPTY = 4

    def __str__(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "Converged: the marginal error is at most tol.",
    Status.MAX_ITER: "Stopped at max_iter before reaching tol: raise max_iter, or tol.",
    Status.STALLED: "Stopped because rounding allows no further progress: raise tol, or lower lam.",
    Status.FIXED: "Ran the given number of iterations; no tolerance was asked for.",
    Status.EMPTY: "A histogram without mass has no distance.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Transport between two histograms, or between many pairs of them.

    For one pair every number is a scalar; for many, an array with one entry per pair.

    Attributes
    ----------
    value : float or ndarray
        ``<P, M>``: the Sinkhorn distance.
    marginal_error : float or ndarray
        ``|P1 - r|_1 + |P^T1 - c|_1`` of the plan that is returned.
    n_iter : int or ndarray
        Reads of the kernel: one per sweep, and what Newton needs.
    status : Status or ndarray
        How each pair ended; see `converged`.
    solver : str or ndarray
        What ran.
    lam : float
        The strength of the entropy.
    potentials : tuple of ndarray
        ``f, g`` in units of cost with ``P = exp(lam (f_i + g_j - M_ij))``; -inf on bins without mass.
    ground : Ground
        The costs.

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.solve([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], lam=10)
    Solution(value=0.3, marginal_error=5.2e-09, converged=True, solver='relaxed', n_iter=18)
    """

    value: Any
    marginal_error: Any
    n_iter: Any
    status: Any
    solver: Any
    lam: float
    potentials: tuple[npt.NDArray[Any], npt.NDArray[Any]] = field(repr=False)
    ground: Ground
    _r: Histograms = field(repr=False)
    _c: Histograms = field(repr=False)

    @property
    def converged(self) -> Any:
        """Whether the marginal error reached ``tol``."""
        return self.status == Status.CONVERGED

    @property
    def plan(self) -> npt.NDArray[np.float64]:
        """The coupling ``P``, of shape (d, d'), or (n, d, d') for many pairs; computed on each access."""
        f, g = self._by_pair
        plans = [bounds.plan(self.ground.matrix, self.lam, f[k], g[k]) for k in range(len(f))]
        return plans[0] if self._is_single else np.array(plans).reshape(len(f), *self.ground.shape)

    @property
    def entropy(self) -> Any:
        """``h(P)``."""
        return self._scalar(self._measures.entropy)

    @property
    def alpha(self) -> Any:
        """``KL(P || r c^T)``: the radius of the ball on whose surface the plan lies."""
        return self._scalar(self._measures.alpha)

    @property
    def objective(self) -> Any:
        """``value - entropy / lam``: what the plan minimises."""
        return self._scalar(self._measures.value - self._measures.entropy / self.lam)

    @property
    def emd_bounds(self) -> tuple[Any, Any]:
        """A lower and an upper bound on the exact EMD, valid whether converged or not."""
        return self._scalar(self._measures.lower), self._scalar(self._measures.upper)

    @property
    def gap(self) -> Any:
        """Objective of the plan rounded to exact marginals minus the dual's: at least 0, 0 at the optimum."""
        return self._scalar(self._measures.gap)

    @cached_property
    def _measures(self) -> Measures:
        """Certificates of all pairs, from one plan after another."""
        f, g = self._by_pair
        return bounds.measure(self.ground.matrix, self.lam, f, g, self._r, self._c)

    @property
    def _is_single(self) -> bool:
        return self._r.is_vector and self._c.is_vector

    @property
    def _by_pair(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Potentials with pairs on axis 0."""
        f, g = self.potentials
        return (f[None], g[None]) if self._is_single else (f, g)

    def _scalar(self, numbers: npt.NDArray[np.float64]) -> Any:
        """One number for one pair, the array for many."""
        return float(numbers[0]) if self._is_single else numbers

    def __repr__(self) -> str:
        if self._is_single:
            return (
                f"Solution(value={self.value:.4g}, marginal_error={self.marginal_error:.1e}, "
                f"converged={bool(self.converged)}, solver={self.solver!r}, n_iter={self.n_iter})"
            )
        worst = float(np.nanmax(self.marginal_error, initial=0.0))
        return (
            f"Solution({self.value.size} pairs, {int(np.sum(self.converged))} converged, "
            f"worst marginal_error={worst:.1e})"
        )
