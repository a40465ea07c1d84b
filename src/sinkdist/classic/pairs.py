"""All pairs of classic distances: histograms are read, and become a job of tiles for `scale`.

The one place that knows the options which all these distances share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from sinkdist.classic.formulas import Distance
from sinkdist.classic.summed import Array, Formula
from sinkdist.errors import InputError
from sinkdist.inputs.fingerprints import fingerprint, identities
from sinkdist.inputs.flags import flag, listener
from sinkdist.inputs.histograms import Histograms, check_same_bins, read, working_dtype
from sinkdist.interrupts import Stop
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.scale.job import Job, TileResult
from sinkdist.scale.run import run
from sinkdist.scale.tiles import Tile
from sinkdist.solution.status import Status

__all__ = ["Families", "compute", "embed", "read_families"]

_SIDE = 512  # of a large tile


class Rows(Protocol):
    """Vectors to be compared: histograms, or what they were embedded as."""

    @property
    def empty(self) -> Array | None:
        """Which of them have no distance to anything, where there are any."""

    def dense(self, index: slice) -> Array:
        """Some of them, one per row."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Histograms that were embedded."""

    vectors: Array
    empty: Array | None

    def dense(self, index: slice) -> Array:
        """Some of them, one per row."""
        return np.asarray(self.vectors[index])


class Families(NamedTuple):
    """Two families of histograms, None for the second where it is the first."""

    X: Histograms
    Y: Histograms | None

    @property
    def other(self) -> Histograms:
        """The second family, or the first once more."""
        return self.X if self.Y is None else self.Y


@dataclass(frozen=True, eq=False)
class Comparison:
    """Answers tiles of a distance that is a function of two blocks of rows."""

    between: Formula
    X: Rows
    Y: Rows
    dtype: np.dtype[Any]

    @property
    def stop(self) -> Stop:
        """Never set: a tile takes no time."""
        return Stop()

    def __call__(self, tile: Tile) -> TileResult:
        """Answer a tile."""
        distances = self.between(self.X.dense(tile.rows), self.Y.dense(tile.columns))
        values = distances.astype(self.dtype, copy=False)
        empty = _empty(self.X, tile.rows)[:, None] | _empty(self.Y, tile.columns)
        values[empty] = np.nan
        if self.X is self.Y and tile.is_diagonal:
            diagonal = np.flatnonzero(~empty.diagonal())
            values[diagonal, diagonal] = 0
            below = np.tril_indices(len(values), -1)
            values[below] = values.T[below]
        status = np.where(empty, np.int8(Status.EMPTY), np.int8(Status.CONVERGED))
        return TileResult(values, status, np.zeros(tile.shape, np.float32))


def read_families(X: Any, Y: Any, options: Options, bins: int | None = None) -> Families:
    """Both families, checked, with equally many bins; as many as a ground has, if that is given."""
    flag("overwrite", options.overwrite)
    listener(options.progress)
    dtype = working_dtype(X, Y)
    normalize, on_empty = options.normalize, options.on_empty
    first = read(X, "X", dtype=dtype, bins=bins, normalize=normalize, on_empty=on_empty)
    _refuse_vector(first, "X")
    if Y is None:
        return Families(first, None)
    check_same_bins(X, Y, "X", "Y")
    second = read(
        Y, "Y", dtype=dtype, bins=first.d, normalize=normalize, on_empty=on_empty, against="'X'"
    )
    _refuse_vector(second, "Y")
    return Families(first, second)


def embed(families: Families, L: Array) -> tuple[Rows, Rows]:
    """Both families times a matrix, in float64; equal histograms become equal vectors."""
    X, Y = families.X, families.other
    numbers = np.concatenate(identities(X, Y)) if Y is not X else identities(X, X)[0]
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    parts = [np.asarray(family.rows @ L) for family in ((X,) if Y is X else (X, Y))]
    # A product may round one row in several ways, depending on where it stands among others.
    vectors = np.concatenate(parts)[first][place]
    embedded = Vectors(vectors[: X.n], X.empty)
    return embedded, embedded if Y is X else Vectors(vectors[X.n :], Y.empty)


def compute(
    distance: Distance,
    families: Families,
    options: Options,
    *,
    rows: tuple[Rows, Rows] | None = None,
    parameters: Mapping[str, Any] | None = None,
    fingerprints: Mapping[str, str] | None = None,
) -> Any:
    """The matrix of distances between the families, or between the `rows` they were made into.

    `parameters` and `fingerprints` are what else decides the values, for stores.
    """
    X, Y = (families.X, families.other) if rows is None else rows
    dtype, d, shape = families.X.dtype, families.X.d, (families.X.n, families.other.n)
    job = Job(
        shape,
        dtype,
        families.Y is None,
        Comparison(distance.formula(shape[0] * shape[1], d), X, Y, dtype),
        {}
        if options.out is None
        else _facts(distance, families, parameters or {}, fingerprints or {}),
        {int(status): status.name.lower().replace("_", " ") for status in Status},
        (),
        distance.seconds_per_bin * d,
        distance.bytes_at_once(_SIDE, d, 8),
        0,
    )
    matrix, _ = run(job, options, threads.count(options.workers))
    return matrix


def _facts(
    distance: Distance,
    families: Families,
    parameters: Mapping[str, Any],
    fingerprints: Mapping[str, str],
) -> dict[str, Any]:
    """What decides the values, as JSON."""
    return {
        "parameters": {"distance": distance.name, "dtype": str(families.X.dtype), **parameters},
        "fingerprints": {
            "X": fingerprint(families.X),
            "Y": None if families.Y is None else fingerprint(families.Y),
            **fingerprints,
        },
    }


def _refuse_vector(histograms: Histograms, name: str) -> None:
    """Raise for a single histogram."""
    if histograms.is_vector:
        raise InputError(
            f"'{name}' must be a family of histograms of shape (n, d). "
            f"Got shape ({histograms.d},) instead: pass {name}[None, :] for a family of one."
        )


def _empty(rows: Rows, part: slice) -> Array:
    """Which of some rows are without mass."""
    return np.zeros(part.stop - part.start, bool) if rows.empty is None else rows.empty[part]
