"""1,600 dictionary definitions as histograms over words, and a vector for every word.

Derived from WordNet 3.0 by ``reproduction/scripts/make_definitions.py``; LICENSE-WordNet.txt lies
beside the table. Definitions are counts of words without their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sinkdist import InputError

FEWEST = 80  # definitions: ten of each kind, so that there are neighbours


@dataclass(frozen=True, eq=False)
class Definitions:
    """Rows are definitions; bins are words."""

    histograms: csr_array  #: shares of words, rows of sum 1
    counts: csr_array
    words: NDArray[np.str_]
    vectors: NDArray[np.float64]  #: of the words, each of length 1
    heads: NDArray[np.str_]  #: what is defined
    kinds: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def pairs(self) -> int:
        """How many pairs of different definitions there are."""
        return len(self) * (len(self) - 1) // 2

    def words_of(self, row: int) -> list[str]:
        """The words of a definition, in the order of the alphabet."""
        bins = self.histograms.indices[
            self.histograms.indptr[row] : self.histograms.indptr[row + 1]
        ]
        return [str(word) for word in self.words[np.sort(bins)]]

    def share_words(self, one: int, other: int) -> bool:
        """Whether two definitions have a word in common."""
        return bool(set(self.words_of(one)) & set(self.words_of(other)))


def load(n: int | None = None) -> Definitions:
    """All definitions, or about the first `n`: as many of each kind."""
    with files(__package__).joinpath("definitions.npz").open("rb") as file, np.load(file) as table:
        found: dict[str, NDArray[Any]] = dict(table)
    heads, kinds = found["heads"].astype(str), found["kinds"].astype(str)
    if n is not None and not FEWEST <= n <= len(heads):
        raise InputError(f"'n' must be between {FEWEST} and {len(heads)}. Got {n} instead.")
    counts = csr_array(
        (found["counts"].astype(float), found["indices"].astype(np.int32),
         found["indptr"].astype(np.int32)),
        shape=(len(heads), len(found["words"])),
    )  # fmt: skip
    if n is not None:
        each = n // len(set(kinds))
        places = [np.flatnonzero(kinds == kind)[:each] for kind in dict.fromkeys(kinds)]
        some = np.concatenate(places)
        counts, heads, kinds = counts[some], heads[some], kinds[some]
    totals = np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
    histograms = csr_array((counts.data / totals, counts.indices, counts.indptr), counts.shape)
    words, vectors = found["words"].astype(str), found["vectors"].astype(np.float64)
    return Definitions(histograms, counts, words, vectors, heads, kinds)
