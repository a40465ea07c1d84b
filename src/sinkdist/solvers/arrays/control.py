"""Loops: in Python for arrays that compute as they go; JAX brings its own.

A step takes what belongs to the pairs, their state and a number of sweeps, and returns the next
state. The host looks at the state once per step; pairs that have ended are then retired and the
block closed up, so that slow pairs do not make quick ones wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.policy import CROWDED

__all__ = ["Control", "Step", "chosen"]

Step = Callable[[Any, Any, Any], Any]


class Control:
    """How to repeat things: loops of Python, for others to replace."""

    def repeat(self, count: Any, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state ``count`` times."""
        for _ in range(count):
            state = body(state)
        return state

    def when(self, condition: Array, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state if the condition holds."""
        return body(state) if bool(condition) else state

    def until_done(
        self, xp: Any, step: Step, pairs: Any, state: Any, every: int, limit: Any,
        retire: bool = True,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Take steps of ``every`` sweeps until no pair is ``going`` or ``limit`` sweeps are made.

        Returns the state and the sweeps made.
        """
        size = int(state.going.shape[0])
        ended, places, place = [], [], xp.arange(size, device=state.going.device)
        made, going = 0, int(xp.sum(xp.astype(state.going, xp.int32)))
        while going and made < limit:
            count = min(every, int(limit) - made)
            state = step(pairs, state, count)
            made += count
            going = int(xp.sum(xp.astype(state.going, xp.int32)))
            if retire and 0 < going < CROWDED * size:
                stay, leave = xp.nonzero(state.going)[0], xp.nonzero(~state.going)[0]
                ended.append(_taken(xp, state, leave, size))
                places.append(xp.take(place, leave))
                pairs, state = _taken(xp, pairs, stay, size), _taken(xp, state, stay, size)
                place, size = xp.take(place, stay), going
        if not ended:
            return state, made
        order = xp.argsort(xp.concat([*places, place]))
        return _mapped(lambda *x: xp.take(xp.concat(x), order, axis=0), *ended, state), made


def chosen(xp: Any, which: Array, new: Any, old: Any) -> Any:
    """The new state of some pairs, the old one of the others."""
    return _mapped(lambda a, b: xp.where(which if a.ndim == 1 else which[:, None], a, b), new, old)


def _taken(xp: Any, tree: Any, index: Array, size: int) -> Any:
    """Some pairs of nested tuples of arrays; what all pairs share stays."""
    return _mapped(lambda x: xp.take(x, index, axis=0) if x.shape[0] == size else x, tree)


def _mapped(function: Callable[..., Array], *trees: Any) -> Any:
    """Nested tuples of what a function makes of their arrays."""
    if not isinstance(trees[0], tuple):
        return function(*trees)
    leaves = [_mapped(function, *leaves) for leaves in zip(*trees, strict=True)]
    return type(trees[0])(*leaves) if hasattr(trees[0], "_fields") else tuple(leaves)
