"""What users would do instead of an exact search: approximate neighbours, and how many they find.

pynndescent builds a graph under its own network simplex (``kantorovich``); its distances take so
long that the family is a part of MNIST. FAISS searches mean vectors (of words, or of pixels), a
few numbers for a histogram, exactly and at once; recall is what is left of the neighbours.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.problems import Array
from benchmarks.table import seconds

__all__ = ["compare_faiss", "compare_pynndescent", "recall"]

FAMILY = 1000  #: digits that pynndescent is given
QUERIES = 20


@dataclass(frozen=True)
class Found:
    """Neighbours by another way: built in, per query, and which."""

    build: float
    query: float
    indices: Array


def recall(found: Array, D: Array, limit: Array) -> float:
    """The share of neighbours that are as near as the k-th nearest, whichever they are."""
    near = np.take_along_axis(D, found, 1) <= limit[:, None] * (1.0 + 1e-9)
    return float(near.mean())


def by_pynndescent(rows: Array, queries: Array, M: Array, k: int) -> Found:
    """An index under the exact distance between histograms; a second of its time is compiling."""
    from pynndescent import NNDescent

    def build(some: Array, tasks: int) -> Any:
        index = NNDescent(
            some, metric="kantorovich", metric_kwds={"cost": M}, n_neighbors=15, random_state=0,
            n_jobs=tasks,
        )  # fmt: skip
        index.prepare()
        return index

    build(rows[:40], 1).query(queries[:1], k=k)  # compiles
    start = time.process_time()
    index = build(rows, 1)
    built = time.process_time() - start
    start = time.process_time()
    indices, _ = index.query(queries, k=k)
    return Found(built, (time.process_time() - start) / len(queries), indices)


def by_faiss(features: Array, queries: Array, k: int) -> Found:
    """All distances between mean vectors, by FAISS."""
    import faiss

    faiss.omp_set_num_threads(1)
    start = time.process_time()
    index = faiss.IndexFlatL2(features.shape[1])
    index.add(np.ascontiguousarray(features, np.float32))
    built = time.process_time() - start
    asked = np.ascontiguousarray(queries, np.float32)
    start = time.process_time()
    _, indices = index.search(asked, k)
    return Found(built, (time.process_time() - start) / len(asked), indices)


def compare_pynndescent(rows: Array, queries: Array, ground: Any, k: int) -> list[str]:
    """A sentence on pynndescent beside our search on the same rows."""
    import sinkdist as sd

    rows, queries = rows[:FAMILY], queries[:QUERIES]
    D = sd.pairwise(queries, rows, ground=ground, lam=np.inf)
    limit = np.sort(D, axis=1)[:, k - 1]
    start = time.process_time()
    index = sd.Index(rows, ground, lam=np.inf)
    built = time.process_time() - start
    start = time.process_time()
    ours = index.query(queries, k, workers=1)
    took = (time.process_time() - start) / len(queries)
    assert recall(ours.indices, D, limit) == 1.0
    try:
        theirs = by_pynndescent(rows, queries, np.asarray(ground.matrix), k)
    except ModuleNotFoundError:
        return ["Not installed here, so not compared: pynndescent."]
    found = recall(theirs.indices, D, limit)
    return [
        f"pynndescent (kantorovich) on {len(rows):,} digits: {found:.0%} of the {k} nearest, index "
        f"in {seconds(theirs.build)}, {seconds(theirs.query)} for a query; sinkdist on the same: "
        f"all, index in {seconds(built)}, {seconds(took)} for a query."
    ]


def compare_faiss(name: str, exact: Array, features: Array, queries: Array, k: int) -> list[str]:
    """A sentence on FAISS; ``exact`` are the nearest rows of each query."""
    try:
        theirs = by_faiss(features, queries, k)
    except ModuleNotFoundError:
        return ["Not installed here, so not compared: FAISS."]
    hits = [np.isin(a, b).mean() for a, b in zip(theirs.indices, exact, strict=True)]
    return [
        f"FAISS on {features.shape[1]} mean coordinates, {name}: {np.mean(hits):.0%} of the {k} "
        f"nearest, {seconds(theirs.query)} for a query."
    ]
