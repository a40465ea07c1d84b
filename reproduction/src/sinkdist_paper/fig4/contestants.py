"""What is timed: solvers of the exact EMD, Algorithm 1 as printed, and sinkdist.

A contestant computes its value once when it is created, so that compiling and importing are not
timed, and the value can be recorded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, util
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist import Ground, distance
from sinkdist_paper.emd_solvers import SOLVERS, UnavailableError
from sinkdist_paper.fig4.stopwatch import Call
from sinkdist_paper.samplers import random_metric, uniform_simplex
from sinkdist_paper.textbook import algorithm1, algorithm1_columns

__all__ = [
    "EXACT", "FAMILY", "GPU", "LAMS", "OURS", "PAIR", "PRINTED", "SINKHORN",
    "Contestant", "Problem", "exact", "on_device", "sinkhorn",
]  # fmt: skip

Array = npt.NDArray[np.float64]

LAMS = (1.0, 9.0)
OURS = "sinkdist, lam=inf"
EXACT = (*SOLVERS, OURS)
PRINTED, PAIR, FAMILY, GPU = (
    "Algorithm 1 in NumPy, one pair",
    "sinkdist, one pair",
    "sinkdist, in a family",
    "sinkdist, in a family, GPU",
)
SINKHORN = (PRINTED, PAIR, FAMILY, GPU)
COVERED = 95  # per cent of a family that has to converge: the slowest pairs would decide otherwise


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A random metric, a histogram and a family of others; it and the first one are the pair."""

    costs: Array
    r: Array
    family: Array

    @classmethod
    def draw(cls, d: int, size: int, seed: tuple[int, ...]) -> Problem:
        """Draw a random problem."""
        rng = np.random.default_rng(seed)
        costs = random_metric(d, rng)
        return cls(costs, uniform_simplex(1, d, rng)[0], uniform_simplex(size, d, rng))

    @property
    def c(self) -> Array:
        """The second histogram of the pair."""
        return np.asarray(self.family[0])


@dataclass(frozen=True, slots=True)
class Contestant:
    """A solver applied to a problem.

    Attributes
    ----------
    name : str
        Of the solver.
    lam : float
        The paper's lambda; inf for the exact EMD.
    iterations : int
        Of Algorithm 1; 0 for exact solvers.
    value : float
        The distance of the pair that it finds.
    call : Call
        What is timed.
    first : float
        The seconds in which it found its value; 0 where compiling may have been a part of them.
    """

    name: str
    lam: float
    iterations: int
    value: float
    call: Call
    first: float = 0.0


def exact(name: str, problem: Problem) -> Contestant | None:
    """A solver of the exact EMD, or None if its package is not installed."""
    r, c = problem.r, problem.c
    if name == OURS:
        ground = Ground(problem.costs)
        bool(ground.is_metric)  # FastEMD assumes a metric: the check is not timed here, either
        call = Call(lambda: distance(r, c, ground, lam=math.inf, workers=1))
        return Contestant(name, math.inf, 0, float(call.run()), call)
    try:
        call = Call(SOLVERS[name].prepare(r, c, problem.costs))
    except UnavailableError:
        return None
    start = time.perf_counter()
    value = float(call.run())
    return Contestant(name, math.inf, 0, value, call, time.perf_counter() - start)


def sinkhorn(lam: float, problem: Problem) -> Iterator[Contestant]:
    """Algorithm 1 as printed, and sinkdist with as many iterations."""
    M, r, c, family = problem.costs, problem.r, problem.c, problem.family
    ground = Ground(M)
    value, one = algorithm1(M, lam, r, c)
    yield Contestant(PRINTED, lam, one, value, Call(lambda: algorithm1(M, lam, r, c)))

    def pair() -> float:
        return float(distance(r, c, ground, lam=lam, iterations=one, workers=1))

    yield Contestant(PAIR, lam, one, pair(), Call(pair, ground.forget))
    counts = algorithm1_columns(M, lam, r, family.T).iterations
    enough = int(np.percentile(counts, COVERED, method="higher"))

    def many() -> Array:
        return np.asarray(distance(r, family, ground, lam=lam, iterations=enough, workers=1))

    value = float(many()[0])
    yield Contestant(FAMILY, lam, enough, value, Call(many, ground.forget, len(family)))
    torch = _torch_with_gpu()
    if torch is not None:
        yield on_device(torch, "cuda", lam, enough, problem)


def on_device(torch: Any, device: str, lam: float, iterations: int, problem: Problem) -> Contestant:
    """The family as tensors on a device, and the distances brought back from it."""
    ground = Ground(problem.costs)
    r, family = (torch.as_tensor(x, device=device) for x in (problem.r, problem.family))

    def many() -> Array:
        found = distance(r, family, ground, lam=lam, iterations=iterations)
        return np.asarray(found.cpu())

    call = Call(many, ground.forget, len(problem.family))
    return Contestant(GPU, lam, iterations, float(many()[0]), call)


def _torch_with_gpu() -> Any:
    """PyTorch if it is installed and finds a GPU, else None. It is imported here only."""
    if util.find_spec("torch") is None:
        return None
    torch = import_module("torch")
    return torch if torch.cuda.is_available() else None
