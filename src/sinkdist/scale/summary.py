"""What there is to say about a stored matrix: counts, errors, the range of its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sinkdist.scale.tally import Tally

if TYPE_CHECKING:
    from sinkdist.scale.store import Store

__all__ = ["Summary", "summarise"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known about a stored matrix; ``str()`` gives the text. Each pair is counted once.

    Attributes
    ----------
    path : str
        Where it lies.
    shape : tuple of int
        Of the matrix.
    dtype : numpy.dtype
        Of the distances.
    symmetric : bool
        Whether only the upper half is stored.
    tile : int
        Rows and columns of a stored block.
    parameters : dict
        What the distances were computed with.
    versions : tuple of str
        The versions of sinkdist that wrote it.
    pairs, missing_pairs, unconverged_pairs : int
        Pairs computed, not computed yet, and computed but short of the tolerance.
    endings : dict of str to (int, float)
        Pairs and worst marginal error by how they ended; NaN where no error was measured.
    smallest, mean, largest : float
        Of the distances; NaN where there is none.
    """

    path: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    symmetric: bool
    tile: int
    parameters: dict[str, Any]
    versions: tuple[str, ...]
    pairs: int
    missing_pairs: int
    unconverged_pairs: int
    endings: dict[str, tuple[int, float]]
    smallest: float
    mean: float
    largest: float

    def __str__(self) -> str:
        (n, m), half = self.shape, ", symmetric" if self.symmetric else ""
        asked = ", ".join(f"{k}={v}" for k, v in self.parameters.items() if v is not None)
        lines = [
            f"{self.path}: {n:,} x {m:,} distances, {self.dtype}{half}",
            f"  parameters  {asked}",
            f"  written by  sinkdist {', '.join(self.versions)}, in blocks of {self.tile} x "
            f"{self.tile}",
            f"  pairs       {self.pairs:,} computed, {self.missing_pairs:,} missing",
        ]
        for name, (count, worst) in self.endings.items():
            known = "" if np.isnan(worst) else f", worst marginal error {worst:.2g}"
            lines.append(f"              {count:,} {name}{known}")
        if not np.isnan(self.mean):
            lines.append(
                f"  distances   {self.smallest:.6g} to {self.largest:.6g}, mean {self.mean:.6g}"
            )
        return "\n".join(lines)


def summarise(store: Store) -> Summary:
    """Read every chunk that is there, one tile at a time."""
    tiling, finished = store.tiling, store.finished()
    tally, smallest, largest, total, known, missing = Tally({}, {}), np.inf, -np.inf, 0.0, 0, 0
    for tile in tiling:
        if not finished[tile.place]:
            missing += tiling.pairs(tile)
            continue
        parts = [store.read(tile, name) for name in ("distance", "status", "marginal_error")]
        if tiling.upper and tile.is_diagonal:
            half = np.triu_indices(len(parts[0]))
            parts = [part[half] for part in parts]
        values, status, error = parts
        tally += Tally.of(status, error)
        values = values[~np.isnan(values)]
        smallest = float(values.min(initial=smallest))
        largest = float(values.max(initial=largest))
        total, known = total + float(values.sum(dtype=np.float64)), known + values.size
    about = store.about
    return Summary(
        store.name, tiling.shape, store.dtype_of("distance"), tiling.upper, tiling.side,
        about["facts"]["parameters"], tuple(about["versions"]), sum(tally.counts.values()), missing,
        tally.count(tuple(about["short"])),
        {
            about["statuses"].get(str(k), f"status {k}"): (count, tally.worst[k])
            for k, count in tally.counts.items()
        },
        *((smallest, total / known, largest) if known else (np.nan,) * 3),
    )  # fmt: skip
