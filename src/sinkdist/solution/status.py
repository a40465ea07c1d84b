"""How a pair ended: `Status`, with a sentence for each."""

from __future__ import annotations

import enum

__all__ = ["Status"]


class Status(enum.IntEnum):
    """How a pair ended; ``str(status)`` is a sentence with the remedy."""

    CONVERGED = 0
    MAX_ITER = 1
    STALLED = 2
    FIXED = 3
    EMPTY = 4

    def __str__(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "Converged: the marginal error is at most tol.",
    Status.MAX_ITER: "Stopped at max_iter before reaching tol: raise max_iter, or tol.",
    Status.STALLED: "Stopped because rounding allows no further progress: raise tol, or lower lam.",
    Status.FIXED: "Ran the given number of iterations; no tolerance was asked for.",
    Status.EMPTY: "A histogram without mass has no distance.",
}
