"""What solvers hand back: `Outcome` for one pair, `Answers` for the pairs of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.solution import Status
from sinkdist.solvers.relaxation import DONE, GO, SLOW

__all__ = ["RAN", "Answers", "Outcome", "potential"]

Array = npt.NDArray[Any]

#: What `Solution.solver` may say; `Answers.solver` holds the index.
RAN = ("plain", "relaxed", "newton", "log", "algorithm1", "none")
PLAIN, RELAXED, NEWTON, LOG, ALGORITHM1, NONE = range(6)

#: The status of a pair by how its loop ended.
STATUS_OF = {DONE: int(Status.CONVERGED), GO: int(Status.MAX_ITER), SLOW: int(Status.STALLED)}
FIXED, EMPTY = int(Status.FIXED), int(Status.EMPTY)


@dataclass(slots=True)
class Outcome:
    """One pair on its bins with mass; potentials are None where nobody wants them."""

    value: float
    error: float
    n_iter: int
    status: int
    solver: int
    f: Array | None = None
    g: Array | None = None


@dataclass(slots=True)
class Answers:
    """One entry per pair of a tile; ``f, g`` only where potentials are wanted."""

    value: Array
    error: Array
    n_iter: Array
    status: Array
    solver: Array
    f: Array | None = None
    g: Array | None = None

    @classmethod
    def blank(cls, pairs: int, shape: tuple[int, int], keep: bool) -> Answers:
        """Answers to be filled in; NaN and EMPTY until then."""
        f, g = (np.full((pairs, d), -np.inf) for d in shape) if keep else (None, None)
        return cls(
            np.full(pairs, np.nan), np.full(pairs, np.nan), np.zeros(pairs, np.int64),
            np.full(pairs, EMPTY, np.int8), np.full(pairs, NONE, np.int8), f, g,
        )  # fmt: skip

    def only(self, chosen: Array) -> Answers:
        """Some of the pairs, without potentials."""
        return Answers(
            self.value[chosen], self.error[chosen], self.n_iter[chosen], self.status[chosen],
            self.solver[chosen],
        )  # fmt: skip

    def put(self, pairs: Any, part: Answers | Outcome) -> None:
        """Write the numbers of some pairs, potentials apart."""
        self.value[pairs], self.error[pairs], self.n_iter[pairs] = part.value, part.error, part.n_iter
        self.status[pairs], self.solver[pairs] = part.status, part.solver

    def put_potentials(self, pairs: Any, rows: Array, columns: Array, f: Any, g: Any) -> None:
        """Write potentials on the given bins, if they are kept."""
        if self.f is not None and self.g is not None:
            self.f[np.ix_(np.atleast_1d(pairs), rows)] = f
            self.g[np.ix_(np.atleast_1d(pairs), columns)] = g


def potential(scaling: Array, lam: float) -> Array:
    """``log(u) / lam``, -inf where there is no mass."""
    with np.errstate(divide="ignore"):
        out = np.log(scaling, dtype=np.float64)
    out /= lam
    return out
