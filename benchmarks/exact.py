"""Exact distances: our transport simplex against other exact solvers, by the pair.

Targets against a loop over ``ot.emd2`` (one thread), and against ``lam=inf`` when it called POT:
MNIST 12 and 8 times, and 8,000 pairs per second on two threads; documents 80 and 12 times, and 10
times POT trimmed by hand; random metrics 16 / 28 / 40 and 12 / 10 / 10 times at d = 64 / 256 /
1024; DOTmark 15 and 15 times at 32 x 32, 4 and 3 times at 64 x 64; batches on two threads 1.7 times
as fast as on one. Values have to equal POT's to 1e-9, and bounds to be as close.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, ours
from benchmarks.exact_peers import PEERS, Earlier, earlier, installed, temporary
from benchmarks.exact_problems import BATCH, EARLIER, LOOP, THREADS, Case, cases
from benchmarks.problems import Array
from benchmarks.table import Row, Section, as_json, markdown
from benchmarks.timing import SETTLE_WELL, Contestant, Time, race

RESULTS = Path(__file__).parent / "results"
TITLE = "Exact distances, one thread, seconds per pair"
PACKAGES = ("numpy", "scipy", "numba", "POT", "opencv-python-headless", "pyemd")
CLOSE = 1e-9
RATE = 8000.0  #: pairs of MNIST digits per second on two threads
ONE, TWO, SINKHORN = "one thread", "two threads", "sinkdist at lam = 9"
RATED = f"{RATE:,.0f} pairs/s, two threads"


def batch(case: Case, ground: Any, workers: int) -> Any:
    """What users call."""
    sd, exact = ours.package(), float("inf")
    if case.family is None:
        return sd.distance(case.R, case.C, ground, lam=exact, workers=workers)
    return sd.pairwise(case.family, ground=ground, lam=exact, workers=workers)


def contestants(case: Case, ground: Any, before: Earlier | None) -> Iterator[Contestant]:
    """Everyone who computes on one thread; names are those of columns."""
    sd = ours.package()
    yield Contestant(ours.NAME, lambda _: batch(case, ground, 1))
    M = np.array(ground.matrix)
    for name, count in installed({LOOP: case.R.shape[0]} | case.peers).items():
        yield Contestant(name, PEERS[name][1](case, M, min(count, case.R.shape[0])), threads=1)
    if before is not None:
        yield Contestant(EARLIER, before.prepare(case))
    yield Contestant(
        SINKHORN, lambda _: sd.distance(case.R, case.C, ground.forget(), lam=9.0, workers=1)
    )


def threads(case: Case, ground: Any, turns: int) -> dict[str, Time]:
    """One thread against two, on the clock; nothing for a single pair."""
    if case.R.shape[0] == 1:
        return {}
    both = [
        Contestant(ONE, lambda _: batch(case, ground, 1)),
        Contestant(TWO, lambda _: batch(case, ground, 2)),
    ]
    return race(both, turns=turns, least=0.2, budget=20.0)


def wrong(case: Case, ground: Any, times: dict[str, Time]) -> str:
    """How far our values are from POT's, or our bounds from each other, where that is too far."""
    solution = ours.package().solve(case.R, case.C, ground, lam=float("inf"))
    values = np.asarray(solution.value)
    lower, upper = (np.asarray(x) for x in solution.emd_bounds)
    gap = float(((upper - lower) / upper).max())
    off = 0.0 if LOOP not in times else float(np.abs(values / times[LOOP].result - 1.0).max())
    if case.family is None:
        mine = np.asarray(times[ours.NAME].result)
        off = max(off, float(np.abs(mine / values - 1.0).max()))
    if max(off, gap) <= CLOSE:
        return ""
    return f"off by {off:.0e}, bounds apart by {gap:.0e}"


