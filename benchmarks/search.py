"""Nearest neighbours: MNIST digits and R8 documents, solves counted, times against all pairs.

The family are the 60,000 training digits on 20 x 20 (Euclidean costs), queries are test digits;
and the 7,674 documents of R8 (GloVe vectors), of which every so many-th is a query. Brute force is
our own solver on a sample of pairs, timed before and after the search in the same run; POT's is a
loop over `ot.emd2`. Prefetch and prune is what gensim's users do: order by the distance of mean
vectors, then solve all whose relaxed bound is below the k-th best distance. `search_peers` has the
approximate ways, FAISS and, by a run of its own, pynndescent, and what they miss.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.problems import Array, mnist
from benchmarks.search_peers import compare_faiss
from benchmarks.table import Row, Section, markdown, seconds
from benchmarks.timing import CORES
from sinkdist.search.engine import TILE
from sinkdist_paper.data import centred

K = 10
QUERIES, SAMPLE, POT_PAIRS, PRUNED = 100, 2000, 20, 10
AT_LAM, OF_GRAPH = 20, 2000  # queries at a finite lam; rows of the graph that are searched
ASKED = 40  # queries of the sample of pairs
STRENGTH = 9.0  # lam times the median cost
RESULT = Path(__file__).parent / "results" / "search.md"
TITLE = f"The {K} nearest neighbours, per query"
BRUTE, POT, PRUNE = "all pairs, sinkdist", "all pairs, POT", "prefetch and prune, our solver"


@dataclass(frozen=True)
class Case:
    """A family, queries, a ground, a member, and what it must reach."""

    name: str
    rows: Any
    queries: Any
    ground: Any
    member: dict[str, float]
    solves: float | None
    target: float | None


def test_digits(n: int) -> Array:
    """The first test digits on 20 x 20."""
    path = Path(os.environ["SINKDIST_DATA"]) / "mnist" / "t10k-images-idx3-ubyte.gz"
    with gzip.open(path) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)[:n]
    flat = np.stack([centred(image) for image in images]).reshape(n, -1).astype(float)
    return np.asarray(flat / flat.sum(axis=1, keepdims=True))


def documents() -> tuple[Any, Array]:
    """R8 as counts of words, and the vectors of the words."""
    from scipy.sparse import csr_array

    file = Path(os.environ["SINKDIST_DATA"]) / "text" / "r8_bow_glove100.npz"
    with np.load(file) as held:
        counts = csr_array(
            (held["data"], held["indices"], held["indptr"]), shape=tuple(held["shape"])
        )
        vectors = held["embeddings"].astype(float)
    rows = csr_array(counts.astype(float))
    rows.data /= np.repeat(rows.sum(axis=1), np.diff(rows.indptr))
    return rows, vectors


def cases(quick: bool) -> list[Case]:
    """What is measured."""
    import sinkdist as sd

    count = 10 if quick else QUERIES
    digits, grid = mnist(60_000), sd.Ground.grid(20, 20)
    assert digits is not None
    queries = test_digits(count)
    rows, vectors = documents()
    words = sd.Ground.points(vectors)
    at_lam = {"lam": STRENGTH / grid.median}
    some = rows[np.linspace(0, rows.shape[0] - 1, count).astype(int)]
    return [
        Case("MNIST, exact", digits, queries, grid, {"lam": np.inf}, 60, 500),
        Case("MNIST, alpha = 1", digits, queries, grid, {"alpha": 1.0}, 45, 500),
        Case("MNIST, lam = 9 / median", digits, queries[:AT_LAM], grid, at_lam, 7200, 8),
        Case("R8, exact", rows, some, words, {"lam": np.inf}, 35, 100),
    ]


def per_pair(case: Case, size: int) -> float:
    """Seconds of one pair by our solver, one thread: some queries against a sample of the family.

    Queries from first to last, since long documents take many times as long as short ones.
    """
    import sinkdist as sd

    count = min(ASKED, case.queries.shape[0], 2 * size)
    queries = case.queries[np.linspace(0, case.queries.shape[0] - 1, count).astype(int)]
    at = np.random.default_rng(0).integers(case.rows.shape[0], size=2 * size // count)
    start = time.process_time()
    sd.pairwise(queries, case.rows[at], ground=case.ground, workers=1, **case.member)
    return (time.process_time() - start) / (count * at.size)


def pot_pair(case: Case) -> float | None:
    """Seconds of one pair in a loop over ot.emd2, zero bins left out by hand."""
    try:
        import ot
    except ModuleNotFoundError:
        return None
    M, total = np.asarray(case.ground.matrix), 0.0
    for k in range(POT_PAIRS):
        r, c = _dense(case.queries, 7 * k % case.queries.shape[0]), _dense(case.rows, 97 * k)
        on, to = np.flatnonzero(r), np.flatnonzero(c)
        start = time.process_time()
        ot.emd2(r[on], c[to], np.ascontiguousarray(M[np.ix_(on, to)]))
        total += time.process_time() - start
    return total / POT_PAIRS


def prune(case: Case, vectors: Array) -> tuple[float, float]:
    """Prefetch and prune: pairs solved for a query, and seconds without the solves."""
    import sinkdist as sd

    M = np.asarray(case.ground.matrix)
    means = np.asarray(case.rows @ vectors)
    solved, spent = [], 0.0
    for k in range(PRUNED):
        r = _dense(case.queries, k)
        on = np.flatnonzero(r)
        start = time.process_time()
        order = np.argsort(np.linalg.norm(means - r @ vectors, axis=1))
        relaxed = np.asarray(case.rows @ M[on].min(axis=0))
        spent += time.process_time() - start
        first = order[:K]
        row = case.queries[[k]]
        near = np.sort(sd.pairwise(row, case.rows[first], ground=case.ground, **case.member)[0])
        count = K
        for block in np.array_split(order[K:], 60):  # the k-th best shrinks as pairs are solved
            left = block[relaxed[block] < near[K - 1]]
            count += left.size
            if left.size:
                more = sd.pairwise(row, case.rows[left], ground=case.ground, **case.member)[0]
                near = np.sort(np.concatenate([near, more]))[:K]
        solved.append(count)
    return float(np.mean(solved)), spent / PRUNED


def warm_up(case: Case, index: Any) -> None:
    """Compile, or load, what a search uses: a tile of queries and one alone have kernels apart."""
    for count in (TILE, 1):
        index.query(case.queries[:count], K, workers=1)


def measure_case(case: Case, quick: bool) -> tuple[list[Row], list[str]]:
    """One case: the search between two looks at the speed of pairs."""
    import sinkdist as sd

    n = case.rows.shape[0]
    start = time.process_time()
    index = sd.Index(case.rows, case.ground, **case.member)
    built = time.process_time() - start
    warm_up(case, index)
    size = 50 if quick else SAMPLE
    per_pair(case, 4)
    before = per_pair(case, size)
    start = time.process_time()
    found = index.query(case.queries, K, workers=1)
    took = (time.process_time() - start) / len(found)
    pair = 0.5 * (before + per_pair(case, size))
    rows = [Row(case.name, BRUTE, took, n * pair, case.target)]
    pot = pot_pair(case) if case.member.get("lam") == np.inf else None
    if pot is not None:
        rows.append(Row(case.name, POT, took, n * pot))
    mean = float(found.solved.mean())
    wanted = "" if case.solves is None else f" (goal: at most {case.solves:g})"
    remarks = [
        f"{case.name}: {mean:.1f} pairs solved for a query{wanted}, {100 * mean / n:.2g} % of "
        f"{n:,}, at most {found.solved.max()}; by {' and '.join(found.bounds)}; {len(found)} "
        f"queries, all proven: {bool(found.proven.all())}. One pair: {seconds(pair)}. The index "
        f"was made in {seconds(built)}."
    ]
    if case.member.get("lam") == np.inf:
        alone, solves = floor(case, index)
        remarks.append(
            f"{case.name}: {seconds(took)} for a query in tiles of 16, {seconds(alone)} for one "
            f"alone; {seconds(solves)} of it are solves."
        )
    if case.name.startswith("R8"):
        count, spent = prune(case, documents()[1])
        rows.append(Row(case.name, PRUNE, took, count * pair + spent))
        remarks.append(f"R8, prefetch and prune: {count:.0f} pairs solved for a query.")
        features, asked = (np.asarray(x @ documents()[1]) for x in (case.rows, case.queries))
        remarks += compare_faiss("R8", found.indices, features, asked, K)
    if case.name == "MNIST, exact":
        at = np.indices((20, 20)).reshape(2, -1).T
        remarks += compare_faiss("MNIST", found.indices, case.rows @ at, case.queries @ at, K)
        remarks.append(graph(index, case, pair, 20 if quick else OF_GRAPH))
    return rows, remarks


def graph(index: Any, case: Case, pair: float, count: int) -> str:
    """What the graph of the family would take: some of its rows, evenly spread, are searched.

    Each finds itself first, at distance 0, and is asked for one neighbour more.
    """
    n = case.rows.shape[0]
    rows = case.rows[np.linspace(0, n - 1, count).astype(int)]
    start = time.process_time()
    found = index.query(rows, K + 1, workers=1)
    took = (time.process_time() - start) / count
    return (
        f"The exact {K}-nearest-neighbour graph of all {n:,} digits, projected from {count:,} of "
        f"them ({found.solved.mean():.1f} pairs and {seconds(took)} for each, one thread): "
        f"{took * n / CORES / 3600:.2f} h on {CORES} cores; {n * n * pair / CORES / 86400:.1f} "
        f"days by all pairs. All proven: {bool(found.proven.all())}."
    )


def floor(case: Case, index: Any) -> tuple[float, float]:
    """Seconds for a query asked alone, and of its solves, below which nothing can go."""
    from sinkdist.solvers.members import exact

    spent, honest = 0.0, exact.transport

    def timed(*pair: Any, **options: Any) -> Any:
        nonlocal spent
        start = time.thread_time()
        found = honest(*pair, **options)
        spent += time.thread_time() - start
        return found

    warm_up(case, index)
    exact.transport = timed
    try:
        start, count = time.process_time(), case.queries.shape[0]
        for k in range(count):
            index.query(case.queries[[k]], K, workers=1)
        return (time.process_time() - start) / count, spent / count
    finally:
        exact.transport = honest


def measure(quick: bool = False) -> Section:
    """All cases (``quick``: ten queries)."""
    if not os.environ.get("SINKDIST_DATA"):
        return Section("search", TITLE, (), ("Skipped: SINKDIST_DATA names no folder.",))
    rows: list[Row] = []
    remarks = [
        f"One thread, processor time for each query; all pairs from a sample of {2 * SAMPLE:,}."
    ]
    for case in cases(quick):
        more, said = measure_case(case, quick)
        rows += more
        remarks += said
        print(*said, sep="\n", flush=True)
    return Section("search", TITLE, tuple(rows), tuple(remarks))


def _dense(rows: Any, k: int) -> Array:
    """One row, dense."""
    return np.asarray(rows[k] if isinstance(rows, np.ndarray) else rows[[k]].toarray()[0])


def main() -> None:
    """Measure, print, and write the result of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ten queries; not written")
    quick = parser.parse_args().quick
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    packages = ", ".join(
        f"{name} {machine.version(name)}" for name in ("numpy", "numba", "POT", "faiss-cpu")
    )
    where = f"{date}, commit {machine.commit()}, {machine.processor()}, {CORES} cores"
    text = f"# Nearest neighbours\n\n{where}. {packages}.\n\n" + markdown(measure(quick))
    print(text)
    if not quick:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
