"""What a search asks of a member: distances from one histogram to a few, with proven ends and the
potentials that bound the distances to all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array

__all__ = ["Explored", "Plane"]


@dataclass(slots=True, eq=False)
class Explored:
    """One entry, or row, per candidate.

    Attributes
    ----------
    value, error : ndarray
        Distance and marginal error; infinite where a candidate was given up as too far.
    upper : ndarray
        At least the distance, proven; infinite where nothing has been proven yet (`certify`).
    lower : ndarray
        At most the distance, proven.
    status : ndarray of int8
        Codes of `Status`.
    lam : ndarray
        That of the potentials; inf for those of the exact distance.
    f : ndarray, shape (candidates, bins with mass of the query)
        Potentials; NaN where there are none.
    """

    value: Array
    error: Array
    lower: Array
    upper: Array
    status: Array
    lam: Array
    f: Array
    _proofs: dict[int, Any]

    @classmethod
    def blank(cls, count: int, bins: int, status: int) -> Explored:
        """Nothing known yet."""
        return cls(
            np.full(count, np.inf), np.zeros(count), np.zeros(count), np.full(count, np.inf),
            np.full(count, status, np.int8), np.full(count, np.inf), np.full((count, bins), np.nan),
            {},
        )  # fmt: skip

    def certify(self, k: int) -> float:
        """The proven upper end of a candidate, computed where it takes more than the solve."""
        proof = self._proofs.pop(k, None)
        if proof is not None:
            lower, upper = proof()
            self.lower[k], self.upper[k] = max(self.lower[k], lower), min(self.upper[k], upper)
        return float(self.upper[k])

    def put(self, k: int, other: Explored) -> None:
        """Take a candidate from what is known of it alone."""
        for mine, theirs in (
            (self.value, other.value), (self.error, other.error), (self.lower, other.lower),
            (self.upper, other.upper), (self.status, other.status), (self.lam, other.lam),
            (self.f, other.f),
        ):  # fmt: skip
            mine[k] = theirs[0]
        if 0 in other._proofs:
            self._proofs[k] = other._proofs[0]

    def prove_later(self, k: int, proof: Any) -> None:
        """Leave the bounds of a candidate to `certify`: a function that returns both."""
        self._proofs[k] = proof


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """``distance(r, c) >= constant + <g, c>`` for every histogram ``c``, rounding included."""

    g: Array
    constant: float
