"""The kernel ``exp(-d / t)`` of any distance, and the bandwidths t that the paper tries."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.arrays import real_array

__all__ = ["bandwidths", "kernel"]

Array = npt.NDArray[Any]

_QUANTILES = (0.1, 0.2, 0.5)
_SYMMETRY = 1e-6  # of the largest distance
#: Negative distances down to this fraction of the largest are rounding and count as 0.
_ROUNDING = {"f": 1e-6, "d": 1e-12}


def kernel(D: Any, t: float) -> Array:
    """``exp(-D / t)``: 1 for equal histograms, near 0 for those much further apart than t.

    Parameters
    ----------
    D : array_like or StoredMatrix
        Distances, of any shape; they are all read into memory.
    t : float
        The bandwidth, positive.

    Returns
    -------
    ndarray
        Similarities between 0 and 1, of the shape of `D`; float32 where that is float32, else
        float64.

    See Also
    --------
    bandwidths : values of t to choose among.
    repaired : where kernel methods need it positive semi-definite.

    Examples
    --------
    >>> kernel([[0.0, 2.0], [2.0, 0.0]], t=1).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """
    if isinstance(t, bool) or not isinstance(t, numbers.Real) or not 0.0 < t < math.inf:
        raise InputError(f"The bandwidth 't' must be a positive number. Got {t!r} instead.")
    distances = _distances(D)
    limits = np.finfo(distances.dtype)
    unit = min(max(float(t), float(limits.tiny)), float(limits.max))  # as far as the dtype reaches
    with np.errstate(over="ignore", under="ignore"):  # similarities beyond every digit are 0
        exponents = np.asarray(distances / -unit)
        return np.asarray(np.exp(exponents, out=exponents))


def bandwidths(D: Any, *, sample: int | None = None, seed: int = 0) -> Array:
    """The paper's bandwidths: 1, and the 10 %, 20 % and 50 % quantiles of observed distances.

    Parameters
    ----------
    D : array_like or StoredMatrix, shape (n, m)
        Distances. Of a symmetric matrix each pair of different rows counts once and the diagonal
        does not; of any other, every entry counts.
    sample : int, optional
        Look at no more than this many distances, drawn at random without replacement.
    seed : int
        For the draw.

    Returns
    -------
    ndarray, shape (4,) or less
        In the order 1, 10 %, 20 %, 50 %. A quantile of 0 (of many equal histograms) is no
        bandwidth: it is left out, and the others stay.

    Examples
    --------
    >>> D = abs(np.subtract.outer(np.arange(11.0), np.arange(11.0)))
    >>> bandwidths(D)
    array([1., 1., 2., 4.])
    >>> bandwidths([[0.0, 0.0, 0.0, 5.0]])
    array([1.])
    """
    distances = _distances(D)
    if distances.ndim != 2:
        raise InputError(f"'D' must be a matrix. Got shape {distances.shape} instead.")
    observed = _observed(distances, _size(sample), seed)
    if observed.size == 0:
        raise InputError(
            f"'D' of shape {distances.shape} holds no distance between two histograms, so it has "
            "no quantiles."
        )
    quantiles = np.quantile(observed.astype(np.float64, copy=False), _QUANTILES)
    return np.concatenate([[1.0], quantiles[quantiles > 0.0]])


def _size(sample: Any) -> int | None:
    """The ``sample`` option, checked."""
    if sample is None:
        return None
    if isinstance(sample, bool) or not isinstance(sample, numbers.Integral) or sample < 1:
        raise InputError(
            f"The 'sample' option must be a whole number of at least 1. Got {sample!r} instead."
        )
    return int(sample)


def _observed(D: Array, sample: int | None, seed: int) -> Array:
    """The distances that count, or some of them."""
    n = len(D)
    if not (D.shape == (n, n) and _is_symmetric(D)):
        chosen = _chosen(D.size, sample, seed)
        return D.ravel() if chosen is None else D[np.unravel_index(chosen, D.shape)]
    before = np.arange(n) * (2 * n - 1 - np.arange(n)) // 2  # pairs above each row of the triangle
    chosen = _chosen(n * (n - 1) // 2, sample, seed)
    if chosen is None:
        return np.concatenate([D[i, i + 1 :] for i in range(n)] or [D.ravel()])
    i = np.searchsorted(before, chosen, side="right") - 1
    return np.asarray(D[i, chosen - before[i] + i + 1])


def _is_symmetric(D: Array) -> bool:
    """Whether a square matrix holds every pair twice; solvers may leave small differences."""
    return bool(np.abs(D - D.T).max(initial=0.0) <= _SYMMETRY * D.max(initial=0.0))


def _chosen(size: int, sample: int | None, seed: int) -> npt.NDArray[np.intp] | None:
    """Which of so many distances to look at; None for all."""
    if sample is None or sample >= size:
        return None
    return np.random.default_rng(seed).choice(size, sample, replace=False, shuffle=False)


def _distances(D: Any) -> Array:
    """Distances as an array of floats, or an error that names the first that is none."""
    array = real_array(D, "'D'")
    if array.dtype.char not in "fd":
        array = array.astype(np.float32 if array.dtype.char == "e" else np.float64)
    if array.size == 0:
        return array
    low, high = array.min(), array.max()
    if not (low >= -_ROUNDING[array.dtype.char] * high and high < np.inf):
        _refuse(array, float(high))
    return np.maximum(array, 0) if low < 0 else array


def _refuse(array: Array, high: float) -> None:
    """Raise about the first entry that is no distance."""
    rounding = _ROUNDING[array.dtype.char] * high if math.isfinite(high) else 0.0
    index = np.argwhere(~((array >= -rounding) & (array < np.inf)))[0]
    value = float(array[tuple(index)])
    place = f" ({', '.join(map(str, index))})" if index.size > 1 else f" {index[0]}"
    hint = ": drop the rows without mass, which have no distances" if math.isnan(value) else ""
    raise InputError(
        f"Entry{place if index.size else ''} of 'D' is {value:.7g}, but distances must be finite "
        f"and non-negative{hint}."
    )
