"""All pairs at scale: stored against in memory, a cluster against threads, memory, linear growth.

MNIST digits on 20 x 20, 20 iterations, float32. Of the 25,000 digits a sample of tiles is computed,
from the first to the last; the time of the whole matrix is projected from it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import resource
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.problems import Array, ground, mnist
from benchmarks.table import Row, Section, markdown, seconds
from benchmarks.timing import CORES

ITERATIONS, LAM, DTYPE = 20, 9.0, "float32"
DIGITS = 25_000
BUDGETS = {"1 GB": 10**9, "4 GB": 4 * 10**9}
STORED, CLUSTER, STEADY, START = 0.9, 0.8, 0.9, 2.0
TURNS = 3
RESULT = Path(__file__).parent / "results" / "scale.md"
TITLE = f"All pairs at scale: MNIST digits, 20 x 20, {ITERATIONS} iterations, {DTYPE}"


def digits(n: int) -> Array | None:
    """The first n digits as histograms."""
    found = mnist(n)
    if found is None:
        return None
    X = found.astype(DTYPE)
    return np.asarray(X / X.sum(axis=1, keepdims=True), dtype=DTYPE)


def call(X: Array, **options: Any) -> Any:
    """All pairs, timed; the seconds."""
    import sinkdist as sd

    cost = sd.Ground(ground("grid", X.shape[1]))
    gc.collect()
    start = time.perf_counter()
    sd.pairwise(X, ground=cost, lam=LAM, iterations=ITERATIONS, **options)
    return time.perf_counter() - start


def stored(X: Array, folder: Path, **options: Any) -> float:
    """The same into a new store."""
    shutil.rmtree(folder / "D.zarr", ignore_errors=True)
    return float(call(X, out=folder / "D.zarr", **options))


def sample_of_tiles(budget: int, n: int, samples: int, each: int) -> dict[str, Any]:
    """In a process of its own: some tiles from the first to the last, in turn, within a budget.

    Returns the best pairs per second of each sample, the number of tiles and the peak of memory.
    """
    import sinkdist as sd
    from sinkdist.pairs.all_pairs import AllPairs
    from sinkdist.pairs.job import job_of
    from sinkdist.pairs.reading import problem_of, read_families
    from sinkdist.problem.options import Options
    from sinkdist.scale.job import check_budget, plan
    from sinkdist.scale.progress import counting
    from sinkdist.scale.run import compute_tiles
    from sinkdist.scale.store import open_or_create

    X, cost = digits(n), sd.Ground(ground("grid", 400))
    asked = problem_of(cost, Options(lam=LAM, iterations=ITERATIONS), np.dtype(DTYPE))
    A, B = read_families(X, X, ("X", "X"), asked)
    job = job_of(AllPairs(asked, A, B, one_family=True, need_error=True), stored=True)
    tiling = plan(job, budget, CORES)
    check_budget(job, tiling, budget, CORES)
    about = {"facts": job.facts, "versions": [], "statuses": {}, "short": []}
    tiles = list(tiling)
    starts = np.linspace(0, len(tiles) - each, samples).astype(int)
    rates = [0.0] * samples
    with (
        tempfile.TemporaryDirectory() as folder,
        open_or_create(f"{folder}/D.zarr", about, tiling, job.dtype, overwrite=False) as store,
        counting(False, tiling.total_pairs, job.short) as counter,
    ):
        compute_tiles(job, tiles[:1], store, counter, CORES, None)  # compiles, builds the kernel
        for turn in range(samples * TURNS):
            k = turn % samples
            chosen = tiles[starts[k] : starts[k] + each]
            began = time.perf_counter()
            compute_tiles(job, chosen, store, counter, CORES, None)
            rate = sum(map(tiling.pairs, chosen)) / (time.perf_counter() - began)
            rates[k] = max(rates[k], rate)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "rates": rates,
        "tiles": len(tiles),
        "side": tiling.side,
        "pairs": tiling.total_pairs,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
    }


def alone(function: Any, *arguments: Any) -> Any:
    """The result of a function in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def stored_and_clustered(X: Array, turns: int, folder: Path) -> list[Row]:
    """In memory, stored, and on two processes, in turn; the best of each."""
    best = {"in memory": np.inf, "stored": np.inf, "dask": np.inf}
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        Client = None
    call(X[:300])
    for _ in range(turns):
        best["in memory"] = min(best["in memory"], call(X))
        best["stored"] = min(best["stored"], stored(X, folder))
        if Client is not None:
            with (
                LocalCluster(
                    n_workers=CORES,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                ) as cluster,
                Client(cluster) as client,
            ):
                call(X[:300], client=client)  # workers import and compile
                best["dask"] = min(best["dask"], stored(X, folder, client=client))
    case = f"{len(X)} digits, {len(X) * (len(X) + 1) // 2} pairs"
    rows = [Row(f"{case}, stored", "in memory", best["stored"], best["in memory"], STORED)]
    if Client is not None:
        name = f"{case}, stored by {CORES} Dask processes"
        rows.append(Row(name, f"stored by {CORES} threads", best["dask"], best["stored"], CLUSTER))
    return rows


