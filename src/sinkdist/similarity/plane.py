"""Places in the plane for a family whose distances are known: for pictures and maps.

``mds`` keeps distances: classical scaling (the two largest eigenvectors of the doubly centred
squares), then sweeps of Guttman's transform, each of which lowers the stress. ``tsne`` keeps
neighbours and is scikit-learn's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, needs_extra

__all__ = ["METHODS", "mds", "plane", "tsne"]

Array = npt.NDArray[Any]

METHODS = ("mds", "tsne")
_SWEEPS = 200
_STILL = 1e-5  #: relative fall of the stress at which sweeps end
_PERPLEXITY = 30.0


def plane(distances: Any, method: str = "mds", *, seed: int = 0) -> Array:
    """Places in the plane, by the method of a name.

    Parameters
    ----------
    distances : array_like, shape (n, n)
        Finite and non-negative; the mean with the transpose is taken.
    method : {"mds", "tsne"}
        Keep distances, or keep neighbours.
    seed : int
        Of t-SNE.

    Returns
    -------
    ndarray, shape (n, 2)

    Examples
    --------
    >>> places = plane([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> round(float(np.hypot(*(places[1] - places[2]))), 6)
    5.0
    """
    if method not in METHODS:
        names = " or ".join(map(repr, METHODS))
        raise InputError(f"The 'method' option must be {names}. Got {method!r} instead.")
    D = np.asarray(distances, dtype=float)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise InputError(f"Distances must be a square matrix. Got shape {D.shape} instead.")
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    if not (D >= 0.0).all() or not np.isfinite(D).all():
        raise InputError(
            "Distances must be finite and non-negative to give places in a plane. "
            "Leave out the rows that are NaN: histograms without mass have no distances."
        )
    return mds(D) if method == "mds" else tsne(D, seed)


def mds(D: Array) -> Array:
    """Places whose distances are near those given, by the sum of squared differences."""
    n = len(D)
    if n < 3:
        return np.stack([np.arange(n) * (D[0, -1] if n else 0.0), np.zeros(n)], axis=1)
    places = _classical(D)
    stress = float(np.square(D).sum()) * n  # above that of any start
    for _ in range(_SWEEPS):
        seen = _between(places)
        before, stress = stress, float(np.square(seen - D).sum())
        if before - stress <= _STILL * before:
            break
        ratio = np.divide(D, seen, out=np.zeros_like(D), where=seen > 0.0)
        places = (ratio.sum(axis=1)[:, None] * places - ratio @ places) / n
    return places


def tsne(D: Array, seed: int) -> Array:
    """Places that keep neighbours together, by scikit-learn; of a few points, those of `mds`."""
    if len(D) < 5:
        return mds(D)
    with needs_extra("learn", "A map by t-SNE"):
        from sklearn.manifold import TSNE
    perplexity = min(_PERPLEXITY, (len(D) - 1) / 3)
    model = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=seed)
    return np.asarray(model.fit_transform(D), dtype=float)


def _classical(D: Array) -> Array:
    """Classical scaling: two eigenvectors of the doubly centred squares, with fixed signs."""
    from scipy.linalg import eigh

    squares = D * D
    mean = squares.mean(axis=0)
    B = -0.5 * (squares - mean - mean[:, None] + mean.mean())
    n = len(D)
    values, vectors = eigh(B, subset_by_index=(n - 2, n - 1))
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    top = places[np.argmax(np.abs(places), axis=0), [0, 1]]
    return np.asarray(places * np.where(top < 0.0, -1.0, 1.0))


def _between(places: Array) -> Array:
    """Euclidean distances between places."""
    squares = np.square(places).sum(axis=1)
    gram = squares[:, None] + squares - 2.0 * places @ places.T
    return np.asarray(np.sqrt(np.maximum(gram, 0.0)))
