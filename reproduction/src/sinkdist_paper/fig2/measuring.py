"""From a setting to cells: each contestant in each experiment, and the speed of its distances."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from sinkdist_paper import block_store, contestants, data, machine
from sinkdist_paper.contestants import Contestant, Variant
from sinkdist_paper.data import Images
from sinkdist_paper.fig2.results import most_chosen
from sinkdist_paper.figure import Cell, Record, Setting

__all__ = ["cells"]

_RATE_SECONDS = 0.5  # the shortest time from which a speed is computed
_RATE_TURNS = 2  # the better one counts: a slow moment of the machine is not the speed


def cells(setting: Setting) -> list[Cell]:
    """The speed of each contestant, then its experiments.

    All contestants are measured at a smaller N before a larger one, so that an unfinished run
    compares as many as it can; those with a limit, which take longest, come after all others.
    """
    from sinkdist_paper import protocol  # imports scikit-learn

    sizes = sorted(setting.sizes)
    images = cache(partial(data.load, setting.data, sizes[-1], setting.seed))
    folder = setting.distances / f"{setting.data}-seed-{setting.seed}"
    repeats = 1 if setting.quick else protocol.REPEATS
    work = [_rate_cell(contestant, images, setting) for contestant in contestants.ALL]
    for has_limit in (False, True):
        for n in sizes:
            for contestant in contestants.ALL:
                if has_limit is (contestant.limit is None):
                    continue
                distances = cache(partial(_distances, contestant, images, n, folder, setting))
                for split in protocol.splits(n, repeats, setting.seed):
                    key = _key("error", contestant, n, split.repeat, split.fold)
                    run = partial(_experiment, images, distances, n, split, setting)
                    work.append(Cell(key, run))
    return work


def _key(
    kind: str, contestant: Contestant, n: int, repeat: int, fold: int
) -> dict[str, str | int | float]:
    """The columns that identify a cell."""
    return {"kind": kind, "contestant": contestant.name, "n": n, "repeat": repeat, "fold": fold}


def _distances(
    contestant: Contestant, images: Callable[[], Images], n: int, folder: Path, setting: Setting
) -> list[tuple[Variant, Any]]:
    """The variants of a contestant that are tried at this N, with their distances."""
    return [
        (
            variant,
            block_store.stored_distances(
                variant, images(), n, folder, workers=setting.workers, tell=setting.tell
            ),
        )
        for variant in _tried(contestant, n, setting)
    ]


def _tried(contestant: Contestant, n: int, setting: Setting) -> Sequence[Variant]:
    """All variants up to the limit; above it, the one that was chosen most often there."""
    if contestant.limit is None:
        return contestant.variants
    sizes = sorted(setting.sizes)
    last = max((size for size in sizes if size <= contestant.limit), default=sizes[0])
    if n <= last:
        return contestant.variants
    best = most_chosen(setting.measured(), contestant.name, last)
    return [variant for variant in contestant.variants if variant.value == best]


def _experiment(
    images: Callable[[], Images],
    distances: Callable[[], list[tuple[Variant, Any]]],
    n: int,
    split: Any,
    setting: Setting,
) -> Iterator[Record]:
    """One experiment: a record for each variant; `used` marks the chosen one."""
    from sinkdist_paper import protocol

    variants, matrices = zip(*distances(), strict=True)
    start = time.process_time()
    trials = protocol.run(
        matrices,
        images().labels[:n],
        split,
        seed=setting.seed,
        workers=setting.workers or machine.cores(),
    )
    seconds = time.process_time() - start  # CPU time, independent of other load
    used = int(np.argmin([trial.inner_error for trial in trials]))
    for number, (variant, trial) in enumerate(zip(variants, trials, strict=True)):
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
        variant.distances(images[:n], None, workers=setting.workers)  # the first call compiles
        seconds = min(_seconds(variant, images[:n], setting) for _ in range(_RATE_TURNS))
        rate = n * (n - 1) / 2 / seconds
        n *= 2
    return rate


def _seconds(variant: Variant, images: Images, setting: Setting) -> float:
    """The time of all distances between some images."""
    start = time.perf_counter()
    variant.distances(images, None, workers=setting.workers)
    return time.perf_counter() - start
