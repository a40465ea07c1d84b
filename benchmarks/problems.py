"""The problems every contestant is given, and nothing about who solves them.

A pair is described by a small key (kind, number of bins, strength, seed) from which it is made
again anywhere, so that a peer can be tried out in a process of its own without shipping matrices.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sinkdist_paper.data import centred
from sinkdist_paper.mnist import training_set

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PairKey:
    """Names a pair: ``kind`` of ground, ``d`` bins, ``strength`` L = lam * median(M), ``seed``."""

    kind: str
    d: int
    strength: float
    seed: int = 0


@dataclass(frozen=True)
class Pair:
    """One transport problem: histograms ``r`` and ``c``, cost ``M`` of median 1, ``lam``."""

    key: PairKey
    r: Array
    c: Array
    M: Array

    @property
    def lam(self) -> float:
        """The paper's lambda; the median of M is 1, so it equals the strength L."""
        return self.key.strength

    @property
    def reg(self) -> float:
        """1 / lam, what the peers call their regularisation."""
        return 1.0 / self.key.strength


def simplex(n: int, d: int, seed: int) -> Array:
    """Return n histograms drawn uniformly on the simplex of d bins, as rows."""
    weights = np.random.default_rng(seed).exponential(size=(n, d))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _distances(points: Array) -> Array:
    """Euclidean distances between points, divided by their median."""
    from scipy.spatial.distance import cdist

    matrix = cdist(points, points)
    return np.asarray(matrix / np.median(matrix))


def random_points(d: int, seed: int = 0) -> Array:
    """Points of the paper's section 5.3: d of them, normal, in d / 10 dimensions."""
    return np.random.default_rng([seed, d]).normal(size=(d, max(d // 10, 2)))


@lru_cache(maxsize=2)
def ground(kind: str, d: int, seed: int = 0) -> Array:
    """Cost of median 1: ``random`` is the paper's section 5.3, ``grid`` a square of pixels."""
    if kind == "random":
        return _distances(random_points(d, seed))
    if kind == "grid":
        side = round(d**0.5)
        if side * side != d:
            raise ValueError(f"A square grid needs a square number of bins. Got d={d} instead.")
        rows, columns = np.divmod(np.arange(d), side)
        return _distances(np.stack([rows, columns], axis=1).astype(float))
    raise ValueError(f"The 'kind' of a ground must be 'random' or 'grid'. Got {kind!r} instead.")


def pair(key: PairKey) -> Pair:
    """Make the pair that ``key`` names."""
    r, c = simplex(2, key.d, key.seed + 1)
    return Pair(key, r, c, ground(key.kind, key.d, key.seed))


def digits(n: int | None = None) -> Array:
    """Return scikit-learn's bundled 8 x 8 digits as histograms, the first ``n`` of 1,797."""
    from sklearn.datasets import load_digits

    images = load_digits().data[:n]
    return np.asarray(images / images.sum(axis=1, keepdims=True))


def mnist_file() -> Path | None:
    """Return where MNIST's training images are, or None where SINKDIST_DATA does not hold them."""
    folder = os.environ.get("SINKDIST_DATA")
    path = Path(folder or ".") / "mnist" / "train-images-idx3-ubyte.gz"
    return path if folder and path.exists() else None


def mnist(n: int) -> Array | None:
    """Return the first ``n`` MNIST digits on 20 x 20 as histograms, or None without MNIST."""
    path = mnist_file()
    if path is None:
        return None
    images = np.stack([centred(image) for image in training_set()[0][:n]])
    flat = images.reshape(len(images), -1).astype(float)
    return np.asarray(flat / flat.sum(axis=1, keepdims=True))
