"""What a solve returns: `Solution`.

Numbers that cost a look at the whole plan (entropy, bounds) are computed when first asked for and
kept; the plan itself is computed on each access, because it is large. Where they come from is an
`Evidence`: on the host pair by pair, on other devices in blocks.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.messages import count
from sinkdist.solution.certificates import Measures
from sinkdist.solution.evidence import Evidence, HostEvidence
from sinkdist.solution.moves import check_top, largest_moves, names_of_bins
from sinkdist.solution.plans import Plan
from sinkdist.solution.projection import read_places, read_rows
from sinkdist.solution.sparse import ThresholdedPlan, check_threshold, thresholded
from sinkdist.solution.status import Status

__all__ = ["Solution"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Transport between two histograms, or between many pairs of them.

    For one pair every number is a scalar; for many, an array with one entry per pair. For torch,
    JAX and CuPy histograms numbers are arrays of their kind, 0-d for a single pair; ``value``,
    ``objective`` and ``entropy`` can be differentiated.

    Attributes
    ----------
    value : float or ndarray
        ``<P, M>``: the distance.
    marginal_error : float or ndarray
        ``|P1 - r|_1 + |P^T1 - c|_1`` of the plan that is returned. With `mass_penalty`, how far its
        marginals are from optimal: see ``docs/masses.md``.
    n_iter : int or ndarray
        Reads of the kernel: one per sweep, and what Newton needs.
    status : Status or ndarray
        How each pair ended; see `converged`.
    solver : str or ndarray
        What ran.
    lam : float or ndarray
        The strength of the entropy in the plan: 0 for the independence table, inf for a plan of the
        exact distance; where ``alpha`` was given, what was found.
    potentials : tuple of ndarray
        ``f, g`` in units of cost with ``P = exp(lam (f_i + g_j - M_ij))``; -inf on bins without
        mass. Where lam is so large that floats cannot hold the plan in this form, they are those of
        the exact distance, and so is the plan.
    ground : Ground or array
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
    lam: Any
    potentials: tuple[Any, Any] = field(repr=False)
    ground: Any
    _r: InitVar[Histograms | None] = None
    _c: InitVar[Histograms | None] = None
    _plans: InitVar[list[Plan | None] | None] = None
    _brackets: InitVar[list[tuple[float, float] | None] | None] = None
    _evidence: Evidence = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(
        self, _r: Histograms | None, _c: Histograms | None, _plans: list[Plan | None] | None,
        _brackets: list[tuple[float, float] | None] | None,
    ) -> None:  # fmt: skip
        if _r is not None and _c is not None:
            object.__setattr__(self, "_evidence", HostEvidence(_r, _c, _plans, _brackets))

    @property
    def converged(self) -> Any:
        """Whether the tolerance was reached."""
        return self.status == int(Status.CONVERGED)

    @property
    def plan(self) -> Any:
        """The coupling ``P``, of shape (d, d'), or (n, d, d') for many pairs."""
        return self._evidence.plan(self)

    @property
    def sparse_plan(self) -> Any:
        """The coupling as a `scipy.sparse.csr_array`; for many pairs a list with one of each.

        It holds the positive entries: of an exact plan at most as many as both histograms have bins
        with mass, less one; of an entropic plan one for every pair of such bins, of which
        `to_sparse` drops the small ones. No dense matrix between all bins is formed.
        """
        return self._evidence.each(lambda k: self._thresholded(k, 0.0).plan)

    def to_sparse(self, *, threshold: float) -> Any:
        """The coupling without its small entries, and how much mass they had.

        Parameters
        ----------
        threshold : float
            Entries with less mass than this are dropped.

        Returns
        -------
        ThresholdedPlan
            With the fields ``plan`` (a `scipy.sparse.csr_array`), ``dropped_mass`` and
            ``dropped_entries``; for many pairs a list with one of each. What is left is not scaled
            up: its marginals lack the dropped mass.

        Examples
        --------
        >>> import sinkdist as sd
        >>> s = sd.solve([0.5, 0.5, 0], [0.2, 0.3, 0.5], sd.Ground.grid(3), lam=9)
        >>> cut = s.to_sparse(threshold=1e-3)
        >>> cut.plan.nnz, cut.dropped_entries, cut.dropped_mass < 1e-3
        (5, 1, True)
        """
        least = check_threshold(threshold)
        return self._evidence.each(lambda k: self._thresholded(k, least))

    def plan_rows(self, rows: Any) -> Any:
        """Some rows of the coupling, without forming the others.

        Parameters
        ----------
        rows : int or sequence of int
            Bins of the first histogram.

        Returns
        -------
        ndarray
            Of shape (d',) for one row, else (rows, d'); for many pairs a list with one of each.

        Examples
        --------
        >>> import sinkdist as sd
        >>> s = sd.solve([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], lam=float("inf"))
        >>> s.plan_rows(0).round(6)
        array([0.2, 0.3])
        """
        index, alone = read_rows(rows, int(self.ground.shape[0]))
        evidence = self._evidence

        def some(k: int) -> Any:
            found = evidence.rows(self, k, index)
            return found[0] if alone else found

        return evidence.each(some)

    def transport_map(self, places: Any = None) -> Any:
        """Where the mass of every bin goes on average: the barycentric projection of the plan.

        Parameters
        ----------
        places : array_like, shape (d', dimension), optional
            Places of the bins of the second histogram; on a grid those of its pixels by default,
            their indices times the spacing.

        Returns
        -------
        ndarray of shape (d, dimension)
            NaN for bins without mass; for many pairs a list with one of each.

        Examples
        --------
        >>> import sinkdist as sd
        >>> s = sd.solve([0.5, 0.5, 0], [0, 0, 1], sd.Ground.grid(3), lam=float("inf"))
        >>> s.transport_map().ravel()
        array([ 2.,  2., nan])
        """
        found = read_places(places, getattr(self.ground, "pixels", None), int(self.ground.shape[1]))
        return self._evidence.each(lambda k: self._evidence.projection(self, k, found))

    def moves(self, top: int | None = 20, names: Any = None) -> Any:
        """The largest movements of mass, as a table: from, to, mass, cost.

        Parameters
        ----------
        top : int or None
            How many; None for all.
        names : sequence, optional
            What bins are called: a list or pandas Index with a name per bin, or a pair of them
            where the two histograms have bins of their own. Indices otherwise.

        Returns
        -------
        MoveTable
            A sequence of `Move`, the one with the most mass first, and of equal ones that with the
            lower indices; for many pairs a list with one table of each. Mass that stays in its bin
            at no cost does not move and is left out. ``cost`` is that of a unit of mass.

        Examples
        --------
        >>> import sinkdist as sd
        >>> s = sd.solve([0.6, 0.4, 0], [0, 0.25, 0.75], sd.Ground.grid(3), lam=float("inf"))
        >>> s.moves(top=2, names=["red", "green", "blue"])
        from   to    mass  cost
        green  blue  0.4   1
        red    blue  0.35  2
        2 of 3 moves, with 75% of the mass 1
        """
        most = check_top(top)
        evidence, (rows, columns) = self._evidence, map(int, self.ground.shape)
        called, costs_at = names_of_bins(names, (rows, columns)), partial(evidence.costs_at, self)
        square = rows == columns
        return evidence.each(
            lambda k: largest_moves(evidence.pieces(self, k), costs_at, most, called, square=square)
        )

    def _thresholded(self, k: int, threshold: float) -> ThresholdedPlan:
        """One pair's plan without entries below a threshold."""
        rows, columns = map(int, self.ground.shape)
        return thresholded(self._evidence.pieces(self, k), (rows, columns), threshold)

    @property
    def entropy(self) -> Any:
        """``h(P)``."""
        return self._evidence.entropy(self)

    @property
    def alpha(self) -> Any:
        """``KL(P || r c^T)``: the radius of the ball on whose surface the plan lies."""
        return self._evidence.shaped(self._measures.alpha)

    @property
    def objective(self) -> Any:
        """``<P, M> - h(P) / lam``: what the plan minimises; -inf at ``lam = 0``.

        With `mass_penalty`, ``<P, M> + KL(P | Q) / lam + rho_1 KL(P1 | r) + rho_2 KL(P^T1 | c)``
        with ``Q = r c^T / sqrt(sum(r) sum(c))``.
        """
        return self._evidence.objective(self)

    @property
    def objective_bounds(self) -> tuple[Any, Any]:
        """With `mass_penalty`: a proven lower and upper bound on the least objective."""
        return self._evidence.objective_bounds(self)

    @property
    def marginals(self) -> tuple[Any, Any]:
        """``P1`` and ``P^T1``: what leaves and what reaches every bin."""
        P, xp = self.plan, self._evidence.xp
        return xp.sum(P, axis=-1), xp.sum(P, axis=-2)

    @property
    def emd_bounds(self) -> tuple[Any, Any]:
        """A lower and an upper bound on the exact EMD, valid whether converged or not.

        With `mass_penalty`, on the least objective of the same problem without entropy.
        """
        return self._evidence.bounds(self._measures.lower, self._measures.upper)

    @property
    def gap(self) -> Any:
        """Objective of the plan, rounded to exact marginals, minus the dual's: 0 at the optimum."""
        return self._evidence.bounds(self._measures.gap, self._measures.gap)[1]

    @property
    def bracket(self) -> tuple[Any, Any]:
        """A proven lower and upper bound on the distance that was asked for.

        It holds the value where that has converged.
        """
        evidence = self._evidence
        low, high = evidence.bounds(*evidence.proven(self))
        xp, fine = evidence.xp, self.converged
        low = xp.where(fine, xp.minimum(low, self.value), low)
        high = xp.where(fine, xp.maximum(high, self.value), high)
        return (float(low), float(high)) if isinstance(self.value, float) else (low, high)

    @cached_property
    def _measures(self) -> Measures:
        """Certificates of all pairs, of shape (n,); NaN where a histogram is empty."""
        return self._evidence.measures(self)

    def _repr_html_(self) -> str | None:
        from sinkdist.solution.notebook import as_html

        return as_html(self)

    def __repr__(self) -> str:
        seen = (self.value, self.marginal_error, self.n_iter, self.status)
        numbers = [self._evidence.on_host(x) for x in seen]
        if any(x is None for x in numbers):
            pairs = count(len(self.value) if self.value.ndim else 1, "pair")
            return f"Solution({pairs}, not computed yet)"
        value, error, n_iter, status = map(np.asarray, numbers)
        fine = status == Status.CONVERGED
        if value.ndim == 0:
            return (
                f"Solution(value={value:.4g}, marginal_error={error:.1e}, converged={bool(fine)}, "
                f"solver={self.solver!r}, n_iter={n_iter})"
            )
        worst = float(np.nanmax(error, initial=0.0))
        return (
            f"Solution({count(value.size, 'pair')}, {int(fine.sum()):,} converged, "
            f"worst marginal_error={worst:.1e})"
        )