def rows(case: Case, ground: Any, times: dict[str, Time]) -> Iterator[Row]:
    """One row per opponent, all by the pair."""
    own, bad = times[ours.NAME].seconds / case.pairs, wrong(case, ground, times)
    for name, taken in times.items():
        if name in (ours.NAME, ONE, TWO):
            continue
        count = len(taken.result)
        note = _off(case, ground, taken.result) if name == BATCH else ""
        target = case.targets.get(name)
        yield Row(case.name, name, own, taken.seconds / count, target, note=note, wrong=bad)
    if TWO in times:
        one, two = (times[name].seconds / case.pairs for name in (ONE, TWO))
        yield Row(case.name, THREADS, two, one, case.targets.get(THREADS), wrong=bad)
        if "MNIST" in case.name:
            yield Row(case.name, RATED, two, 1.0 / RATE, 1.0, wrong=bad)


def _off(case: Case, ground: Any, values: Array) -> str:
    """By how much approximate values miss the exact ones."""
    count = len(values)
    truth = ours.package().distance(case.R[:count], case.C[:count], ground, lam=float("inf"))
    worst = float(np.abs(values / truth - 1.0).max())
    return f"off by up to {worst:.1e} of the value" if np.isfinite(worst) else "not numbers"


def measure(quick: bool = False) -> Section:
    """Race on every case whose data is there."""
    if ours.package() is None:
        return Section("exact", TITLE, (), ("Skipped: sinkdist cannot be imported.",))
    found: list[Row] = []
    said: list[str] = []
    if hasattr(os, "getloadavg"):  # what runs on two threads needs both cores to itself
        said.append(f"Load average of the machine before the first case: {os.getloadavg()[0]:.1f}.")
    with temporary() as folder:
        before = earlier(folder)
        for case in cases(quick):
            print(f"exact: {case.name}", flush=True)
            sd, data = ours.package(), case.data
            ground = eval(case.ground, {"sd": sd, "data": data})
            sd.distance(case.R[:2], case.C[:2], ground, lam=float("inf"))  # compiles
            entries = list(contestants(case, ground, before))
            large = ground.shape[0] > 2000 and case.family is None
            turns = 2 if quick or large else 4
            times = race(entries, turns, budget=8.0, settle=SETTLE_WELL, clock=time.process_time)
            if before is not None:
                times[EARLIER] = replace(times[EARLIER], seconds=before.seconds)
            times |= threads(case, ground, turns)
            found += rows(case, ground, times)
            said += remarks(case, times, found)
        if before is not None:
            before.close()
    return Section("exact", TITLE, tuple(found), (*GENERAL, *said))


GENERAL = (
    "Cells are how many times longer a contestant takes for a pair than sinkdist, in processor "
    "time of one thread; 'two threads over one' and pairs per second are taken on the clock.",
    "'loop over ot.emd2' is given all bins, as users write it; OpenCV (Rubner's code, float32, at "
    "most 500 steps) and pyemd (FastEMD) the bins with mass; 'lam=inf by POT' is this package at "
    "commit 643052f, in a process of its own. Peers that need long are given some of the pairs.",
    "Values equal POT's to 1e-9 and the bounds that every pair is proven to lie between differ by "
    "at most 1e-9 of the value, or the first column says by how much they do not.",
)


def remarks(case: Case, times: dict[str, Time], found: list[Row]) -> Iterator[str]:
    """Rates of families, and how exact an approximate peer was."""
    if case.family is not None:
        rates = [
            f"{case.pairs / times[name].seconds:,.0f} pairs/s on {threads}"
            for name, threads in ((ONE, "one thread"), (TWO, "two"))
        ]
        yield f"{case.name}: {', '.join(rates)}."
    notes = [row for row in found if row.case == case.name and row.against == BATCH and row.note]
    for row in notes:
        yield f"{case.name}: the values of {BATCH} are {row.note}."


def main() -> None:
    """Measure, print, and write the result of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pairs and turns; not written")
    quick = parser.parse_args().quick
    section = measure(quick)
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    versions = {name: machine.version(name) for name in PACKAGES}
    found = machine.Machine(machine.processor(), machine.CORES, {}, versions, machine.commit())
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    head = f"{date}, commit {found.commit}, {found.processor}, {found.cores} cores. {listed}."
    text = f"# Exact distances\n\n{head}\n\n{markdown(section)}"
    print(text)
    if not quick:
        (RESULTS / "exact.md").write_text(text)
        (RESULTS / "exact.json").write_text(as_json(found, [section], date, quick))


if __name__ == "__main__":
    main()
