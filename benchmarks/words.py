"""Documents with costs between words computed on demand, against a stored matrix.

``SINKDIST_DATA=... python -m benchmarks.words [--write]``: Reuters R8 on its 7,101 GloVe vectors,
once with the matrix of all costs and once without, in turn; and documents over a vocabulary of
400,000 words with 300 float32 coordinates each, in a process of its own, whose memory is stated.
One thread. Values of both ways have to agree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.ground import costs

RESULTS = Path(__file__).parent / "results"
VOCABULARY, DIMENSION, WORDS = 400_000, 300, 60


def reuters(count):
    """The first documents as CSR histograms, and the vectors of the words."""
    stored = np.load(
        Path(os.environ["SINKDIST_DATA"]) / "text" / "r8_bow_glove100.npz", allow_pickle=True
    )
    X = csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"])
    X = X[:count].astype(np.float64)
    vectors = next(
        stored[name] for name in stored.files if np.ndim(stored[name]) == 2
        and stored[name].shape[0] == X.shape[1]
    )  # fmt: skip
    return X, np.ascontiguousarray(vectors)


def grounds(vectors):
    """The same costs with a matrix and without."""
    dense = sd.Ground.points(vectors)
    limit, costs.DENSE_UP_TO = costs.DENSE_UP_TO, 0
    try:
        lazy = sd.Ground.points(vectors)
    finally:
        costs.DENSE_UP_TO = limit
    assert dense.is_dense and not lazy.is_dense
    unit = dense.median
    return dense.scaled(unit), lazy.scaled(unit)


def compare(count, turns):
    """Lines of a table: both ways in turn."""
    X, vectors = reuters(count)
    dense, lazy = grounds(vectors)
    lines = []
    for name, options in (("d^lam, L = 10", {"lam": 10.0}), ("exact", {"lam": np.inf})):
        least, values = [np.inf, np.inf], [None, None]
        for _ in range(turns + 1):  # the first turn compiles
            for k, ground in enumerate((dense, lazy)):
                start = time.perf_counter()
                values[k] = sd.pairwise(X, ground=ground, normalize=True, workers=1, **options)
                took = time.perf_counter() - start
                least[k] = min(least[k], took) if _ else least[k]
        np.testing.assert_allclose(values[1], values[0], rtol=1e-4, atol=1e-6)
        each = [1e6 * x / (count * (count + 1) / 2) for x in least]
        lines.append(
            f"| R8, {count} documents, {name} | {each[0]:.1f} us | {each[1]:.1f} us | "
            f"{each[1] / each[0]:.2f}x |"
        )
        print(lines[-1], flush=True)
    return lines


def large():
    """Seconds per pair and bytes of the process with a large vocabulary; prints them."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((VOCABULARY, DIMENSION), dtype=np.float32)
    count = 200
    words = (VOCABULARY * rng.random((count, WORDS)) ** 3).astype(np.int64).ravel()  # some often
    X = csr_array(
        (np.ones(words.size), words, np.arange(0, words.size + 1, WORDS)), shape=(count, VOCABULARY)
    )
    ground = sd.Ground.points(vectors)
    sd.pairwise(X[:20], ground=ground, lam=np.inf, normalize=True, workers=1)
    start = time.perf_counter()
    sd.pairwise(X, ground=ground, lam=np.inf, normalize=True, workers=1)
    took = (time.perf_counter() - start) / (count * (count + 1) / 2)
    status = Path("/proc/self/status").read_text()  # ru_maxrss would count the parent's memory
    print(took, 1024 * int(status.split("VmHWM:")[1].split()[0]))


def main():
    parser = argparse.ArgumentParser(description="Costs between words on demand.")
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="write results/words.md")
    parser.add_argument("--large", action="store_true", help="internal")
    asked = parser.parse_args()
    if asked.large:
        large()
        return
    lines = [
        "# Words", "",
        f"`python -m benchmarks.words`, {time.strftime('%Y-%m-%d')}; one thread, times a pair.",
        "", "| | stored matrix | on demand | ratio |", "|---|---|---|---|",
    ]  # fmt: skip
    lines += compare(asked.documents, 2)
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.words", "--large"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    took, held = map(float, found.stdout.split())
    lines += [
        "",
        f"A vocabulary of {VOCABULARY:,} x {DIMENSION} in float32, {WORDS} words a text, exact: "
        f"{1e6 * took:.0f} us a pair; the process held {held / 1e9:.2f} GB at most.",
    ]
    print(lines[-1])
    if asked.write:
        (RESULTS / "words.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
