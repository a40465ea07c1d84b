"""How a `Solution` shows itself in a notebook: what is known of it, and its largest moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sinkdist.markup import table
from sinkdist.solution.status import Status

if TYPE_CHECKING:
    from sinkdist.solution.solution import Solution

__all__ = ["as_html"]

_MOVES = 5
_MOST = 250_000  #: entries of a plan that are looked at for the moves, and for bounds


def as_html(s: Solution) -> str | None:
    """Tables in HTML; None where numbers are not known yet, as within a compiled function."""
    numbers = [s._evidence.on_host(x) for x in (s.value, s.marginal_error, s.n_iter, s.status)]
    if any(x is None for x in numbers):
        return None
    value, error, n_iter, status = map(np.asarray, numbers)
    return _many(value, error, status) if value.ndim else _one(s, value, error, n_iter, status)


def _many(value: object, error: object, status: object) -> str:
    """Of many pairs: how they ended, and how far apart they are."""
    v, codes = np.asarray(value, dtype=float), np.asarray(status)
    rows: list[tuple[object, ...]] = [("pairs", f"{v.size:,}")]
    for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
        rows.append((Status(int(code)).name.lower().replace("_", " "), f"{count:,}"))
    some = v[np.isfinite(v)]
    if some.size:
        low, middle, high = np.quantile(some, [0.0, 0.5, 1.0])
        rows.append(("least, median, largest distance", f"{low:.4g}, {middle:.4g}, {high:.4g}"))
    worst = float(np.nanmax(np.asarray(error, dtype=float), initial=0.0))
    return table("Solution", [*rows, ("worst marginal error", f"{worst:.1e}")])


def _one(s: Solution, value: object, error: object, n_iter: object, status: object) -> str:
    """Of one pair: the number, what is proven, how it ended, what moves."""
    rows: list[tuple[object, ...]] = [("distance", f"{value:.6g}")]
    small = _is_small(s)
    if small:
        low, high = (float(np.asarray(s._evidence.on_host(x))) for x in s.bracket)
        rows.append(("proven to be between", f"{low:.6g} and {high:.6g}"))
    rows += [
        ("marginal error", f"{error:.1e}"),
        ("status", str(Status(int(np.asarray(status))))),
        ("lam", f"{float(np.asarray(s._evidence.on_host(s.lam))):.6g}"),
        ("solver", f"{s.solver}, {n_iter} iterations"),
    ]
    text = table("Solution", rows)
    if not small:
        return text
    moves = s.moves(top=_MOVES)
    cells = [(x.source, x.target, f"{x.mass:.4g}", f"{x.cost:.4g}") for x in moves]
    caption = f"{len(moves)} largest of {moves.n_moves:,} moves"
    return text + (table(caption, cells, ("from", "to", "mass", "cost")) if cells else "")


def _is_small(s: Solution) -> bool:
    """Whether the plan can be looked at while somebody waits."""
    rows, columns = (s._evidence.on_host(f) for f in s.potentials)
    if rows is None or columns is None:
        return False
    return int((rows > -np.inf).sum()) * int((columns > -np.inf).sum()) <= _MOST
