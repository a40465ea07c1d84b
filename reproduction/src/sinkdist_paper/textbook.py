"""Algorithm 1 as the paper prints it, with its test on the change of x, in plain NumPy.

This is the algorithm that figures 4 and 5 are about, as a reader of the paper would write it; the
solvers of sinkdist are not used. Histograms are columns here, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CHANGE", "Run", "algorithm1", "algorithm1_columns"]

Array = npt.NDArray[np.float64]

CHANGE = 0.01  # the paper's threshold on the Euclidean norm of the change of x


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The results for many pairs.

    Attributes
    ----------
    values : ndarray of float, shape (n,)
        ``<P, M>`` of each pair's last iterate.
    iterations : ndarray of int, shape (n,)
        Updates of x until it changed by no more than the threshold, at most `most`.
    stopped : ndarray of bool, shape (n,)
        Whether the last change of x was within the threshold.
    """

    values: Array
    iterations: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]


def algorithm1(
    M: Array, lam: float, r: Array, c: Array, *, change: float = CHANGE, most: int = 10_000
) -> tuple[float, int]:
    """The value and the number of iterations of one pair, tested at every iteration.

    Examples
    --------
    >>> M = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> value, iterations = algorithm1(M, 3.0, np.array([0.5, 0.5]), np.array([0.2, 0.8]))
    >>> round(value, 3), iterations
    (0.301, 6)
    """
    I = r > 0  # noqa: E741  (the paper's name)
    r, M = r[I], M[I]
    K = np.exp(-lam * M)
    x = np.ones(len(r)) / len(r)
    iterations, moved = 0, np.inf
    while moved > change and iterations < most:
        before, x = x, _updated(K, r, c, x)
        iterations, moved = iterations + 1, float(np.linalg.norm(x - before))
    return float(_values(K, M, c, x)), iterations


def algorithm1_columns(
    M: Array, lam: float, r: Array, C: Array, *, change: float = CHANGE, most: int = 10_000
) -> Run:
    """Many pairs at once; each stops when the change of its x is within the threshold.

    Parameters
    ----------
    M : ndarray, shape (d, d)
        Costs.
    lam : float
        The paper's lambda.
    r : ndarray, shape (d,) or (d, n)
        First histograms: one for all pairs, or one per column without any zero.
    C : ndarray, shape (d, n)
        Second histograms.
    change : float
        The threshold on the norm of the change of a column of x.
    most : int
        The largest number of updates of a pair.

    Returns
    -------
    Run
    """
    R = r[:, None] if r.ndim == 1 else r
    I = (R > 0).all(axis=1)  # noqa: E741
    R, M = np.broadcast_to(R[I], (int(I.sum()), C.shape[1])), M[I]
    K = np.exp(-lam * M)
    n = C.shape[1]
    ends, iterations = np.empty(R.shape), np.full(n, most)
    left, x = np.arange(n), np.full(R.shape, 1.0 / len(R))
    for iteration in range(1, most + 1):
        before, x = x, _updated(K, R[:, left], C[:, left], x)
        stopping = np.linalg.norm(x - before, axis=0) <= change
        if stopping.any():
            ends[:, left[stopping]], iterations[left[stopping]] = x[:, stopping], iteration
            left, x = left[~stopping], x[:, ~stopping]
        if left.size == 0:
            break
    ends[:, left] = x
    stopped = np.ones(n, dtype=bool)
    stopped[left] = False
    return Run(_values(K, M, C, ends), iterations, stopped)


def _updated(K: Array, r: Array, c: Array, x: Array) -> Array:
    """The paper's line: ``x = diag(1./r) * K * (c .* (1./(K' * (1./x))))``."""
    return np.asarray((K @ (c / (K.T @ (1.0 / x)))) / r)


def _values(K: Array, M: Array, c: Array, x: Array) -> Array:
    """The last two lines: ``u = 1./x; v = c .* (1./(K' * u)); sum(u .* ((K .* M) * v))``."""
    u = 1.0 / x
    v = c / (K.T @ u)
    return np.asarray((u * ((K * M) @ v)).sum(axis=0))
