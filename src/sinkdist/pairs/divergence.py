"""The Sinkhorn divergence as a formula: of NumPy's and all other arrays.

``S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2`` with ``OT = <P, M> - h(P) / lam``. Every term
is a value of the dual, which is second order in the marginal error. The dual of a pair is known at
two points: at its own potentials, and at those of its self terms. Both values are lower bounds, the
larger one counts, and the second alone gives ``S >= |a - b|_K^2 / (2 lam)``, with ``a, b`` the
scalings of the self terms. So ``S`` is not negative where ``K`` is positive semi-definite, whether
the sweeps have converged or not.
"""

from __future__ import annotations

from typing import Any

from sinkdist.errors import InputError
from sinkdist.solution.reductions import Array, log, weighted
from sinkdist.solvers.members import Member
from sinkdist.solvers.policy import ROUNDING_OF_DIVERGENCES
from sinkdist.wording import option

__all__ = ["debiased", "refuse", "self_objective"]


def refuse(member: Member, is_symmetric: bool | None, shape: tuple[int, ...]) -> None:
    """Raise for what has no divergence; None stands for costs that are not known yet."""
    if not member.has_divergence:
        raise InputError(
            "The divergence needs {} or {}. Got {}: the hard constraint has no objective in common "
            "for a pair and its self terms.",
            option("lam"), option("reg"), option("alpha"),
        )  # fmt: skip
    if not member.is_symmetric:
        raise InputError(
            "The divergence needs one {} for both sides, to compare histograms with themselves. "
            "Got one for each side, which differ.",
            option("mass_penalty"),
        )
    if is_symmetric is False:
        rows, columns = shape
        found = "is not" if rows == columns else f"is {rows} x {columns}"
        raise InputError(
            "The divergence needs a symmetric ground, to compare histograms with themselves; "
            f"this one {found}. Use distance, or make it symmetric, as by (M + M.T) / 2."
        )


def self_objective(xp: Any, U: Array, half: Array, R: Array, mass: Array, lam: float) -> Array:
    """The dual of histograms against themselves, from scalings on the kernel with a unit diagonal.

    ``half`` is what moved from the diagonal of the costs into the potentials.
    """
    return 2.0 * weighted(xp, R, log(xp, U) / lam + half) - (mass - 1.0) / lam


def debiased(
    xp: Any, own: Array, halves: Array, equal: Array, lam: float,
    at_self: tuple[Array, Array] | None,
) -> Array:  # fmt: skip
    """``S`` of pairs from their ``own`` dual and ``halves``, the mean of both self terms.

    ``at_self`` holds ``a^T K b`` and the mean mass of both self terms, where lam is finite.
    """
    unit = ROUNDING_OF_DIVERGENCES * float(xp.finfo(own.dtype).eps)
    value = own - halves
    if at_self is None:
        rounding = unit * (xp.abs(own) + xp.abs(halves))
    else:
        product, mean = at_self
        bound = (mean - product) / lam
        value = xp.where((value >= bound) | xp.isnan(bound), value, bound)
        rounding = unit / lam
    nothing = equal | ((value < 0) & (value >= -rounding))
    return xp.where(nothing, xp.zeros_like(value), value)
