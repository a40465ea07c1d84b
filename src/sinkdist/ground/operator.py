"""What solvers ask of costs: blocks of them and products with their kernel, never the matrix.

`Ground` is the public face; below it stands something of this kind. The dense matrix (`dense`) is
the fast path, not the assumption: costs that are a formula answer the same questions.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.ground.metric import MetricCheck

__all__ = ["Array", "CostOperator", "Index", "KernelOperator", "MatrixFree"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.integer]


class KernelOperator(Protocol):
    """``K = exp(-lam M)`` for one lam and one dtype: products with it, and blocks of it."""

    @property
    def lam(self) -> float:
        """The paper's lambda."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""

    @property
    def fits(self) -> bool:
        """Whether the dtype represents every entry that matters to scaling."""

    def apply(self, V: Array) -> Array:
        """``K v`` for every row ``v``."""

    def apply_T(self, U: Array) -> Array:
        """``K^T u`` for every row ``u``."""

    def apply_cost(self, U: Array, V: Array) -> Array:
        """``lam <diag(u) K diag(v), M>`` for every pair of rows."""

    def on(self, rows: Index | None, columns: Index | None) -> Array:
        """The block between some bins; None stands for all of them."""


class CostOperator(Protocol):
    """Costs between the bins of two histograms."""

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""

    @property
    def min(self) -> float:
        """The smallest cost."""

    @property
    def max(self) -> float:
        """The largest cost."""

    @property
    def median(self) -> float:
        """The median of all costs, the diagonal included."""

    @property
    def is_symmetric(self) -> bool:
        """Whether costs are the same both ways, up to rounding."""

    @property
    def diagonal(self) -> Array:
        """The costs of staying in a bin, for a square ground."""

    @property
    def fingerprint(self) -> str:
        """A digest that two operators share only if their costs are the same, to the bit."""

    @property
    def nbytes(self) -> int:
        """What one dense array of its size takes."""

    def block(self, rows: Index | None = None, columns: Index | None = None) -> Array:
        """Costs between some bins; None stands for all of them. Not to be written to."""

    def at(self, rows: Index, columns: Index) -> Array:
        """Costs of some moves, each from a row to the column at the same place."""

    def mean_costs(self, rows: Any) -> Any:
        """``R M`` for rows that are dense or sparse."""

    def kernel(self, lam: float, dtype: np.dtype[Any]) -> Any:
        """The `KernelOperator` for a lam in a dtype."""

    def scaled(self, unit: float) -> CostOperator:
        """All costs divided by a number."""


class MatrixFree(CostOperator, Protocol):
    """Costs that are no matrix, and what is asked of them beside."""

    def scaled(self, unit: float) -> MatrixFree:
        """All costs divided by a number."""

    @property
    def rounding(self) -> float:
        """By how much of the largest cost a cost may be off, whatever its block."""

    @property
    def has_matrix(self) -> bool:
        """Whether a matrix is made for those who ask for one."""

    def matrix(self) -> Array:
        """All costs, made for those who ask; an error with the size where these are too many."""

    def check_metric(self) -> MetricCheck:
        """Whether the costs are a metric, as far as can be told without a matrix."""

    def refusal(self, what: str, instead: str) -> InputError:
        """The error for those who ask for all of something at once."""
