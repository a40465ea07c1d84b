"""Distances and what is known about them, as lines of text: plain numbers, a table, JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sinkdist.solution.solution import Solution

__all__ = ["json_lines", "numbers", "table"]

# JSON has more; these fit a line.
_COLUMNS = (
    "value", "emd_lower", "emd_upper", "lam", "alpha", "marginal_error", "n_iter", "status",
    "solver",
)  # fmt: skip


def numbers(values: Any) -> list[str]:
    """A distance per line, with as many digits as tell it apart from all others.

    Examples
    --------
    >>> import numpy as np
    >>> numbers(np.array([0.1, 0.25], np.float32)), numbers(1 / 3)
    (['0.1', '0.25'], ['0.3333333333333333'])
    """
    return [str(number) for number in _listed(values)]


def table(solution: Solution) -> list[str]:
    """A line per pair, in aligned columns below their names."""
    rows = [list(_COLUMNS)]
    rows += [[_cell(record[name]) for name in _COLUMNS] for record in _records(solution)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def json_lines(solution: Solution) -> list[str]:
    """An object per pair; JSON has no infinity and no NaN, so null stands for both."""
    return [
        json.dumps({name: _finite(value) for name, value in record.items()})
        for record in _records(solution)
    ]


def _records(solution: Solution) -> list[dict[str, Any]]:
    """What is known of each pair."""
    from sinkdist.solution.status import Status

    lower, upper = solution.emd_bounds
    columns = {
        "value": solution.value, "emd_lower": lower, "emd_upper": upper, "lam": solution.lam,
        "alpha": solution.alpha, "entropy": solution.entropy, "objective": solution.objective,
        "marginal_error": solution.marginal_error, "n_iter": solution.n_iter,
        "status": solution.status, "solver": solution.solver,
    }  # fmt: skip
    listed = {name: _listed(part) for name, part in columns.items()}
    listed["status"] = [Status(code).name.lower() for code in listed["status"]]
    pairs = len(listed["value"])
    listed["lam"] *= pairs if len(listed["lam"]) == 1 else 1  # one for all pairs
    return [{name: part[k] for name, part in listed.items()} for k in range(pairs)]


def _listed(values: Any) -> list[Any]:
    """A value, or an array of them, as Python's own; of float32 no digits beyond its own."""
    if getattr(values, "ndim", 0) == 0:
        return [values]
    if values.dtype == "float32":
        return [float(str(value)) for value in values]
    items: list[Any] = values.tolist()
    return items


def _finite(value: Any) -> Any:
    """`value`, but None for what is no finite number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    """A value in a table."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