def growth(quick: bool, folder: Path) -> str:
    """Time against pairs, from 10^4 to 10^7 (``quick``: 10^6), stored."""
    sizes = [141, 447, 1414] + ([] if quick else [4472])
    pairs = np.array([n * (n + 1) // 2 for n in sizes])
    X = digits(sizes[-1])
    assert X is not None
    took = []
    for n in sizes:
        turns = 3 if n < 1000 else 1
        took.append(min(stored(X[:n], folder) for _ in range(turns)))
    exponent = float(np.polyfit(np.log(pairs), np.log(took), 1)[0])
    rates = ", ".join(
        f"{p:,} pairs in {seconds(t)} ({p / t:,.0f}/s)" for p, t in zip(pairs, took, strict=True)
    )
    return f"Time grows like pairs^{exponent:.3f}: {rates}."


def resume_start(folder: Path, side: int = 100) -> tuple[Row, str]:
    """The same call on a store of 10^4 tiles of which one is missing."""
    import sinkdist as sd
    from sinkdist.pairs.all_pairs import AllPairs
    from sinkdist.pairs.job import job_of
    from sinkdist.pairs.reading import problem_of, read_families
    from sinkdist.problem.options import Options
    from sinkdist.scale.store import open_or_create
    from sinkdist.scale.tiles import Tiling

    n, tile = 16 * side, 16
    rng = np.random.default_rng(0)
    X, Y, cost = rng.dirichlet(np.ones(4), n), rng.dirichlet(np.ones(4), n), sd.Ground.grid(2, 2)
    asked = problem_of(cost, Options(lam=LAM), np.dtype(float))
    A, B = read_families(X, Y, ("X", "Y"), asked)
    job = job_of(AllPairs(asked, A, B, one_family=False, need_error=True), stored=True)
    about = {
        "facts": job.facts,
        "versions": [sd.__version__],
        "statuses": {str(code): name for code, name in job.statuses.items()},
        "short": list(job.short),
    }
    tiling = Tiling(job.shape, tile, False)
    with open_or_create(folder / "R.zarr", about, tiling, job.dtype, overwrite=True) as store:
        for place in tiling:
            store.write(place, job.compute(place))
    first, whole = [], []
    for _ in range(TURNS):
        (folder / "R.zarr/distance/c/50/50").unlink()
        told: list[float] = []
        start = time.perf_counter()
        sd.pairwise(
            X, Y, ground=cost, lam=LAM, out=folder / "R.zarr",
            progress=lambda _, told=told: told.append(time.perf_counter()),
        )  # fmt: skip
        whole.append(time.perf_counter() - start)
        first.append(told[0] - start)
    name = f"resume of {len(tiling):,} tiles, one missing: until it is computed"
    row = Row(name, f"limit of {START:g} s", min(first), START, 1.0)
    return row, f"The same resume, until all checksums are verified: {seconds(min(whole))}."


def measure(quick: bool = False) -> Section:
    """Everything above (``quick``: fewer digits and tiles)."""
    if digits(10) is None:
        print("scale: skipped, because SINKDIST_DATA does not name a folder with MNIST.")
        return Section("scale", TITLE, (), ("Skipped: MNIST is not there (SINKDIST_DATA).",))
    n, turns = (600, 1) if quick else (1200, 3)
    samples, each = (2, 2) if quick else (5, 4)
    remarks = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = digits(n)
        assert X is not None
        rows = stored_and_clustered(X, turns, folder)
        for label, budget in BUDGETS.items():
            found = alone(sample_of_tiles, budget, DIGITS, samples, each)
            rates = found["rates"]
            case = f"{DIGITS} digits within {label}, last tiles"
            rows.append(Row(case, "first tiles", 1 / rates[-1], 1 / rates[0], STEADY))
            whole = found["pairs"] / float(np.mean(rates))
            remarks.append(
                f"{DIGITS:,} digits, budget {label}: peak {found['peak'] / 1e9:.2f} GB, "
                f"{found['tiles']:,} tiles of {found['side']} x {found['side']}, samples of {each} "
                f"tiles at {', '.join(f'{rate:,.0f}' for rate in rates)} pairs/s; all "
                f"{found['pairs']:,} pairs would take {whole / 3600:.2f} h."
            )
        remarks.append(growth(quick, folder))
        row, remark = resume_start(folder)
        rows.append(row)
        remarks.append(remark)
    return Section("scale", TITLE, tuple(rows), tuple(remarks))


def main() -> None:
    """Measure, print, and write the result of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer digits and turns; not written")
    quick = parser.parse_args().quick
    text = heading() + markdown(measure(quick))
    print(text)
    if not quick:
        RESULT.write_text(text)


def heading() -> str:
    """Where and with what it was measured."""
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    packages = ("numpy", "numba", "zarr", "distributed")
    versions = ", ".join(f"{name} {machine.version(name)}" for name in packages)
    where = f"{date}, commit {machine.commit()}, {machine.processor()}, {CORES} cores"
    return f"# All pairs at scale\n\n{where}. {versions}.\n\n"


if __name__ == "__main__":
    main()
