"""How a `StoredMatrix` shows itself in a notebook: what it holds, and how much is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sinkdist.markup import table

if TYPE_CHECKING:
    from sinkdist.scale.stored import StoredMatrix

__all__ = ["as_html"]


def as_html(matrix: StoredMatrix) -> str:
    """A table in HTML; no chunk is read."""
    (n, m), missing = matrix.shape, len(matrix.missing)
    tiles = len(matrix._store.tiling)
    done = f"{tiles - missing:,} of {tiles:,} blocks, {(tiles - missing) / max(tiles, 1):.0%}"
    rows: list[tuple[object, ...]] = [
        ("shape", f"{n:,} x {m:,}, {matrix.dtype}"),
        ("computed", done if missing else "complete"),
    ]
    asked = [(name, value) for name, value in matrix.parameters.items() if value is not None]
    return table(f"StoredMatrix {matrix._store.name}", [*rows, *asked])
