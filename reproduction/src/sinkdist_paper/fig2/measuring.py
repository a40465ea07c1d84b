"""From a setting to cells: each contestant in each experiment, and the speed of its distances."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from sinkdist_paper import contestants, data, machine
from sinkdist_paper.contestants import Contestant, Variant
from sinkdist_paper.data import Images
from sinkdist_paper.figure import Cell, Record, Setting

__all__ = ["cells"]

_RATE_SECONDS = 0.5  # the shortest time from which a speed is computed


def cells(setting: Setting) -> list[Cell]:
    """The speed of each contestant, then its experiments, smaller sets first."""
    from sinkdist_paper import protocol  # imports scikit-learn

    largest = max(setting.sizes)
    images = cache(partial(data.load, setting.data, largest, setting.seed))
    folder = setting.distances / f"{setting.data}-{largest}-seed-{setting.seed}"
    repeats = 1 if setting.quick else protocol.REPEATS
    work: list[Cell] = []
    for contestant in contestants.ALL:
        matrices = cache(partial(_matrices, contestant, images, folder, setting))
        work.append(_rate_cell(contestant, images, setting))
        for n in sorted(setting.sizes):
            for split in protocol.splits(n, repeats, setting.seed):
                key = _key("error", contestant, n, split.repeat, split.fold)
                run = partial(_experiment, contestant, images, matrices, n, split, setting)
                work.append(Cell(key, run))
    return work


def _key(
    kind: str, contestant: Contestant, n: int, repeat: int, fold: int
) -> dict[str, str | int | float]:
    """The columns that identify a cell."""
    return {"kind": kind, "contestant": contestant.name, "n": n, "repeat": repeat, "fold": fold}


def _matrices(
    contestant: Contestant, images: Callable[[], Images], folder: Path, setting: Setting
) -> list[Any]:
    """The distances of a contestant's variants."""
    return [
        contestants.stored_distances(
            variant, images(), folder, workers=setting.workers, tell=setting.tell
        )
        for variant in contestant.variants
    ]


def _experiment(
    contestant: Contestant,
    images: Callable[[], Images],
    matrices: Callable[[], list[Any]],
    n: int,
    split: Any,
    setting: Setting,
) -> Iterator[Record]:
    """One experiment: a record for each variant; `used` marks the chosen one."""
    from sinkdist_paper import protocol

    distances, start = matrices(), time.process_time()
    trials = protocol.run(
        distances,
        images().labels[:n],
        split,
        seed=setting.seed,
        workers=setting.workers or machine.cores(),
    )
    seconds = time.process_time() - start  # CPU time, independent of other load
    used = int(np.argmin([trial.inner_error for trial in trials]))
    for number, (variant, trial) in enumerate(zip(contestant.variants, trials, strict=True)):
        yield {
            "value": variant.value,
            "used": int(number == used),
            "bandwidth": trial.bandwidth,
            "t": trial.t,
            "C": trial.C,
            "shift": trial.shift,
            "inner_error": trial.inner_error,
            "error": trial.error,
            "cpu_seconds": seconds / len(trials),
        }


def _rate_cell(contestant: Contestant, images: Callable[[], Images], setting: Setting) -> Cell:
    """Pairs per second, for each variant, on some of the images."""

    def measure() -> Iterator[Record]:
        for variant in contestant.variants:
            yield {
                "value": variant.value,
                "pairs_per_second": _rate(variant, images(), setting),
            }

    return Cell(_key("rate", contestant, 0, 0, 0), measure)


def _rate(variant: Variant, images: Images, setting: Setting) -> float:
    """Distances per second, on sets that grow until one takes long enough to be timed."""
    n, seconds = 20, 0.0
    while seconds < _RATE_SECONDS and n <= len(images):
        some = Images(images.histograms[:n], images.labels[:n], images.side)
        variant.distances(some, workers=setting.workers)  # compiles in the first call
        start = time.perf_counter()
        variant.distances(some, workers=setting.workers)
        seconds = time.perf_counter() - start
        rate = n * (n - 1) / 2 / seconds
        n *= 2
    return rate
