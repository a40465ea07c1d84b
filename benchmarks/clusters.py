"""Clusters of MNIST digits and topics of R8 by transport, beside k-means on the raw numbers.

``SINKDIST_DATA=... python -m benchmarks.clusters [digits] [topics] [--side 28] [--write]``:
purity is the share of rows whose label is the most common one of their cluster. Each method runs
once, with the same seed; k-means on pixels, which takes no time, also as the best of ten.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

import sinkdist as sd
from sinkdist.learn import TransportKMeans, TransportKMedoids

RESULTS = Path(__file__).parent / "results" / "clusters.md"
DATA = Path(os.environ.get("SINKDIST_DATA", ""))


def purity(labels, truth):
    """The share of rows whose label is the most common one of their cluster."""
    truth = np.unique(truth, return_inverse=True)[1]
    return sum(np.bincount(truth[labels == k]).max() for k in np.unique(labels)) / len(truth)


def digits(side, count):
    """The first digits of MNIST as histograms, pooled to ``side`` x ``side``, and their labels."""
    with gzip.open(DATA / "mnist" / "train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(16 + count * 784), np.uint8, offset=16).astype(np.float64)
    with gzip.open(DATA / "mnist" / "train-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(8 + count), np.uint8, offset=8)
    k = 28 // side
    X = X.reshape(count, side, k, side, k).sum(axis=(2, 4)).reshape(count, -1)
    return X / X.sum(axis=1, keepdims=True), y


def timed(name, call, truth):
    """A line of the table: what a method found, and how long it took."""
    start = time.perf_counter()
    labels = call()
    took = time.perf_counter() - start
    line = f"| {name} | {purity(labels, truth):.3f} | {took:.1f} s |"
    print(line, flush=True)
    return line


def of_digits(side, count):
    """Ten clusters of digits."""
    X, y = digits(side, count)
    ground = sd.Ground.grid(side, side)
    lam = 20 / ground.median
    found = {
        "k-means on pixels": lambda: KMeans(10, n_init=1, random_state=0).fit(X).labels_,
        "k-means on pixels, the best of 10": lambda: (
            KMeans(10, n_init=10, random_state=0).fit(X).labels_
        ),
        "TransportKMeans, L = 20": lambda: (
            TransportKMeans(10, ground, lam=lam, random_state=0, max_rounds=12).fit(X).labels_
        ),
        "TransportKMedoids, L = 20": lambda: (
            TransportKMedoids(10, ground, lam=lam, random_state=0).fit(X).labels_
        ),
    }
    head = f"{count:,} digits of MNIST, {side} x {side} pixels, 10 clusters."
    table = ["| method | purity | time |", "|---|---|---|"]
    return [head, "", *table, *(timed(name, call, y) for name, call in found.items())]


def of_topics(count):
    """Eight topics of R8: documents as clouds of words, exact distances between them."""
    stored = np.load(DATA / "text" / "r8_bow_glove100.npz", allow_pickle=False)
    counts = csr_array(
        (stored["data"].astype(np.float64), stored["indices"], stored["indptr"]),
        shape=tuple(stored["shape"]),
    )
    some = np.random.default_rng(0).choice(counts.shape[0], count, replace=False)
    X, y = counts[some], stored["labels"][some]
    X = X.multiply(1.0 / X.sum(axis=1)[:, None]).tocsr()
    ground = sd.Ground.points(stored["embeddings"])
    model = TransportKMedoids(8, ground, lam=np.inf, random_state=0)
    unit = X.toarray() / np.sqrt(X.multiply(X).sum(axis=1))[:, None]
    table = [
        "| method | purity | time |",
        "|---|---|---|",
        timed("k-means on words", lambda: KMeans(8, n_init=1, random_state=0).fit(unit).labels_, y),
        timed("TransportKMedoids, exact", lambda: model.fit(X).labels_, y),
    ]
    words = [f"Reuters R8, {count:,} documents, 8 clusters.", "", *table, ""]
    words += ["Words of the medoids that transport found:", ""]
    for place in model.medoid_indices_:
        row = X[[place]]
        top = row.indices[np.argsort(-row.data, kind="stable")[:8]]
        share = np.mean(model.labels_ == model.labels_[place])
        words.append(f"- {share:.0%}: " + ", ".join(str(stored["words"][j]) for j in top))
    print("\n".join(words[-9:]), flush=True)
    return words


def write(name, lines):
    """Put a part into the file of results, which keeps the others."""
    old = RESULTS.read_text("utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    parts = dict(part.split("\n", 1) for part in old) | {name: "\n" + "\n".join(lines) + "\n"}
    head = (
        f"# Clusters\n\n`python -m benchmarks.clusters --write`, sinkdist {sd.__version__}, two "
        "threads. Other programs ran meanwhile: times are rough.\n"
    )
    body = "".join(f"\n## {name}\n{text.rstrip()}\n" for name, text in sorted(parts.items()))
    RESULTS.write_text(head + body, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Clusters of digits, and topics of R8.")
    parser.add_argument("parts", nargs="*", default=["digits", "topics"])
    parser.add_argument("--side", type=int, default=28, choices=(28, 14))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write results/clusters.md")
    asked = parser.parse_args()
    for name in asked.parts:
        lines = of_digits(asked.side, asked.count) if name == "digits" else of_topics(asked.count)
        if asked.write:
            write(name, lines)


if __name__ == "__main__":
    main()
