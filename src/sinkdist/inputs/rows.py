"""The few row-wise operations that checking needs, on dense and on CSR rows alike.

Apart from the checks themselves, so that those are written once: here alone is it known that the
masses of CSR rows lie one after another, without the zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Rows",
    "flushed",
    "masses",
    "per_row",
    "position",
    "promoted",
    "spread",
    "sums",
    "with_masses",
]

Array: TypeAlias = npt.NDArray[Any]
Rows: TypeAlias = "Array | csr_array"


def promoted(values: Any, dtype: np.dtype[Any]) -> Rows:
    """1-D or 2-D `values` as (n, d) rows of `dtype`: C-contiguous, or CSR without stored zeros."""
    if isinstance(values, np.ndarray):
        return np.require(values, dtype, ["C", "A"]).reshape(-1, values.shape[-1])
    from scipy.sparse import csr_array

    if values.dtype != dtype:
        values = values.astype(dtype)  # before duplicates are summed: small integers would wrap
    if values.ndim == 1:
        values = values.reshape((1, -1))
    rows = csr_array(values)
    if rows.data.size > rows.nnz:  # there may be room behind the entries
        rows = csr_array(
            (rows.data[: rows.nnz], rows.indices[: rows.nnz], rows.indptr), shape=rows.shape
        )
    if rows.has_canonical_format and np.count_nonzero(rows.data) == rows.nnz:
        return rows
    rows = rows.copy()  # it may share the caller's memory, and what follows works in place
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def masses(rows: Rows) -> Array:
    """The stored numbers: all of them, or those that CSR keeps."""
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.data)


def with_masses(rows: Rows, new: Array) -> Rows:
    """`rows` with other numbers in the same places; CSR drops those that became 0."""
    if isinstance(rows, np.ndarray):
        return new
    from scipy.sparse import csr_array

    keeps_all = np.count_nonzero(new) == new.size
    result = csr_array((new, rows.indices, rows.indptr), shape=rows.shape, copy=not keeps_all)
    if not keeps_all:
        result.eliminate_zeros()
    return result


def per_row(reduce: np.ufunc, rows: Rows) -> Array:
    """The sum or maximum of each row; a CSR row without stored numbers gives 0."""
    if isinstance(rows, np.ndarray):
        return np.asarray(reduce.reduce(rows, axis=1))
    result = np.zeros(rows.shape[0], rows.dtype)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        result[filled] = reduce.reduceat(rows.data, rows.indptr[filled])
    return result


def sums(rows: Rows) -> Array:
    """The sum of each row, the same to the bit for dense and CSR rows, alone and in a family.

    Extended precision hides the order in which numbers are summed, where there is any.
    """
    if isinstance(rows, np.ndarray):
        return np.asarray(np.add.reduce(rows, axis=-1, dtype=np.longdouble), dtype=rows.dtype)
    result = np.zeros(rows.shape[0], rows.dtype)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        result[filled] = np.add.reduceat(rows.data, rows.indptr[filled], dtype=np.longdouble)
    return result


def spread(numbers: Array, rows: Rows) -> Array:
    """One number per row, in the shape that combines with the stored numbers."""
    if isinstance(rows, np.ndarray):
        return numbers[:, None]
    return np.repeat(numbers, np.diff(rows.indptr))


def position(rows: Rows, mask: npt.NDArray[np.bool_]) -> tuple[int, int, float]:
    """Row, bin and value of the first stored number that `mask` marks."""
    k = int(mask.argmax())
    value = float(masses(rows).flat[k])
    if isinstance(rows, np.ndarray):
        return *divmod(k, rows.shape[1]), value
    return int(np.searchsorted(rows.indptr, k, side="right")) - 1, int(rows.indices[k]), value


def flushed(rows: Rows, dtype: np.dtype[Any], smallest: float) -> Rows:
    """`rows` in `dtype`, with what is below `smallest` set to 0."""
    numbers = masses(rows).astype(dtype, copy=False)
    small = (numbers != 0.0) & (numbers < smallest)
    if small.any():
        numbers = np.where(small, dtype.type(0), numbers)
    elif numbers is masses(rows):
        return rows
    return with_masses(rows, numbers)
