"""Random histograms and random ground metrics, as in section 5.3 of the paper.

Separate from the figures because two of them use the same samplers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist, squareform

from sinkdist import InputError

__all__ = ["random_metric", "uniform_simplex"]

Array = npt.NDArray[np.float64]


def uniform_simplex(n: int, d: int, rng: np.random.Generator) -> Array:
    """Draw histograms uniformly from the simplex.

    Exponential variables divided by their sum are uniform on the simplex, as are the spacings of
    sorted uniform variables that Smith and Tromble (2004, "Sampling uniformly from the unit
    simplex"), which the paper cites, recommend; this needs no sorting.

    Parameters
    ----------
    n : int
        How many histograms.
    d : int
        How many bins each has.
    rng : numpy.random.Generator
        The random number generator.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> X = uniform_simplex(3, 10, np.random.default_rng(0))
    >>> X.shape, bool(np.allclose(X.sum(axis=1), 1))
    ((3, 10), True)
    """
    if n < 1 or d < 1:
        raise InputError(f"'n' and 'd' must be at least 1. Got {n} and {d} instead.")
    waits = rng.standard_exponential((n, d))
    return np.asarray(waits / waits.sum(axis=1, keepdims=True))


def random_metric(d: int, rng: np.random.Generator) -> Array:
    """Draw a ground metric: distances between Gaussian points, divided by their median.

    The points are spherical Gaussian in dimension ``d / 10`` (rounded down, at least 1), and the
    median is that of all entries, zeros on the diagonal included: ``M = M / median(M(:))``.

    Parameters
    ----------
    d : int
        How many bins, at least 2.
    rng : numpy.random.Generator
        The random number generator.

    Returns
    -------
    ndarray of shape (d, d)

    Examples
    --------
    >>> M = random_metric(40, np.random.default_rng(0))
    >>> M.shape, float(np.median(M))
    ((40, 40), 1.0)
    """
    if d < 2:
        raise InputError(f"'d' must be at least 2: one bin has no distances. Got {d} instead.")
    points = rng.standard_normal((d, max(1, d // 10)))
    costs = squareform(pdist(points))
    return np.asarray(costs / np.median(costs))
