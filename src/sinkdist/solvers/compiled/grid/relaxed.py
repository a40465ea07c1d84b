"""Over-relaxed sweeps for one lam on one grid: for cityblock and Euclidean distances.

Their sweeps are cheap, four multiplications for a pixel and an axis or two Fourier transforms, and
their plans are far from any smooth kernel that Newton's systems could be preconditioned with. When
to relax, and by how much, is decided as for every other pair (`compiled.relaxation`); from one grid
to the next, how much is remembered. Where accurate sums are dearer, sweeps have no more accuracy
than they need; what they end at is judged by accurate ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import log_sum
from sinkdist.solvers.compiled.grid.newton import State, Target, state_at
from sinkdist.solvers.compiled.grid.scaled import Scalings
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    COUNT,
    FIELDS,
    FOREVER,
    OMEGA,
    THETA2,
    begin,
    decide,
)
from sinkdist.solvers.policy import NEAR, SLOWEST

__all__ = ["Relaxed"]

Array = npt.NDArray[Any]

_NOTICED = 0.01  #: of the tolerance: the error of sums


@dataclass(slots=True)
class Relaxed:
    """A method: sweeps on one grid after another, which remember how much to relax.

    Attributes
    ----------
    theta2 : float
        The rate of plain sweeps on the last grid where they were relaxed, 0 if on none.
    """

    theta2: float = field(default=0.0)

    def converge(self, at: Target, psi: Array, tol: float, limit: int) -> State:
        """Sweeps until the error is at most ``tol``, or ``limit`` of them are made."""
        sweeps, made = self._swept(at, psi, tol, limit)
        return state_at(at, sweeps.psi(), made)

    def approach(self, at: Target, psi: Array, tol: float, limit: int) -> Array:
        """The same, for the next grid: ``psi - log c`` after a column update."""
        sweeps, _ = self._swept(at, psi, tol, limit)
        return np.asarray(sweeps.smooth())

    def _swept(self, at: Target, psi: Array, tol: float, limit: int) -> tuple[Any, int]:
        """Where sweeps end, and their number; in logarithms where floats do not hold scalings."""
        at = _loosened(at, tol)
        tol -= at.kernel.rounding
        for way in (Scalings, _Logarithms):
            sweeps = way.of(at, psi)
            if sweeps is not None:
                made = self._until(sweeps, at, tol, limit)
                if made is not None:
                    return sweeps, made
        raise AssertionError("logarithms hold everything")

    def _until(self, sweeps: Any, at: Target, tol: float, limit: int) -> int | None:
        """Sweeps until an error; their number, None where floats do not hold the scalings."""
        policy = np.empty(FIELDS)
        begin(policy)
        made = 0
        while made < limit:
            at.stop.check()
            made += 1
            omega = float(policy[OMEGA])
            error = sweeps.sweep(omega)
            if not math.isfinite(error):
                return None
            if decide(policy, error, tol, FOREVER) == CONVERGED:
                break
            if made == 1 and error < NEAR and self.theta2 > 0.0:
                policy[THETA2], policy[COUNT] = self.theta2, 0.0
                policy[OMEGA] = 2.0 / (1.0 + math.sqrt(1.0 - min(self.theta2, SLOWEST)))
        self.theta2 = float(policy[THETA2]) or self.theta2
        return made


@dataclass(slots=True)
class _Logarithms:
    """Sweeps on logarithms of scalings, of the pixels with mass."""

    at: Target
    some: Any
    others: Any
    u: Array | None
    v: Array

    @classmethod
    def of(cls, at: Target, psi: Array) -> _Logarithms:
        """From log scalings of the columns."""
        some, others = _pixels(at.r), _pixels(at.c)
        return cls(at, some, others, None, psi[others])

    def sweep(self, omega: float) -> float:
        """Both updates; the error of the columns in between."""
        at, u, v = self.at, self.u, self.v
        image = log_sum(_placed(v, self.others), at.kernel, at.run)
        new = (at.log_r - image)[self.some]
        self.u = new if u is None or omega == 1.0 else u + omega * (new - u)
        image = log_sum(_placed(self.u, self.some), at.kernel, at.run)
        target = (at.log_c - image)[self.others]
        self.v = target if omega == 1.0 else v + omega * (target - v)
        return _moved(at, v, target, at.c[self.others])

    def psi(self) -> Array:
        """Log scalings of the columns."""
        return _placed(self.v, self.others)

    def smooth(self) -> Array:
        """``psi - log c`` after a plain column update, on all pixels."""
        assert self.u is not None
        return -log_sum(_placed(self.u, self.some), self.at.kernel, self.at.run)


def _loosened(at: Target, tol: float) -> Target:
    """The same pair, with sums that are as accurate as the tolerance makes it worth."""
    error = max(at.kernel.error, _NOTICED * tol)
    return replace(at, kernel=at.kernel._replace(error=error))


def _moved(at: Target, v: Array, target: Array, c: Array) -> float:
    """How much the sums of columns are off: ``sum c |v / target - 1|``, from logarithms."""
    terms = np.empty_like(v)

    def part(start: int, stop: int) -> None:
        x = v[start:stop] - target[start:stop]
        np.expm1(np.minimum(x, 700.0, out=x), out=x)
        np.multiply(np.abs(x, out=x), c[start:stop], out=terms[start:stop])

    at.run(len(v), part)
    return float(terms.sum())


def _pixels(mass: Array) -> Any:
    """An index of the pixels with mass; of all of them one that copies nothing."""
    some = mass > 0.0
    return ... if some.all() else some


def _placed(x: Array, some: Any) -> Array:
    """Log scalings on all pixels, -inf where there is no mass."""
    if some is ...:
        return x
    out = np.full(some.shape, -np.inf)
    out[some] = x
    return out
