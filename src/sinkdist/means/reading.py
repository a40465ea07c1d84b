"""Reading a call: from what a user gave to a checked `Request`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs import histograms
from sinkdist.inputs import weights as reading_weights
from sinkdist.inputs.histograms import Histograms, working_dtype
from sinkdist.interrupts import Stop, beside_main
from sinkdist.means.barycenters import Found, Request, find
from sinkdist.problem import stopping, strength
from sinkdist.problem.options import Options
from sinkdist.problem.problem import require_range
from sinkdist.problem.scale_check import check_scale
from sinkdist.scale import memory, threads
from sinkdist.wording import argument, either, option

__all__ = ["find_beside_main", "read_lam", "read_request", "require_symmetric"]

_ALWAYS_FITS = 1 << 27  #: bytes
_LARGEST = 1e12  #: lam times the largest cost whose logarithms floats resolve


def read_request(
    X: Any, ground: Any, weights: Any, options: Options, need_objective: bool
) -> tuple[Request, bool]:
    """What is asked for, and whether it is one barycentre."""
    dtype = working_dtype(X, dtype=options.dtype)
    stop = stopping.read(
        dtype, tol=options.tol, max_iter=options.max_iter, iterations=None, solver="auto"
    )
    costs = Ground.of(ground)
    lam = read_lam(options, costs)
    require_range(costs.max, dtype)
    if options.debiased:
        require_symmetric(costs)
    family = _read_family(X, costs, dtype, options)
    W, is_one = reading_weights.read(weights, family.n, normalize=options.normalize)
    _check_memory(family, costs, int(np.count_nonzero(W)), dtype)
    request = Request(
        costs, family.dense(slice(None)), W, lam, dtype, bool(options.debiased), stop,
        threads.count(options.workers), need_objective,
    )  # fmt: skip
    return request, is_one


def find_beside_main(request: Request) -> Found:
    """Find the barycentres where Ctrl-C is heard."""
    ended = Stop()

    def work() -> Found:
        with threads.single_blas_thread():
            return find(request, ended)

    return beside_main(work, ended)


def read_lam(options: Options, ground: Ground) -> float:
    """A positive, finite lam that floats can work with."""
    asked = strength.read(lam=options.lam, reg=options.reg, median=lambda: ground.median)
    lam = asked.value
    if not 0.0 < lam < math.inf:
        name = "lam" if options.lam is not None else "reg"
        raise InputError(
            "Barycentres need entropy: the {} option must be positive and finite. Got {} instead.",
            option(name), getattr(options, name),
        )  # fmt: skip
    if lam * ground.max > _LARGEST:
        raise InputError(
            f"lam times the largest cost is {lam * ground.max:.3g}, beyond the {_LARGEST:.0e} at "
            "which floats resolve a barycentre: lower {}.",
            option("lam"),
        )
    check_scale(lam, options.lam, ground)
    return lam


def require_symmetric(ground: Ground) -> None:
    """Raise for costs that have no debiased barycentre."""
    if ground.is_symmetric:
        return
    rows, columns = ground.shape
    what = f"{rows} x {columns}" if rows != columns else "asymmetric"
    raise InputError(
        "Debiased barycentres need symmetric costs between one kind of bins, and the ground is {}: "
        "pass {}.",
        what, either("debiased=False", "--no-debiased"),
    )  # fmt: skip


def _read_family(X: Any, ground: Ground, dtype: Any, options: Options) -> Histograms:
    """Histograms with mass, one per row."""
    family = histograms.read(
        X, "X", dtype=dtype, bins=ground.shape[1], normalize=options.normalize, on_empty="nan"
    )
    if family.is_vector:
        raise InputError(
            "{} must be a family of histograms, one per row. Got one histogram of {} bins: pass "
            "X[None].",
            argument("X"), family.d,
        )  # fmt: skip
    if family.n == 0:
        raise InputError("{} holds no histogram, so there is no mean.", argument("X"))
    if family.empty is not None:
        rows = np.flatnonzero(family.empty)
        more = f" (and {rows.size - 1} more)" if rows.size > 1 else ""
        raise InputError(
            f"Row {rows[0]} of {{}}{more} has no mass: drop rows that are 0 everywhere.",
            argument("X"),
        )
    return family


def _check_memory(family: Histograms, ground: Ground, pairs: int, dtype: Any) -> None:
    """Raise where the scalings of all pairs do not fit in memory."""
    rows, columns = ground.shape
    size = (3 * family.n * columns + 3 * pairs * (rows + columns)) * np.dtype(dtype).itemsize
    if size <= _ALWAYS_FITS:  # what is free takes a while to find out
        return
    limit, held = memory.read(None), memory.held()
    if held + size > limit:
        raise InputError(
            f"Barycentres of {pairs:,} weighted histograms take {memory.text(size)}, and there are "
            f"{memory.text(limit - held)} to use: take fewer histograms at a time.",
        )
