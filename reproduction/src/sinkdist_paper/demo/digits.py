"""The 1,797 handwritten digits of 8 x 8 pixels that scikit-learn includes.

The only file of the demo that imports scikit-learn. An image becomes a histogram by dividing its
ink by the total, so the same stroke drawn darker is the same histogram.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from sinkdist import InputError

SIDE = 8
FEWEST = 20  # below this there are not enough neighbours to show


@dataclass(frozen=True)
class Digits:
    """Images as histograms, one per row, and the digit that each one shows."""

    histograms: NDArray[np.float64]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pairs(self) -> int:
        """How many pairs of different images there are."""
        return len(self) * (len(self) - 1) // 2


def load(n: int | None = None) -> Digits:
    """All digits, or the first `n`: the set repeats 0 to 9, so these are balanced."""
    ink, labels = load_digits(return_X_y=True)
    if n is not None and not FEWEST <= n <= len(ink):
        raise InputError(f"'n' must be between {FEWEST} and {len(ink)}. Got {n} instead.")
    ink = ink[:n]
    return Digits(ink / ink.sum(axis=1, keepdims=True), labels[:n].astype(np.int64))
