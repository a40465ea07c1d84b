"""Pairs whose exact distance is compared: digits, documents, random metrics, DOTmark images.

A ground is described by an expression and the data it needs, so that an earlier state of the
package, in a process of its own, can make the same one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import Array, mnist, random_points, simplex


@dataclass(frozen=True)
class Case:
    """Pairs ``R[k], C[k]`` under one ground, and what a ratio has to reach.

    Attributes
    ----------
    ground
        An expression in ``sd`` and ``data`` that makes the ground.
    family
        All of whose pairs are computed by ``pairwise``; then ``R, C`` are a sample of them. None
        where ``R, C`` are all there is.
    targets
        By opponent.
    peers
        Opponents beside POT and the earlier state, with the number of pairs each is given.
    """

    name: str
    ground: str
    data: Any
    R: Any
    C: Any
    family: Any
    targets: dict[str, float]
    peers: dict[str, int]

    @property
    def pairs(self) -> int:
        """How many pairs the time of a batch is divided by."""
        n = self.R.shape[0] if self.family is None else self.family.shape[0]
        return n if self.family is None else n * (n - 1) // 2


def cases(quick: bool) -> Iterator[Case]:
    """All cases for which the data is there, one after the other."""
    yield from _digits(60 if quick else 200)
    yield from _documents(100 if quick else 300)
    yield _random(64, 100 if quick else 500, 16.0, 12.0, {"OpenCV": 20, "pyemd": 5, BATCH: 4})
    yield _random(256, 20 if quick else 60, 28.0, 10.0, {"OpenCV": 4, "pyemd": 1})
    yield _random(1024, 2 if quick else 6, 40.0, 10.0, {})
    yield from _images(32, "one pair of each class", 15.0, 15.0, 2 if quick else 10)
    if not quick:
        yield from _images(64, "one pair", 4.0, 3.0, 1)


BATCH = "POT's solve_batch"
LOOP, TRIMMED, EARLIER = "loop over ot.emd2", "POT, trimmed by hand", "lam=inf by POT"
THREADS = "two threads over one"


def _targets(loop: float, earlier: float, threads: float | None = 1.7) -> dict[str, float]:
    return {LOOP: loop, EARLIER: earlier} | ({THREADS: threads} if threads else {})


def _sample(n: int, count: int) -> tuple[Array, Array]:
    """Pairs of a family, evenly spread."""
    first, second = np.triu_indices(n, 1)
    step = max(1, len(first) // count)
    return first[::step], second[::step]


def _digits(n: int) -> Iterator[Case]:
    X = mnist(n)
    if X is None:
        return
    i, j = _sample(n, 200)
    yield Case(
        f"MNIST 20 x 20, all pairs of {n}", "sd.Ground.grid(20, 20).scaled()", None, X[i], X[j], X,
        _targets(12.0, 8.0), {"OpenCV": 10, "pyemd": 3, BATCH: 1},
    )  # fmt: skip


def folder() -> Path | None:
    """Where the data is, if it is there."""
    named = os.environ.get("SINKDIST_DATA")
    return Path(named) if named else None


def _documents(n: int) -> Iterator[Case]:
    """Documents of Reuters R8 over the words that occur in them."""
    from scipy.sparse import csr_array

    path = (folder() or Path()) / "text" / "r8_bow_glove100.npz"
    if folder() is None or not path.exists():
        return
    with np.load(path, allow_pickle=True) as stored:
        counts = csr_array(
            (stored["data"].astype(float), stored["indices"], stored["indptr"]),
            shape=tuple(stored["shape"]),
        )[:n]
        vectors = stored["embeddings"].astype(float)
    words = np.unique(counts.indices)
    X = csr_array(counts[:, words])
    X = csr_array(X.multiply(1.0 / X.sum(axis=1)[:, None]))
    X.sort_indices()
    i, j = _sample(n, 400)
    targets = _targets(80.0, 12.0) | {TRIMMED: 10.0}
    yield Case(
        f"R8 documents, {len(words)} words, all pairs of {n}", "sd.Ground.points(data).scaled()",
        vectors[words], X[i], X[j], X, targets, {TRIMMED: 400, "OpenCV": 50, "pyemd": 50},
    )  # fmt: skip


def _random(d: int, n: int, loop: float, earlier: float, peers: dict[str, int]) -> Case:
    """The paper's random metrics."""
    H = simplex(2 * n, d, 1)
    return Case(
        f"random metric, d = {d}, {n} pairs", "sd.Ground.points(data).scaled()", random_points(d),
        H[:n], H[n:], None, _targets(loop, earlier), peers,
    )  # fmt: skip


def _images(side: int, which: str, loop: float, earlier: float, count: int) -> Iterator[Case]:
    """The first two images of some classes of DOTmark."""
    path = (folder() or Path()) / "dotmark" / f"dotmark{side}.npz"
    if folder() is None or not path.exists():
        return
    with np.load(path) as stored:
        images = np.stack([stored[name][:2] for name in stored.files[:count]]).astype(float)
    images = images.reshape(len(images), 2, side * side)
    images /= images.sum(axis=2, keepdims=True)
    threads = 1.7 if count > 1 else None
    yield Case(
        f"DOTmark {side} x {side}, sqeuclidean, {which}",
        f"sd.Ground.grid({side}, {side}, metric='sqeuclidean').scaled()", None,
        images[:, 0], images[:, 1], None, _targets(loop, earlier, threads), {},
    )  # fmt: skip
