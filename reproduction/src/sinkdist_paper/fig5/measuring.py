"""Counting iterations: random pairs of each dimension, and images, at each lambda."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from sinkdist import Ground, distance, iterations_for
from sinkdist_paper import data
from sinkdist_paper.figure import Cell, Record, Setting
from sinkdist_paper.samplers import random_metric, uniform_simplex
from sinkdist_paper.textbook import algorithm1_columns

__all__ = ["IMAGES", "SIMPLEX", "cells"]

Array = npt.NDArray[np.float64]

SIMPLEX, IMAGES = "simplex", "images"
DIMENSIONS, QUICK_DIMENSIONS = (64, 128, 256, 512, 1024, 2048), (64, 128, 256)
LAMS, QUICK_LAMS = (1, 5, 9, 15, 25, 50), (1, 5, 9, 15, 25)
DRAWS, QUICK_DRAWS = 5, 2  # metrics for each dimension, and first images
PAIRS = 10  # of histograms for each draw
MOST, QUICK_MOST = 5_000, 2_000
TOLERANCE = 1e-9  # of the solve that gives the limit
ADVISED_LAM = 25.0  # the largest lambda that `iterations_for` is fitted to
ADVISED_UP_TO = 512  # bins: for more, the iterations at a large lambda would take minutes


def cells(setting: Setting) -> list[Cell]:
    """One cell for each dimension, lambda and metric, and for images."""
    dimensions = QUICK_DIMENSIONS if setting.quick else DIMENSIONS
    draws = range(QUICK_DRAWS if setting.quick else DRAWS)
    lams = QUICK_LAMS if setting.quick else LAMS

    @cache
    def images() -> data.Images:
        return data.load(setting.data, max(40, len(draws) * (PAIRS + 1)), setting.seed)

    def on_simplex(d: int, lam: float, draw: int) -> Iterator[Record]:
        rng = np.random.default_rng((setting.seed, d, draw))
        costs = random_metric(d, rng)
        first, second = uniform_simplex(PAIRS, d, rng), uniform_simplex(PAIRS, d, rng)
        return _counted(Ground(costs), lam, first, second, setting)

    def on_images(lam: float, draw: int) -> Iterator[Record]:
        shares = images().histograms.astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        mine = shares[draw * (PAIRS + 1) : (draw + 1) * (PAIRS + 1)]
        return _counted(images().ground.scaled(), lam, mine[0], mine[1:], setting)

    side = 8 if setting.data == "digits" else 20
    return [
        Cell({"on": SIMPLEX, "d": d, "lam": lam, "draw": draw}, partial(on_simplex, d, lam, draw))
        for d in dimensions for lam in lams for draw in draws
    ] + [
        Cell({"on": IMAGES, "d": side**2, "lam": lam, "draw": draw}, partial(on_images, lam, draw))
        for lam in lams for draw in draws
    ]  # fmt: skip


def _counted(
    ground: Ground, lam: float, first: Array, second: Array, setting: Setting
) -> Iterator[Record]:
    """Count the iterations of pairs, and compare the distances with their limits."""
    most = QUICK_MOST if setting.quick else MOST
    run = algorithm1_columns(ground.matrix, lam, first.T, second.T, most=most)
    limit = np.asarray(
        distance(first, second, ground, lam=lam, tol=TOLERANCE, max_iter=100_000, workers=1)
    )
    errors = np.abs(run.values / limit - 1.0)
    advised = iterations_for(lam, ground)
    off = None
    if lam <= ADVISED_LAM and ground.shape[0] <= ADVISED_UP_TO:
        values = distance(first, second, ground, lam=lam, iterations=advised, workers=1)
        off = np.abs(values / limit - 1.0)
    for k in range(len(second)):
        record: Record = {
            "iterations": int(run.iterations[k]),
            "stopped": int(run.stopped[k]),
            "error": float(f"{errors[k]:.2e}"),
            "advised": advised,
        }
        yield record if off is None else record | {"advised_error": float(f"{off[k]:.2e}")}
