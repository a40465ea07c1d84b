"""Matrices of distances between the images, stored in square blocks of a thousand images.

The images of a smaller set are the beginning of a larger one. A matrix of N images therefore
consists of the blocks of its beginning and some more; blocks that are already on disk are not
computed again, whichever N they were computed for. Each block is a stored matrix of its own, so an
interrupted block resumes after its last finished tile.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import sinkdist as sd
from sinkdist_paper.contestants import Variant
from sinkdist_paper.data import Images
from sinkdist_paper.progress import duration

__all__ = ["BLOCK", "stored_distances"]

Array: TypeAlias = npt.NDArray[Any]

BLOCK = 1_000  # images
SECONDS_BETWEEN_LINES = 10.0


def stored_distances(
    variant: Variant,
    images: Images,
    n: int,
    folder: Path,
    *,
    workers: int | None = None,
    tell: Callable[[str], None],
) -> Array:
    """The matrix of a variant; tiles that are already on disk are not computed again.

    Parameters
    ----------
    variant : Variant
        Which distance.
    images : Images
        The largest set of images.
    n : int
        The matrix is that of the first `n` images.
    folder : Path
        Where matrices of these images are stored.
    workers : int, optional
        Threads.
    tell : function
        Called with a line on the progress every few seconds.

    Returns
    -------
    ndarray of shape (n, n)
        Memory-mapped from a file. The distance of each pair is from the earlier image to the later.
    """
    place = folder / variant.name
    place.mkdir(parents=True, exist_ok=True)
    parts = list(_parts(n, len(images)))
    blocks = []
    for number, (rows, columns) in enumerate(itertools.combinations_with_replacement(parts, 2)):
        many = len(parts) * (len(parts) + 1) // 2
        name = f"{variant.name}, block {number + 1} of {many} for N = {n:,}"
        others = None if rows == columns else images[columns]
        block = variant.distances(  # raises if the stored block is of other images
            images[rows],
            others,
            out=place / f"{_named(rows)}-to-{_named(columns)}.zarr",
            workers=workers,
            progress=_every_few_seconds(partial(_line, name, tell)),
        )
        blocks.append((rows, columns, block))
    flat = place / f"{n}.npy"
    if not flat.exists():
        _flatten(blocks, n, flat)
    distances: Array = np.load(flat, mmap_mode="r")
    return distances


def _parts(n: int, largest: int) -> Iterator[slice]:
    """The images of each row of blocks; where they end does not depend on `n`."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, largest))


def _named(part: slice) -> str:
    """A range of images, in file names."""
    return f"{part.start}-{part.stop - 1}"


def _flatten(blocks: list[tuple[slice, slice, sd.StoredMatrix]], n: int, path: Path) -> None:
    """Write stored blocks as one symmetric matrix in a .npy file, atomically."""
    unfinished = path.with_suffix(".part")
    flat = np.lib.format.open_memmap(unfinished, "w+", blocks[0][2].dtype, (n, n))
    for rows, columns, block in blocks:
        values = block[: n - rows.start, : n - columns.start]
        flat[rows.start : rows.stop, columns.start : columns.stop] = values
        flat[columns.start : columns.stop, rows.start : rows.stop] = values.T
    flat.flush()
    unfinished.replace(path)


def _line(name: str, tell: Callable[[str], None], progress: sd.Progress) -> None:
    """Say how many pairs of a block are done, and how long the others take."""
    line = f"distances {name}: {progress.done:,} of {progress.total:,} pairs"
    rate, left = progress.pairs_per_second, progress.total - progress.done
    tell(f"{line}, {duration(math.ceil(left / rate))} left" if rate > 0 and left else line)


def _every_few_seconds(
    listener: Callable[[sd.Progress], None],
) -> Callable[[sd.Progress], None]:
    """A listener that passes on a record every few seconds, and the last one."""
    last = -SECONDS_BETWEEN_LINES

    def listen(progress: sd.Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES or progress.done == progress.total:
            last = now
            listener(progress)

    return listen
