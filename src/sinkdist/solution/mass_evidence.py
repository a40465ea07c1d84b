"""What a solution with unequal masses rests on: as any other, with certificates of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sinkdist.solution.certificates import Measures
from sinkdist.solution.evidence import HostEvidence, entry_of, row_of
from sinkdist.solution.mass_certificates import MassCertificate, certify
from sinkdist.solution.plans import ScaledPlan

if TYPE_CHECKING:
    from sinkdist.solution.solution import Solution

__all__ = ["MassEvidence"]

Array = npt.NDArray[Any]

_NOTHING = MassCertificate(*[np.nan] * len(MassCertificate._fields))


@dataclass(frozen=True, eq=False)
class MassEvidence(HostEvidence):
    """Histograms of any masses, and the penalties on both sides."""

    rho: tuple[float, float] = (np.inf, np.inf)
    _known_pairs: dict[int, MassCertificate] = field(default_factory=dict)

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs; bounds are those of the problem without entropy."""
        names = ("value", "entropy", "information", "exact_lower", "exact_upper")
        value, entropy, information, lower, upper = (self._of(s, name) for name in names)
        gap = self._of(s, "upper") - self._of(s, "lower")
        return Measures(value, entropy, information, lower, upper, gap, value)

    def objective(self, s: Solution) -> Any:
        """What the plan minimises, mass terms included."""
        return self.shaped(self._of(s, "objective"))

    def objective_bounds(self, s: Solution) -> tuple[Any, Any]:
        """Proven bounds on its minimum."""
        return self.bounds(self._of(s, "lower"), self._of(s, "upper"))

    def proven(self, s: Solution) -> tuple[Any, Any]:
        """Bounds on ``<P, M>`` of the optimal plans."""
        return self._of(s, "value_lower"), self._of(s, "value_upper")

    def _of(self, s: Solution, name: str) -> Array:
        """One number of every pair's certificate."""
        return np.array([getattr(self._certificate(s, k), name) for k in range(self._n)])

    def _certificate(self, s: Solution, k: int) -> MassCertificate:
        if k not in self._known_pairs:
            rows, columns, r, c = self._bins(k)
            if rows.size == 0 or columns.size == 0:
                return _NOTHING
            f, g = self._potentials(s, k)
            f, g, special = f[rows], g[columns], self._special(k)
            if isinstance(special, ScaledPlan) and special.u.max() == special.v.max() == 1.0:
                f, g = special.f[rows], special.g[columns]  # the same, less rounded
            P = self._plan_on(s, k, rows, columns)
            self._known_pairs[k] = certify(
                P, s.ground.block(rows, columns), entry_of(s.lam, k), self.rho, f, g, r, c
            )
        return self._known_pairs[k]

    def _bins(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Bins with mass of one pair, and the masses as they were given."""
        r, c = (row_of(H, k).astype(np.float64) for H in (self.r, self.c))
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        return rows, columns, r[rows], c[columns]
