"""Loops: in Python for arrays that compute as they go; JAX brings its own.

A step takes what belongs to the pairs, their state and a number of sweeps, and returns the next
state. The host looks at the state once per step; pairs that have ended are then retired and the
block closed up, so that slow pairs do not make quick ones wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.policy import CROWDED

__all__ = ["Control", "PythonLoops", "Step"]

Step = Callable[[Any, Any, Any], Any]


class Control(Protocol):
    """How to repeat things."""

    def repeat(self, count: Any, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state ``count`` times."""

    def when(self, condition: Array, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state if the condition holds."""

    def until_done(
        self, xp: Any, step: Step, pairs: Any, state: Any, every: int, limit: Any,
        retire: bool = True,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Take steps of ``every`` sweeps until no pair is ``going`` or ``limit`` sweeps are made.

        Returns the state and the sweeps made.
        """


class PythonLoops:
    """Loops of Python."""

    def repeat(self, count: int, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state ``count`` times."""
        for _ in range(count):
            state = body(state)
        return state

    def when(self, condition: Array, body: Callable[[Any], Any], state: Any) -> Any:
        """Apply ``body`` to the state if the condition holds."""
        return body(state) if bool(condition) else state

    def until_done(
        self, xp: Any, step: Step, pairs: Any, state: Any, every: int, limit: float,
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
        return _joined(xp, [*ended, state], order), made


def _taken(xp: Any, tree: Any, index: Array, size: int) -> Any:
    """Some pairs of nested tuples of arrays; what all pairs share stays."""
    if isinstance(tree, tuple):
        return type(tree)(*(_taken(xp, leaf, index, size) for leaf in tree))
    return xp.take(tree, index, axis=0) if tree.shape[0] == size else tree


def _joined(xp: Any, trees: list[Any], order: Array) -> Any:
    """Pairs that ended at different times, in their old order."""
    if isinstance(trees[0], tuple):
        return type(trees[0])(
            *(_joined(xp, list(leaves), order) for leaves in zip(*trees, strict=True))
        )
    return xp.take(xp.concat(trees), order, axis=0)
