"""Costs as a dense matrix: the operator that can be anything, and the fast path of the solvers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sinkdist.ground.blocks import block_of
from sinkdist.ground.gibbs import Gibbs
from sinkdist.ground.operator import Array, Index
from sinkdist.inputs.fingerprints import digest

__all__ = ["SYMMETRY", "DenseCosts"]

SYMMETRY = 1e-12  #: relative difference of mirrored costs that counts as rounding


class DenseCosts:
    """A matrix of finite, non-negative costs, owned and never written to.

    The array is not flagged read-only, because compiled passes would be compiled once more for
    that flag.
    """

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.min, self.max = float(matrix.min()), float(matrix.max())

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix."""
        return int(self.matrix.nbytes)

    @cached_property
    def median(self) -> float:
        """The median of all entries, the diagonal included: the paper's unit of cost."""
        return float(np.median(self.matrix))

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the matrix is square and equals its transpose up to 1e-12 of each entry.

        Compared in blocks, to make no copy of either.
        """
        rows, columns = self.shape
        if rows != columns:
            return False
        for start in range(0, rows, 256):
            below = self.matrix[start:, start : start + 256]
            right = self.matrix[start : start + 256, start:].T
            if np.array_equal(below, right):
                continue
            if (np.abs(below - right) > SYMMETRY * np.minimum(below, right)).any():
                return False
        return True

    @property
    def diagonal(self) -> Array:
        """The costs of staying in a bin, for a square ground."""
        return self.matrix.diagonal()

    @property
    def fingerprint(self) -> str:
        """A digest that two grounds share only if their costs are the same, to the bit."""
        return digest([self.matrix], str(self.shape))

    def block(self, rows: Index | None = None, columns: Index | None = None) -> Array:
        """Costs between some bins; the matrix itself for all of them."""
        return block_of(self.matrix, rows, columns)

    def at(self, rows: Index, columns: Index) -> Array:
        """The costs of some moves."""
        return self.matrix[rows, columns]

    def mean_costs(self, rows: Any) -> Any:
        """``R M``: the mean cost from each histogram (dense or sparse rows) to every bin."""
        return (rows if rows.dtype == np.float64 else rows.astype(np.float64)) @ self.matrix

    def kernel(self, lam: float, dtype: np.dtype[Any]) -> Gibbs:
        """The Gibbs kernel."""
        return Gibbs(self.matrix, float(lam), dtype, self.max)

    def scaled(self, unit: float) -> DenseCosts:
        """All costs divided by a number."""
        with np.errstate(under="ignore"):
            return DenseCosts(self.matrix / unit)
