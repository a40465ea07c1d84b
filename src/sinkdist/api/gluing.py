"""The gluing lemma: from couplings of (x, y) and (y, z), a coupling of (x, z)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.arrays import real_array

__all__ = ["glue"]

_SLACK = 1e-6  # L1 difference of the middle marginals that counts as rounding of two solves


def glue(P: Any, Q: Any) -> npt.NDArray[np.float64]:
    """Glue two couplings along their common marginal.

    With P a coupling of x and y, and Q one of y and z, ``S_ik = sum_j P_ij Q_jk / y_j`` is a
    coupling of x and z: going from x to z by way of y. By the data-processing inequality it holds
    no more information than either, ``KL(S || x z^T) <= min(KL(P || x y^T), KL(Q || y z^T))``: what
    lies in the ball of radius alpha stays there (the paper's Lemma 1). Bins of y without mass carry
    nothing.

    Parameters
    ----------
    P : array_like, shape (d, e)
        A coupling of x and y.
    Q : array_like, shape (e, d')
        A coupling of y and z.

    Returns
    -------
    ndarray of shape (d, d')

    Examples
    --------
    >>> glue([[0.5, 0], [0, 0.5]], [[0, 0.5], [0.5, 0]])
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    first, second = _coupling(P, "P"), _coupling(Q, "Q")
    if first.shape[1] != second.shape[0]:
        raise InputError(
            f"'P' has {first.shape[1]} columns and 'Q' has {second.shape[0]} rows: both stand for "
            "the bins of the histogram in the middle."
        )
    y, again = first.sum(axis=0), second.sum(axis=1)
    off = float(np.abs(y - again).sum())
    if off > _SLACK:
        raise InputError(
            "The columns of 'P' and the rows of 'Q' must sum to the same histogram. "
            f"They differ by {off:.2g}."
        )
    weights = np.divide(1.0, y, out=np.zeros_like(y), where=y > 0.0)
    return np.asarray((first * weights) @ second, dtype=np.float64)


def _coupling(values: Any, name: str) -> npt.NDArray[np.float64]:
    """A non-negative matrix of total mass 1."""
    array = np.asarray(real_array(values, f"'{name}'"), dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"'{name}' must be a matrix. Got shape {array.shape} instead.")
    if not (array >= 0.0).all():
        i, j = np.argwhere(~(array >= 0.0))[0]
        raise InputError(
            f"Entry ({i}, {j}) of '{name}' is {array[i, j]}; couplings are non-negative."
        )
    total = float(array.sum())
    if not abs(total - 1.0) <= _SLACK:
        raise InputError(f"'{name}' sums to {total:.6g}, but a coupling sums to 1.")
    return array
