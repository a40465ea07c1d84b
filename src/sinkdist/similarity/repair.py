"""Kernels made positive semi-definite, as the paper does: by a sufficiently large diagonal term.

The term belongs to the kernel as a function, ``k(x, y) + shift [x = y]``: between training and test
histograms it is added where these are equal, so that both parts stay one kernel.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.arrays import real_array

__all__ = ["is_psd", "repaired", "repaired_cross", "shift"]

Array = npt.NDArray[Any]

#: Difference of mirrored entries, as a part of the largest entry, that counts as rounding.
_SYMMETRY = {"f": 1e-5, "d": 1e-10}


def is_psd(K: Any) -> bool:
    """Whether a kernel matrix is positive semi-definite, up to the rounding of its entries.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Symmetric.

    Examples
    --------
    >>> is_psd([[1.0, 0.5], [0.5, 1.0]]), is_psd([[1.0, 2.0], [2.0, 1.0]])
    (True, False)
    """
    return shift(K) == 0.0


def shift(K: Any) -> float:
    """The smallest number that makes K positive semi-definite when added to its diagonal.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Symmetric.

    Returns
    -------
    float
        Minus the smallest eigenvalue, plus a margin for rounding: ``10 n max|K|`` machine epsilons
        of float64, and ``sqrt(n) max|K|`` of the dtype of K. 0.0 if K is positive semi-definite
        up to that margin.

    Examples
    --------
    >>> round(shift([[1.0, 2.0], [2.0, 1.0]]), 12)
    1.0
    >>> shift([[1.0, 0.5], [0.5, 1.0]])
    0.0
    """
    return _shift(_symmetric(K))


def repaired(K: Any) -> tuple[Array, float]:
    """A positive semi-definite kernel matrix ``K + shift I``, and the shift.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Symmetric; it is not changed.

    Returns
    -------
    ndarray, shape (n, n)
        A new matrix; float32 where K is float32, else float64.
    float
        What was added to the diagonal, as `shift` has it.

    See Also
    --------
    repaired_cross : the same kernel between other histograms and those of K.

    Examples
    --------
    >>> K, term = repaired([[1.0, 2.0], [2.0, 1.0]])
    >>> K.round(12)
    array([[2., 2.],
           [2., 2.]])
    """
    matrix = _symmetric(K)
    term = _shift(matrix)
    new = matrix.copy()
    new[np.diag_indices(len(new))] += term
    return new, term


def repaired_cross(K: Any, shift: float, same: Any) -> Array:
    """A kernel between test and training histograms after the repair of that among the latter.

    Parameters
    ----------
    K : array_like, shape (m, n)
        The kernel between m histograms and the n training histograms; it is not changed.
    shift : float
        What `repaired` returned for the kernel among the training histograms.
    same : array_like of bool, shape (m, n)
        ``same[i, j]`` says whether histogram i and training histogram j are equal.

    Returns
    -------
    ndarray, shape (m, n)
        ``K + shift * same``: for the training histograms themselves it is the repaired matrix.

    Examples
    --------
    >>> repaired_cross([[1.0, 2.0], [0.5, 0.25]], 1.0, [[True, False], [False, False]])
    array([[2.  , 2.  ],
           [0.5 , 0.25]])
    """
    matrix, where = _matrix(K), np.asarray(same)
    if isinstance(shift, bool) or not isinstance(shift, numbers.Real) or not 0 <= shift < math.inf:
        raise InputError(f"The 'shift' must be a non-negative number. Got {shift!r} instead.")
    if where.dtype != bool or where.shape != matrix.shape:
        raise InputError(
            f"'same' must hold one bool for each entry of 'K', which has shape {matrix.shape}. "
            f"Got shape {where.shape} of {where.dtype} instead."
        )
    new = matrix.copy()
    new[where] += float(shift)
    return new


def _shift(K: Array) -> float:
    """The same for a matrix that was checked."""
    from scipy.linalg import LinAlgError, cholesky, eigvalsh

    n = len(K)
    if n == 0:
        return 0.0
    # Of eigenvalues in float64, and of n^2 entries that were each rounded to their own dtype.
    largest = float(np.abs(K).max())
    eps, own = float(np.finfo(np.float64).eps), float(np.finfo(K.dtype).eps)
    margin = largest * (10 * n * eps + math.sqrt(n) * own)
    work = K.astype(np.float64)
    work[np.diag_indices(n)] += margin
    try:  # several times as fast as an eigenvalue
        cholesky(work, lower=True, overwrite_a=True, check_finite=False)
        return 0.0
    except LinAlgError:
        pass
    smallest = eigvalsh(K.astype(np.float64), subset_by_index=[0, 0], check_finite=False)[0]
    return 0.0 if smallest >= -margin else margin - float(smallest)


def _symmetric(K: Any) -> Array:
    """A square and symmetric matrix of finite floats."""
    matrix = _matrix(K)
    rows, columns = matrix.shape
    if rows != columns:
        raise InputError(
            f"'K' must be square. Got {rows} x {columns} instead: kernels between two families "
            "are repaired by repaired_cross."
        )
    if matrix.size == 0:
        return matrix
    off = np.abs(matrix - matrix.T)
    if off.max() > _SYMMETRY[matrix.dtype.char] * np.abs(matrix).max():
        i, j = sorted(map(int, np.unravel_index(off.argmax(), off.shape)))
        raise InputError(
            f"'K' must be symmetric. Got {matrix[i, j]:.7g} at ({i}, {j}) and {matrix[j, i]:.7g} "
            f"at ({j}, {i}): pass (K + K.T) / 2 if both stand for the same similarity."
        )
    return matrix


def _matrix(K: Any) -> Array:
    """A matrix of finite floats, or an error that names the first that is none."""
    matrix = real_array(K, "'K'")
    if matrix.ndim != 2:
        raise InputError(f"'K' must be a matrix. Got shape {matrix.shape} instead.")
    if matrix.dtype.char not in "fd":
        matrix = matrix.astype(np.float32 if matrix.dtype.char == "e" else np.float64)
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(f"Entry ({i}, {j}) of 'K' is {matrix[i, j]}, but it must be finite.")
    return matrix
