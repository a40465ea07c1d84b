"""Dual planes: what the potential of one solve proves for the distance to every other histogram.

Let ``f`` be any potential on the bins with mass of a histogram ``r``.

*Hard.* With ``g_j = min_i (M_ij - f_i)`` over these bins, ``f_i + g_j <= M_ij``, so every coupling
``P`` of ``r`` and any ``c`` costs ``<P, M> >= <f, r> + <g, c>``: a lower bound on the exact
distance that is linear in ``c``. It holds for any costs, and where ``c`` has empty bins.

*Soft.* With ``F = f - log(r) / mu`` and ``g_j = -log(sum_i r_i exp(mu (F_i - M_ij))) / mu``,
duality of the entropic problem gives ``<P, M> + KL(P || r c^T) / mu >= <F, r> + <g, c>`` for every
coupling and any ``mu > 0``, converged or not: for ``P`` with columns ``c``, the left side less
``<F, P1> + <g, c>`` is ``sum_j c_j KL(P_j / c_j || q_j) / mu >= 0`` with ``q_ij`` proportional to
``r_i exp(mu (F_i - M_ij))``. Where ``KL <= alpha``, the cost is at least that less ``alpha / mu``.

Rounding: sums of ``n`` terms are off by at most `rounding_of(n)` of the sum of their sizes, and so
are histograms that sum to 1 only up to rounding. Potentials are centred, so that sizes are small,
and four times this bound is taken off the constant, once for every sum that is computed.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.kernels.planes import hard_transforms, soft_transform
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.explored import Plane

__all__ = ["hard_planes", "soft_plane"]


def hard_planes(M: Array, r: Array, F: Array) -> list[Plane]:
    """Bounds on the exact distance; ``M`` holds the costs from the bins with mass of ``r``.

    Examples
    --------
    >>> (plane,) = hard_planes(np.array([[0.0, 1.0, 2.0]]), np.ones(1), np.zeros((1, 1)))
    >>> np.abs(plane.g + plane.constant).round(12)
    array([0., 1., 2.])
    """
    F = F - (F @ r)[:, None]
    G = np.empty((len(F), M.shape[1]))
    hard_transforms(M, F, G)
    shift = 0.5 * (G.min(axis=1) + G.max(axis=1))
    G -= shift[:, None]
    sizes = np.abs(F).max(axis=1) + np.abs(G).max(axis=1) + np.abs(shift)
    margins = 4.0 * rounding_of(sum(M.shape)) * sizes
    constants = F @ r + shift - margins
    return [Plane(g, constant) for g, constant in zip(G, constants.tolist(), strict=True)]


def soft_plane(M: Array, r: Array, f: Array, mu: float, alpha: float) -> Plane:
    """A bound on the least cost of couplings with ``KL(P || r c^T) <= alpha``.

    With ``alpha = 0`` it bounds ``<P, M> + KL / mu`` instead.
    """
    F = f - np.log(r) / mu
    F -= r @ F
    g = np.empty(M.shape[1])
    hard_transforms(M, F[None], g[None])
    hard = np.abs(g).max()
    soft_transform(M, mu, F, r, g, np.empty(M.shape))
    shift = 0.5 * (g.min() + g.max())
    g -= shift
    # The exponents are rounded, the sums of exponentials and their logarithms.
    sizes = np.abs(F).max() + np.abs(g).max() + abs(shift) + hard + M.max()
    sizes += (2.0 + np.abs(np.log(r)).max() + alpha) / mu
    margin = 4.0 * rounding_of(sum(M.shape)) * sizes
    return Plane(g, float(r @ F + shift - alpha / mu - margin))
