"""The points of figure 1: vertices, surfaces of balls, best tables and the path between them.

A point of the polytope is represented by the first row of its table; the second row is c minus the
first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from sinkdist import Solution, path, solve
from sinkdist_paper.figure import Cell, Record, Setting

__all__ = ["BASIS", "COSTS", "POINTS", "C", "R", "cells"]

Array = npt.NDArray[np.float64]

R = np.array([0.45, 0.55])
C = np.array([0.28, 0.42, 0.3])
COSTS = np.array([[0.7, 0.8, 0.1], [0.5, 0.3, 1.1]])
ALPHAS = (0.02, 0.1, 0.25)
LAMS = np.geomspace(0.02, 150.0, 120)
CURVE = np.linspace(0.0, 1.0, 41) ** 2  # as a share of the largest alpha that makes a difference
ANGLES = 180
TIGHT = 1e-10  # tolerance of the solver

# An orthonormal basis of the plane p_1 + p_2 + p_3 = const: distances are drawn to scale.
BASIS = np.array([[1.0, 0.0, -1.0], [-1.0, 2.0, -1.0]]) / np.sqrt([[2.0], [6.0]])

POINTS = ("p1", "p2", "p3")


def cells(setting: Setting) -> list[Cell]:
    """The polytope, each ball, the path, and the distance against the radius of the ball."""
    del setting  # it takes a second: there is no quick version
    return [
        Cell({"part": "polytope", "radius": 0.0}, _polytope),
        *(Cell({"part": "ball", "radius": alpha}, partial(_ball, alpha)) for alpha in ALPHAS),
        Cell({"part": "path", "radius": 0.0}, _path),
        Cell({"part": "curve", "radius": 0.0}, _curve),
    ]


def _polytope() -> Iterator[Record]:
    """Its vertices in order around r c^T, r c^T itself, and the optimal table P*."""
    found = []
    for j in range(3):  # at a vertex two entries of the first row are at their bounds
        others = [k for k in range(3) if k != j]
        for bounds in np.ndindex(2, 2):
            row = np.empty(3)
            row[others] = [C[k] if up else 0.0 for k, up in zip(others, bounds, strict=True)]
            row[j] = R[0] - row[others].sum()
            if 0.0 <= row[j] <= C[j]:
                found.append(row)
    vertices = np.unique(np.round(found, 12), axis=0)
    x, y = BASIS @ (vertices - R[0] * C).T
    for row in vertices[np.argsort(np.arctan2(y, x))]:
        yield _record("vertex", row)
    yield _record("independence", R[0] * C)
    yield _record("optimum", _first_row(solve(R, C, COSTS, lam=math.inf)))


def _ball(alpha: float) -> Iterator[Record]:
    """The surface of a ball, ray by ray from r c^T, the best table in it, and P^lam for its lam."""
    for angle in np.linspace(0.0, 2.0 * math.pi, ANGLES, endpoint=False):
        yield _record("surface", _on_ray(alpha, np.array([math.cos(angle), math.sin(angle)])))
    best = solve(R, C, COSTS, alpha=alpha, tol=TIGHT)
    lam = float(best.lam)
    yield _record("best", _first_row(best), lam)
    yield _record("penalised", _first_row(solve(R, C, COSTS, lam=lam, tol=TIGHT)), lam)


def _path() -> Iterator[Record]:
    """The tables P^lam, from next to r c^T to next to P*."""
    for solution in path(R, C, COSTS, LAMS, tol=TIGHT):
        yield _record("step", _first_row(solution), lam=float(solution.lam))


def _curve() -> Iterator[Record]:
    """The distance for radii from 0 to that of P*."""
    largest = _kl(_first_row(solve(R, C, COSTS, lam=math.inf)))
    for share in CURVE:
        best = solve(R, C, COSTS, alpha=float(share * largest), tol=TIGHT)
        yield _record("distance", _first_row(best)) | {"alpha": float(share * largest)}


def _on_ray(alpha: float, direction: Array) -> Array:
    """Where a ray from r c^T leaves the ball, or the polytope if that comes first."""
    start, step = R[0] * C, direction @ BASIS
    with np.errstate(divide="ignore"):
        room = np.where(step > 0, (C - start) / step, -start / step)
    inside, outside = 0.0, float(np.min(room[step != 0.0]))
    if _kl(start + outside * step) <= alpha:
        return np.asarray(start + outside * step)
    for _ in range(60):  # KL increases along the ray: it is convex, and 0 at the start
        middle = (inside + outside) / 2.0
        if _kl(start + middle * step) <= alpha:
            inside = middle
        else:
            outside = middle
    return np.asarray(start + inside * step)


def _first_row(solution: Solution) -> Array:
    """The first row of a plan."""
    return np.asarray(solution.plan[0])


def _table(row: Array) -> Array:
    """The table with this first row; entries that rounding made negative are 0."""
    return np.asarray(np.maximum([row, C - row], 0.0))


def _kl(row: Array) -> float:
    """KL(P || r c^T)."""
    P = _table(row)
    share = np.divide(P, np.outer(R, C), out=np.ones_like(P), where=P > 0.0)
    return max(0.0, float((P * np.log(share)).sum()))


def _record(what: str, row: Array, lam: float = math.nan) -> Record:
    """A point of the polytope, its divergence from r c^T and its cost."""
    record: Record = {"what": what}
    record |= zip(POINTS, map(float, row), strict=True)
    record |= {"kl": _kl(row), "value": float((_table(row) * COSTS).sum())}
    return record if math.isnan(lam) else record | {"lam": lam}
