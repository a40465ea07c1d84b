"""Certificates where marginals are held by a penalty: bounds on the objective and what follows.

The objective of a plan ``P`` for histograms of masses ``m, n`` is

    J(P) = <P, M> + KL(P | Q) / lam + rho_1 KL(P 1 | r) + rho_2 KL(P^T 1 | c),

with ``Q = r c^T / sqrt(m n)`` and ``KL(x | y) = sum x log(x / y) - x + y``. Any plan gives an upper
bound on its minimum; a side with an infinite penalty is scaled to its masses first. Any potentials
give a lower bound, the dual

    D(f, g) = rho_1 <r, 1 - exp(-f / rho_1)> + rho_2 <c, 1 - exp(-g / rho_2)>
              + (sqrt(m n) - sum Q exp(lam (f + g - M))) / lam,

after the best constant has been added to one and taken from the other. ``J`` grows by at least
``KL(P | P*) / lam`` from its minimiser ``P*``, and ``3 (a - b)^2 <= 2 (a + 2 b) KL(a | b)``, so the
gap ``d`` of the two bounds also bounds ``|<P - P*, M>|`` by ``x + sqrt(x^2 + 2 lam d <P, M^2>)``
with ``x = 2 lam d max(M) / 3``. Without entropy, the c-transform of any potential is feasible.

Each bound is proven with its rounding: a sum of ``n`` terms of one sign is off by at most the part
`rounding_of(n)` of it, and so are terms whose arguments are rounded, times their derivative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.solution.certificates import rounding_of

__all__ = ["MassCertificate", "certify", "pulled"]

Array = npt.NDArray[np.float64]
Penalties = tuple[float, float]

_LITTLE = 1e-3  #: below this, ``(1 + x) log(1 + x) - x`` is summed as a series
_LARGEST = 600.0  #: the exponent from which an entry of a plan is no longer trusted


class MassCertificate(NamedTuple):
    """What one pair's plan and potentials prove.

    Attributes
    ----------
    value, entropy, information, objective : float
        ``<P, M>``, ``h(P)``, ``KL(P | Q)`` and ``J(P)`` of the plan as it is.
    lower, upper : float
        Bounds on the least objective.
    exact_lower, exact_upper : float
        The same of the problem without entropy.
    value_lower, value_upper : float
        Bounds on ``<P, M>`` of the optimal plan.
    """

    value: float
    entropy: float
    information: float
    objective: float
    lower: float
    upper: float
    exact_lower: float
    exact_upper: float
    value_lower: float
    value_upper: float


class _Pair(NamedTuple):
    """One pair on its bins with mass: costs, histograms, strength and penalties."""

    M: Array
    r: Array
    c: Array
    lam: float
    rho: Penalties

    @property
    def unit(self) -> float:
        return 4.0 * rounding_of(self.r.size + self.c.size)

    @property
    def reference(self) -> tuple[Array, Array]:
        """Logarithms of ``r / sqrt(m)`` and ``c / sqrt(n)``: those of Q are their sums."""
        return tuple(np.log(x) - 0.5 * math.log(float(x.sum())) for x in (self.r, self.c))  # type: ignore[return-value]


def pulled(
    f: Array, g: Array, r: Array, c: Array, lam: float, rho: Penalties
) -> tuple[Array, Array]:
    """What optimal marginals of the plan ``exp(lam (f_i + g_j - M_ij))`` would be.

    ``r exp(-f / rho_1)`` and ``c exp(-g / rho_2)``, once the reference is taken from ``f, g``.
    """
    pair = _Pair(np.empty((0, 0)), r, c, lam, rho)
    a, b = pair.reference
    return r * np.exp(-(f - a / lam) / rho[0]), c * np.exp(-(g - b / lam) / rho[1])


def certify(
    P: Array, M: Array, lam: float, rho: Penalties, f: Array, g: Array, r: Array, c: Array
) -> MassCertificate:
    """All certificates of one pair, with ``P`` near ``exp(lam (f_i + g_j - M_ij))``."""
    pair = _Pair(M, r, c, lam, rho)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        value, entropy, information, objective, _, _ = _primal(pair, P)
        tried = [(H, _primal(pair, H)) for H in _feasible(pair, P, f, g)]
        H, (cost, _, _, most, margin, parts) = min(tried, key=lambda x: x[1][3] + x[1][4])
        upper = most + margin
        lower = min(_dual(pair, f, g), upper)
        exact_upper = parts + margin
        exact_lower = min(_dual_without_entropy(pair, f, g), exact_upper)
        low, high = _value_bounds(pair, H, cost, lower, upper)
    return MassCertificate(
        value, entropy, information, objective, lower, upper, exact_lower, exact_upper, low, high
    )


def _feasible(pair: _Pair, P: Array, f: Array, g: Array) -> list[Array]:
    """Plans near ``P``: sides that are held exactly have their masses.

    A strong penalty makes much of a small error, so the columns are also tried as they should be.
    """
    one, two = pair.rho
    if one == math.inf:
        return [P * (pair.r / P.sum(axis=1))[:, None]]
    wanted = pulled(f, g, pair.r, pair.c, pair.lam, pair.rho)[1]
    mended = P * np.where(wanted > 0.0, wanted / P.sum(axis=0), 1.0)
    return [mended] if two == math.inf else [P, mended]


def _primal(pair: _Pair, P: Array) -> tuple[float, float, float, float, float, float]:
    """Value, entropy, information and objective; the rounding of that, and it without entropy."""
    a, b = pair.reference
    p, q = P.sum(axis=1), P.sum(axis=0)
    mass, total = float(p.sum()), math.sqrt(float(pair.r.sum()) * float(pair.c.sum()))
    logs = P * np.log(np.where(P > 0.0, P, 1.0))
    cost, entropy = float(np.vdot(P, pair.M)), -float(logs.sum())
    information = -entropy - float(p @ a + q @ b) - mass + total
    sizes = float(np.abs(logs).sum() + p @ np.abs(a) + q @ np.abs(b)) + 2.0 * mass + total
    margin = pair.unit * (cost + sizes / pair.lam)
    parts = cost
    for x, y, rho in ((p, pair.r, pair.rho[0]), (q, pair.c, pair.rho[1])):
        if rho < math.inf:
            found, size = _divergence(x, y)
            parts += rho * found
            margin += rho * pair.unit * (size + pair.unit * float(x.sum()))
    return cost, entropy, max(information, 0.0), parts + information / pair.lam, margin, parts


def _divergence(x: Array, y: Array) -> tuple[float, float]:
    """``KL(x | y)``, and what rounding of ``x`` and of its terms may change it by, in units."""
    d, ratio = (x - y) / y, x / y
    logs = np.where(np.abs(d) < 0.5, np.log1p(d), np.log(np.where(ratio > 0.0, ratio, 1.0)))
    small = np.clip(d, -_LITTLE, _LITTLE)
    series = small * small * (0.5 - small * (1 / 6 - small * (1 / 12 - small / 20)))
    terms = np.where(np.abs(d) < _LITTLE, series, ratio * logs - d)
    return float(y @ terms), float(np.abs(x - y).sum() + x @ np.abs(logs))


def _dual(pair: _Pair, f: Array, g: Array) -> float:
    """A lower bound on the least objective; 0 is one."""
    r, c, lam = pair.r, pair.c, pair.lam
    a, b = pair.reference
    half = 0.5 * (float(f @ r) / float(r.sum()) - float(g @ c) / float(c.sum()))
    f, g = f - half, g + half  # sides of one size
    exponents = lam * (f[:, None] + g - pair.M)
    if not float(exponents.max()) < _LARGEST:
        return 0.0
    E = np.exp(exponents)
    sizes = np.abs(f)[:, None] + np.abs(g) + pair.M
    mass, rounding = float(E.sum()), float((E * (2.0 + lam * sizes)).sum())
    total = math.sqrt(float(r.sum()) * float(c.sum()))
    found, margin = _pulls(pair, f - a / lam, g - b / lam, np.abs(f) + np.abs(a) / lam,
                           np.abs(g) + np.abs(b) / lam)  # fmt: skip
    bound = found + (total - mass) / lam - pair.unit * (margin + (rounding + total) / lam)
    return max(0.0, bound) if math.isfinite(bound) else 0.0


def _pulls(pair: _Pair, f: Array, g: Array, f_size: Array, g_size: Array) -> tuple[float, float]:
    """``sum rho <r, 1 - exp(-f / rho)>`` of both sides at the best translation; its rounding.

    The sizes are those of the numbers that ``f, g`` were computed from.
    """
    one, two = pair.rho
    first, second = _log_sum(np.log(pair.r) - f / one), _log_sum(np.log(pair.c) - g / two)
    weight = two if one == math.inf else one if two == math.inf else one * (two / (one + two))
    shift = weight * (first - second)
    found, margin = 0.0, 0.0
    for x, size, y, rho in ((f + shift, f_size, pair.r, one), (g - shift, g_size, pair.c, two)):
        if rho == math.inf:
            found += float(x @ y)
            margin += float((np.abs(x) + size + abs(shift)) @ y)
        else:
            less = -np.expm1(-x / rho)
            found += rho * float(less @ y)
            grown = y * np.exp(-x / rho)
            margin += rho * float(np.abs(less) @ y) + float((size + abs(shift)) @ grown)
    return found, margin


def _log_sum(x: Array) -> float:
    """The logarithm of the sum of exponentials."""
    top = float(x.max())
    return top + math.log(float(np.exp(x - top).sum()))


def _dual_without_entropy(pair: _Pair, f: Array, g: Array) -> float:
    """A lower bound on the least objective without entropy, by c-transforms of both potentials."""
    a, b = pair.reference
    best = 0.0
    for start, costs, flipped in (
        (f - a / pair.lam, pair.M, False), (g - b / pair.lam, pair.M.T, True)
    ):  # fmt: skip
        start = start - float(np.median(start))
        other = (costs - start[:, None]).min(axis=0)
        other = other - pair.unit * (float(np.abs(start).max()) + np.abs(other))  # feasible, surely
        x, y = (other, start) if flipped else (start, other)
        found, margin = _pulls(pair, x, y, np.abs(x), np.abs(y))
        bound = found - pair.unit * margin
        best = max(best, bound) if math.isfinite(bound) else best
    return best


def _value_bounds(
    pair: _Pair, H: Array, cost: float, lower: float, upper: float
) -> tuple[float, float]:
    """Bounds on ``<P, M>`` of the optimal plan; the objective is one from above."""
    d = pair.lam * (upper - lower)
    x = (2.0 / 3.0) * d * float(pair.M.max())
    off = x + math.sqrt(x * x + 2.0 * d * float(np.vdot(H, pair.M * pair.M)))
    off = off * (1.0 + pair.unit) + 2.0 * pair.unit * cost
    low = cost - off
    high = min(cost + off, upper) if math.isfinite(off) else upper
    return (max(0.0, low) if math.isfinite(low) else 0.0), high
