"""All pairs of real MNIST digits on 20 x 20, 20 iterations, float32.

Targets: 2.5 times torch written by hand on the full grid, 1.3 times the same with the rows of zero
mass dropped by hand, 85 % of the rate of the bare matrix products of the latter, and 20 times
POT's vectorised path with rows dropped by hand. Without that, POT returns one constant for every
pair: the table shows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import batch_peers, ours
from benchmarks.many_pairs import PRODUCTS, Prepare, installed
from benchmarks.problems import Array, ground, mnist
from benchmarks.table import Row, Section, show
from benchmarks.timing import SETTLE_WELL, Contestant, Time, race, with_threads

BINS, ITERATIONS, LAM, DTYPE = 400, 20, 9.0, "float32"
CLOSE = 1e-4
TARGETS = {
    "torch, full grid": 2.5,
    "torch, rows trimmed by hand": 1.3,
    "GEMM, rows trimmed": 0.85,
    "POT, rows trimmed by hand": 20.0,
}
PEERS: dict[str, tuple[str, Prepare]] = {
    "torch, full grid": ("torch", batch_peers.torch_lines),
    "torch, rows trimmed by hand": ("torch", batch_peers.torch_trimmed),
    "GEMM, rows trimmed": ("numpy", batch_peers.products),
    "POT, rows trimmed by hand": ("ot", batch_peers.pot_trimmed),
    "POT, untrimmed": ("ot", batch_peers.pot_vectorised),
}
TITLE = f"All pairs of MNIST digits, 20 x 20, {ITERATIONS} iterations, {DTYPE}"


def half(X: Array, sample: int, prepare: Prepare) -> tuple[Contestant, list[int]]:
    """A peer's loop over a sample of rows, each against all later ones: the half that is needed."""
    starts = list(range(0, len(X) - 1, max(1, len(X) // sample)))
    cost = ground("grid", BINS).astype(DTYPE)
    calls = [prepare(X[i], X[i + 1 :], cost, LAM, ITERATIONS) for i in starts]
    return Contestant("", lambda _: [np.asarray(call(None)) for call in calls]), starts


def measure(quick: bool = False) -> Section:
    """Race on 1,000 digits (``quick``: 200); the peers on a sample of rows, counted by the pair."""
    n, turns = (200, 2) if quick else (1000, 3)
    digits = mnist(n)
    if digits is None:
        print("mnist_pairs: skipped, because SINKDIST_DATA does not name a folder with MNIST.")
        return Section("mnist_pairs", TITLE, (), ("Skipped: MNIST is not there (SINKDIST_DATA).",))
    X = digits.astype(DTYPE)
    X /= X.sum(axis=1, keepdims=True)
    contestants: list[Contestant] = []
    starts: dict[str, list[int]] = {}
    if ours.package() is not None:
        call = ours.all_pairs(X, LAM, ITERATIONS, DTYPE)
        contestants.append(Contestant(ours.NAME, call, ours.fresh_ground(ground("grid", BINS))))
    for name, prepare in installed(PEERS).items():
        loop, starts[name] = half(X, 10 if "POT" in name else 100, prepare)
        entry = Contestant(name, loop.call)
        contestants += with_threads(entry) if name.startswith("POT") else (entry,)
    times = race(contestants, turns=turns, budget=90.0, settle=SETTLE_WELL)
    return Section("mnist_pairs", TITLE, tuple(_rows(X, times, starts)), _remarks(times, n))


def _rows(X: Array, times: dict[str, Time], starts: dict[str, list[int]]) -> list[Row]:
    """One row per peer, its sample's time scaled to all pairs."""
    n = len(X)
    pairs = n * (n - 1) // 2
    own = times.get(ours.NAME)
    wrong = _wrong(X, own.result) if own else ""
    return [
        Row(
            case=f"{n} digits, {pairs} pairs",
            against=name,
            ours=own.seconds if own else None,
            theirs=times[name].seconds * pairs / sum(n - 1 - i for i in rows),
            target=TARGETS.get(name),
            wrong=wrong,
            note="" if name in TARGETS else _constant(times[name].result),
        )
        for name, rows in starts.items()
    ]


def _wrong(X: Array, values: Any) -> str:
    """How far the first row is from Algorithm 1 in float64, where that is too far."""
    truth = batch_peers.reference(X[0], X[1:], ground("grid", BINS), LAM, ITERATIONS)
    off = float(np.abs(np.asarray(values)[0, 1:] / truth - 1.0).max())
    return "" if off <= CLOSE else f"off by {off:.0e}"


def _constant(results: list[Any]) -> str:
    """What POT returned: how many different values, and from where to where."""
    values = np.concatenate(results)
    return f"{values.min():.4g} to {values.max():.4g} over {len(values)} pairs"


def _remarks(times: dict[str, Time], n: int) -> tuple[str, ...]:
    """What a reader has to know, and what the untrimmed path returned."""
    remarks = [
        "Each digit's bounding box is centred in 20 x 20; lam = 9 / median(M). torch and POT run "
        "over a sample of rows, each against all later ones; their times are scaled to all pairs.",
        f"GEMM is the time of the {PRODUCTS} products of Algorithm 1 between the bins with mass of "
        "one digit and all bins: its ratio is the share of that rate that is reached, and above 1 "
        "where more bins are left out than these rows.",
    ]
    if ours.NAME in times:
        rate = n * (n - 1) / 2 / times[ours.NAME].seconds
        remarks.append(f"sinkdist: {rate:,.0f} pairs per second.")
    if "POT, untrimmed" in times:
        said = _constant(times["POT, untrimmed"].result)
        remarks.append(
            f"POT untrimmed is shown for its time only: its values run from {said}, because a "
            "zero bin makes its first iteration NaN and it goes back to its starting vectors."
        )
    return tuple(remarks)


if __name__ == "__main__":
    show(measure)
