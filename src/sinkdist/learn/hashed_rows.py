"""Rows that are known by their content.

A histogram that comes back, in another fold or as a test row that was trained on, is recognised by
a digest of its masses. Distances are kept under digests (`distance_table`), and the diagonal term
of a kernel is added where two digests agree (`kernel`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.rows import Rows

__all__ = ["HashedRows", "hashed_rows"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.intp]

_DIGEST_BYTES = 16  # two of a billion different rows agree with a chance of 1e-21
_AT_ONCE = 256  # sparse rows made dense to be looked at


@dataclass(frozen=True, eq=False)
class HashedRows:
    """Rows and their digests.

    Attributes
    ----------
    rows : ndarray or csr_array, shape (n, d)
        Histograms that were read, or distances.
    digests : tuple of bytes
        One for each row; equal rows have equal digests.
    """

    rows: Rows
    digests: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.digests)

    @cached_property
    def distinct(self) -> Index:
        """The first row of each kind."""
        first: dict[bytes, int] = {}
        for k, digest in enumerate(self.digests):
            first.setdefault(digest, k)
        return np.fromiter(first.values(), np.intp, len(first))

    @cached_property
    def kinds(self) -> Index:
        """For each row, which of the distinct ones it is."""
        numbers: dict[bytes, int] = {}
        found = (numbers.setdefault(digest, len(numbers)) for digest in self.digests)
        return np.fromiter(found, np.intp, len(self))

    @property
    def without_repeats(self) -> HashedRows:
        """One row of each kind."""
        return self if len(self.distinct) == len(self) else self.take(self.distinct)

    def take(self, index: Index) -> HashedRows:
        """Some of the rows."""
        return HashedRows(self.rows[index], tuple(self.digests[k] for k in index.tolist()))

    def same(self, other: HashedRows) -> npt.NDArray[np.bool_]:
        """Entry (i, j) says whether row i and row j of `other` are the same."""
        numbers = {digest: k for k, digest in enumerate(other.digests)}
        kinds = [other.kinds[numbers[x]] if x in numbers else -1 for x in self.digests]
        return np.asarray(np.array(kinds, np.intp)[:, None] == other.kinds)


def hashed_rows(family: Histograms) -> HashedRows:
    """Rows of histograms that were read; sparse and dense rows have the same digests.

    Examples
    --------
    >>> rows = hashed_rows(Histograms(np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])))
    >>> rows.kinds, rows.distinct
    (array([0, 1, 0]), array([0, 1]))
    """
    digests: list[bytes] = []
    for start in range(0, family.n, _AT_ONCE):
        block = family.dense(slice(start, start + _AT_ONCE)) + 0.0  # -0.0 is 0.0
        digests.extend(
            hashlib.blake2b(row.tobytes(), digest_size=_DIGEST_BYTES).digest() for row in block
        )
    return HashedRows(family.rows, tuple(digests))
