"""What a `Solution` with unequal masses on a device rests on: certificates of the host."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.arrays.evidence import ArrayEvidence
from sinkdist.solution.certificates import Measures
from sinkdist.solution.mass_evidence import MassEvidence
from sinkdist.solution.reductions import Array
from sinkdist.solution.solution import Solution
from sinkdist.solvers.members import Unbalanced

__all__ = ["ArrayMassEvidence"]


@dataclass(frozen=True, eq=False)
class ArrayMassEvidence(ArrayEvidence):
    """Plans and gradients as for all arrays on a device."""

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs."""
        return Measures(*map(self._put, self._host._measures))

    def proven(self, s: Solution) -> tuple[Array, Array]:
        """Bounds on ``<P, M>`` of the optimal plans."""
        low, high = self._host._evidence.proven(self._host)
        return self._put(low), self._put(high)

    def entropy(self, s: Solution) -> Array:
        """``h(P)``; without gradients."""
        return self.shaped(self._put(self._host._measures.entropy))

    def objective_bounds(self, s: Solution) -> tuple[Array, Array]:
        """Proven bounds on the least objective."""
        low, high = self._host.objective_bounds
        return self.bounds(self._put(low), self._put(high))

    def _put(self, numbers: npt.NDArray[Any]) -> Array:
        """Numbers of the host where the others are, in the dtype that was computed in."""
        return self.call.context.put(np.asarray(numbers), str(self.C.dtype).rpartition(".")[2])

    @cached_property
    def _host(self) -> Solution:
        """The same solution of NumPy arrays, always of many pairs."""
        call, found, member = self.call, self.solved.answer, self.call.member
        assert isinstance(member, Unbalanced)
        names = ("value", "error", "n_iter", "status", "lam", "F", "G")
        known = [call.context.host(getattr(found, name)) for name in names]
        given = [call.context.host(x) for x in self._given]
        if any(x is None for x in (*known, *given)):
            raise InputTypeError(
                "Certificates of unequal masses are taken on the host, which needs numbers that "
                "are known: ask for them outside of jit, vmap and other transformations."
            )
        value, error, n_iter, status, lam, F, G = (np.asarray(x) for x in known)
        M, R, C = (np.asarray(x, np.float64) for x in given)
        ground = Ground(M) if call.costs.ground is None else call.costs.ground
        R = np.broadcast_to(R, (len(C), R.shape[1]))
        evidence = MassEvidence(Histograms(R), Histograms(C), None, None, member.rho)
        wide = F.astype(np.float64), G.astype(np.float64)
        return Solution(
            value, error, n_iter, status, np.full(len(C), "unbalanced"), lam, wide, ground,
            _evidence=evidence,
        )  # fmt: skip
