"""What users would do instead of an exact search: approximate neighbours, and how many they find.

pynndescent builds a graph under its own network simplex (``kantorovich``); its distances take so
long that the family are scikit-learn's digits of 8 x 8 pixels, and that it has a run of its own,
``python -m benchmarks.search_peers``. FAISS searches mean vectors (of words, or of pixels), a
few numbers for a histogram, exactly and at once; recall is what is left of the neighbours.
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.problems import Array
from benchmarks.table import seconds

__all__ = ["compare_faiss", "compare_pynndescent", "recall"]

QUERIES, K = 50, 10
COMPILES = 100  #: rows of a first index, outside the clock, so that compiling is not counted
RESULT = Path(__file__).parent / "results" / "search_peers.md"


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
    """An index under the exact distance between histograms."""
    from pynndescent import NNDescent

    def build(some: Array, tasks: int) -> Any:
        index = NNDescent(
            some, metric="kantorovich", metric_kwds={"cost": M}, n_neighbors=15, random_state=0,
            n_jobs=tasks,
        )  # fmt: skip
        index.prepare()
        return index

    build(rows[:COMPILES], 1).query(queries[:1], k=k)
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


def compare_pynndescent(count: int) -> str:
    """A sentence on pynndescent beside our search on the same digits."""
    from sklearn.datasets import load_digits

    import sinkdist as sd

    X = load_digits().data
    X, ground = X / X.sum(axis=1, keepdims=True), sd.Ground.grid(8, 8)
    rows, queries = X[: min(count, len(X) - QUERIES)], X[-QUERIES:]
    D = sd.pairwise(queries, rows, ground=ground, lam=np.inf)
    limit = np.sort(D, axis=1)[:, K - 1]
    sd.Index(rows, ground, lam=np.inf).query(queries[:1], K, workers=1)  # compiles
    start = time.process_time()
    index = sd.Index(rows, ground, lam=np.inf)
    built = time.process_time() - start
    start = time.process_time()
    ours = index.query(queries, K, workers=1)
    took = (time.process_time() - start) / len(queries)
    assert recall(ours.indices, D, limit) == 1.0
    theirs = by_pynndescent(rows, queries, np.asarray(ground.matrix), K)
    found = recall(theirs.indices, D, limit)
    return (
        f"pynndescent (kantorovich) on {len(rows):,} digits of 8 x 8: {found:.0%} of the {K} "
        f"nearest, index in {seconds(theirs.build)}, {seconds(theirs.query)} for a query; sinkdist "
        f"on the same: all of them, proven, index in {seconds(built)}, {seconds(took)} for a query."
    )


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


def main() -> None:
    """The run of its own: pynndescent."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_peers", description=__doc__)
    parser.add_argument(
        "--rows",
        type=int,
        default=1000,
        help="digits that are searched; with 1,000 it takes two minutes",
    )
    said = compare_pynndescent(parser.parse_args().rows)
    versions = ", ".join(f"{x} {machine.version(x)}" for x in ("numpy", "numba", "pynndescent"))
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    where = f"{date}, commit {machine.commit()}, {machine.processor()}. {versions}."
    text = f"# Approximate neighbours\n\n{where} Processor time of one thread.\n\n- {said}\n"
    print(text)
    RESULT.write_text(text)


if __name__ == "__main__":
    main()
