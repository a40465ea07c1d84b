"""What `solve_barycenter` returns: `Barycenter`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.inputs.array_context import kind_of
from sinkdist.solution.status import Status

__all__ = ["Barycenter"]


@dataclass(frozen=True, repr=False, eq=False)
class Barycenter:
    """A barycentre, or m of them, and all that is known about them.

    Each has a plan to every histogram of positive weight. The first marginal of all these plans is
    `histogram`; their second marginals are the histograms up to `marginal_error`.

    Attributes
    ----------
    histogram : ndarray, shape (d,) or (m, d)
        The barycentre; a pandas Series or DataFrame where the histograms came in a DataFrame.
    weights : ndarray, shape (n,) or (m, n)
        Of the histograms.
    status : Status or ndarray of int
        How it ended; ``str(Status(...))`` is a sentence.
    marginal_error : ndarray, shape (n,) or (m, n)
        L1 distance of each histogram from the second marginal of its plan; 0 where the weight is 0.
    self_error : float or ndarray, shape (m,)
        The same for the plan from the barycentre to itself, which debiasing needs; else 0. `tol`
        bounds this and every marginal error.
    objective : float or ndarray, shape (m,)
        What is minimised: the weighted mean of the divergences (`divergence`) or, where not
        debiased, of ``<P, M> - h(P) / lam`` (`Solution.objective`).
    n_iter : int or ndarray
        Sweeps, each of two products with the kernel.
    lam : float
        The paper's lambda.
    debiased : bool
        Whether the blur of the entropy was taken away.

    Examples
    --------
    >>> import sinkdist as sd
    >>> X, ground = [[0.5, 0.5, 0], [0, 0.5, 0.5]], sd.Ground.grid(3)
    >>> sd.solve_barycenter(X, ground=ground, lam=9, weights=[[0.5, 0.5], [1, 0]])
    Barycenter(2 of 3 bins, 2 histograms, 2 converged, worst marginal_error=5.5e-07)
    """

    histogram: Any
    weights: Any
    status: Any
    marginal_error: Any
    self_error: Any
    objective: Any
    n_iter: Any
    lam: float
    debiased: bool

    @property
    def converged(self) -> Any:
        """Whether the tolerance was reached."""
        return self.status == int(Status.CONVERGED)

    def __repr__(self) -> str:
        if kind_of(self.histogram) is not None:
            return f"Barycenter(shape {tuple(self.histogram.shape)}, {kind_of(self.histogram)})"
        worst = max(float(np.max(self.marginal_error)), float(np.max(self.self_error)))
        bins, n = np.shape(self.histogram)[-1], np.shape(self.weights)[-1]
        of = f"{bins} bins, {n} histogram{'s' * (n > 1)}"
        if np.ndim(self.weights) == 1:
            return (
                f"Barycenter({of}, marginal_error={worst:.2g}, converged={bool(self.converged)}, "
                f"n_iter={self.n_iter})"
            )
        count, fine = len(self.weights), int(np.count_nonzero(self.converged))
        return f"Barycenter({count} of {of}, {fine} converged, worst marginal_error={worst:.2g})"
