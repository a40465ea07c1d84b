"""The timing: random pairs of each dimension, all contestants in one cell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from threadpoolctl import threadpool_limits

from sinkdist_paper.fig4.contestants import EXACT, LAMS, OURS, Contestant, Problem, exact, sinkhorn
from sinkdist_paper.fig4.stopwatch import Patience, race
from sinkdist_paper.figure import Cell, Record, Setting

__all__ = ["ABSENT", "SLOW", "TIMED", "cells"]

# Draws for each dimension: times vary most where they are short.
DRAWS = {64: 10, 128: 8, 256: 6, 512: 4, 1024: 2, 2048: 1}
QUICK_DRAWS = {64: 2, 128: 2, 256: 2, 512: 1}
FAMILY, QUICK_FAMILY = 512, 128
LIMIT, QUICK_LIMIT = 20.0, 1.0  # seconds that an exact solver may take and be run further
TURNS, BUDGET, QUICK_BUDGET = 5, 5.0, 0.5

TIMED, SLOW, ABSENT = "timed", "too slow", "not installed"


def cells(setting: Setting) -> list[Cell]:
    """One cell for each dimension and draw, with all contestants in it."""
    draws = QUICK_DRAWS if setting.quick else DRAWS
    size = QUICK_FAMILY if setting.quick else FAMILY
    budget = QUICK_BUDGET if setting.quick else BUDGET

    def problem(d: int, draw: int) -> Problem:
        return Problem.draw(d, size, (setting.seed, d, draw))

    def probe(name: str, d: int) -> float:
        contestant = exact(name, problem(d, 0))
        if contestant is None:
            return 0.0
        return contestant.first or race({name: contestant.call}, 1, 0.0)[name]

    patience = Patience(QUICK_LIMIT if setting.quick else LIMIT, tuple(draws), probe)

    def measure(d: int, draw: int) -> Iterator[Record]:
        with threadpool_limits(1):
            yield from _timed(problem(d, draw), d, patience, budget)

    return [
        Cell({"d": d, "draw": draw}, partial(measure, d, draw))
        for d, count in draws.items()
        for draw in range(count)
    ]


def _timed(problem: Problem, d: int, patience: Patience, budget: float) -> Iterator[Record]:
    """Time all contestants on one problem."""
    present: list[Contestant] = []
    for name in EXACT:
        contestant = exact(name, problem) if patience.allows(name, d) else SLOW
        if isinstance(contestant, Contestant):
            present.append(contestant)
        else:
            yield {"solver": name, "lam": math.inf, "state": contestant or ABSENT}
    emd = next((one.value for one in present if one.name == OURS), None)
    for lam in LAMS:
        present += sinkhorn(lam, problem)
    slow = {_name(one): one.first for one in present if one.first > budget}  # once is enough
    quick = {_name(one): one.call for one in present if _name(one) not in slow}
    seconds = race(quick, TURNS, budget) | slow
    for one in present:
        if one.name in EXACT:
            patience.note(one.name, d, seconds[_name(one)])
        record: Record = {
            "solver": one.name,
            "lam": one.lam,
            "state": TIMED,
            "seconds": seconds[_name(one)],
            "iterations": one.iterations,
            "value": one.value,
        }
        yield record if emd is None else record | {"error": one.value / emd - 1.0}


def _name(contestant: Contestant) -> str:
    """A contestant's name with its lambda."""
    return f"{contestant.name}, {contestant.lam:g}"
