"""The largest movements of a plan, as a table that people read: `MoveTable` of `Move`.

Built from pieces of a plan, of which only the largest entries are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, InputTypeError
from sinkdist.solution.plans import SparsePlan

__all__ = ["Move", "MoveTable", "check_top", "largest_moves", "names_of_bins"]

Array = npt.NDArray[Any]
#: What each bin is called, on both sides; None for its index.
Names = tuple[Sequence[Any] | None, Sequence[Any] | None]


class Move(NamedTuple):
    """Mass that goes from one bin to another.

    Attributes
    ----------
    source, target : object
        The bins: their names, or their indices.
    mass : float
        How much goes.
    cost : float
        What moving a unit of mass costs, the entry of the ground.
    """

    source: Any
    target: Any
    mass: float
    cost: float


@dataclass(frozen=True, eq=False, repr=False)
class MoveTable(Sequence[Move]):
    """The largest moves of a plan, the largest first: a sequence of `Move` that prints as a table.

    Attributes
    ----------
    rows : tuple of Move
        The moves that were asked for.
    n_moves : int
        How many moves the plan has in all.
    moved_mass : float
        Their mass in all; the rest of the mass stays where it is.

    Examples
    --------
    >>> import sinkdist as sd
    >>> s = sd.solve([0.5, 0.5, 0], [0.2, 0.3, 0.5], sd.Ground.grid(3), lam=float("inf"))
    >>> s.moves(names=["low", "middle", "high"])
    from    to      mass  cost
    middle  high    0.5   1
    low     middle  0.3   1
    2 moves of mass 0.8
    """

    rows: tuple[Move, ...]
    n_moves: int
    moved_mass: float

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        return self.rows[index]

    def __repr__(self) -> str:
        cells = [("from", "to", "mass", "cost")]
        cells += [(str(a), str(b), f"{x:.4g}", f"{y:.4g}") for a, b, x, y in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        """How much of what moves is in the table."""
        some, word = len(self.rows), "move" if self.n_moves == 1 else "moves"
        if some == self.n_moves:
            return f"{some} {word} of mass {self.moved_mass:.4g}"
        share = math.fsum(move.mass for move in self.rows) / self.moved_mass
        return (
            f"{some} of {self.n_moves} {word}, with {share:.0%} of the mass {self.moved_mass:.4g}"
        )

    def to_frame(self) -> Any:
        """The table as a pandas frame with the columns from, to, mass and cost."""
        return import_module("pandas").DataFrame(
            list(self.rows), columns=["from", "to", "mass", "cost"]
        )


def largest_moves(
    pieces: Iterable[SparsePlan], costs_at: Callable[[Array, Array], Array], top: int | None,
    names: Names, *, square: bool,
) -> MoveTable:  # fmt: skip
    """The largest moves; where bins are the same on both sides, staying for nothing is no move."""
    best, masses, count = SparsePlan(*(np.zeros(0, kind) for kind in (int, int, float))), [0.0], 0
    for piece in pieces:
        moves = piece
        if square:
            apart = piece.rows != piece.columns
            apart[~apart] = costs_at(piece.rows[~apart], piece.columns[~apart]) > 0.0
            moves = piece.only(apart)
        masses.append(math.fsum(moves.mass))
        count += moves.mass.size
        best = _largest(best, moves, top)
    costs = costs_at(best.rows, best.columns)
    rows = zip(
        best.rows.tolist(), best.columns.tolist(), best.mass.tolist(), costs.tolist(), strict=True
    )
    first, second = names
    return MoveTable(
        tuple(
            Move(i if first is None else first[i], j if second is None else second[j], mass, cost)
            for i, j, mass, cost in rows
        ),
        count,
        math.fsum(masses),
    )


def _largest(one: SparsePlan, other: SparsePlan, top: int | None) -> SparsePlan:
    """The largest entries of two plans, the largest first; of equal ones those of lower index."""
    rows, columns = (
        np.concatenate([getattr(one, name), getattr(other, name)]) for name in ("rows", "columns")
    )
    mass = np.concatenate([one.mass, other.mass])
    if top is not None and mass.size > 2 * top:  # ties with the last one stay for now
        some = np.flatnonzero(mass >= np.partition(mass, mass.size - top)[mass.size - top])
        rows, columns, mass = rows[some], columns[some], mass[some]
    order = np.lexsort((columns, rows, -mass))[:top]
    return SparsePlan(rows[order], columns[order], mass[order])


def check_top(top: Any) -> int | None:
    """How many moves: a positive integer, or None for all."""
    if top is None:
        return None
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)):
        raise InputTypeError(
            f"The 'top' option must be an integer, or None for all moves. Got {top!r} instead."
        )
    if top < 1:
        raise InputError(f"The 'top' option must be at least 1. Got {top} instead.")
    return int(top)


def names_of_bins(names: Any, shape: tuple[int, int]) -> Names:
    """Names for both sides: one sequence for both, or a pair of them."""
    if names is None:
        return None, None
    if not _is_sequence(names):
        raise InputTypeError(
            "The 'names' option must be a sequence with one name per bin. "
            f"Got an object of type {type(names).__name__} instead."
        )
    if len(names) == 2 and all(map(_is_sequence, names)):
        first, second = names
        if (len(first), len(second)) == shape:
            return list(first), list(second)
    rows, columns = shape
    if rows != columns:
        raise InputError(
            "The 'names' option must be a pair of sequences for a ground that is not square, "
            f"with {rows} and {columns} names."
        )
    if len(names) != rows:
        raise InputError(
            f"The 'names' option must hold one name per bin, {rows} in all. "
            f"Got {len(names)} instead."
        )
    return list(names), list(names)


def _is_sequence(value: Any) -> bool:
    """Whether a value holds several others in some order."""
    return (
        hasattr(value, "__len__")
        and hasattr(value, "__iter__")
        and not isinstance(value, (str, bytes, dict, set))
    )
