"""The verbs `barycenter` and `solve_barycenter`: means of histograms under transport."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from sinkdist.errors import ConvergenceWarning, InputError, InputTypeError, warn_caller
from sinkdist.ground import Ground
from sinkdist.inputs import histograms
from sinkdist.inputs import weights as reading_weights
from sinkdist.inputs.array_context import is_on_device, kind_of
from sinkdist.inputs.arrays import pandas_labels
from sinkdist.inputs.flags import flag
from sinkdist.inputs.histograms import Histograms, working_dtype
from sinkdist.inputs.named_options import named_options
from sinkdist.interrupts import Stop, beside_main
from sinkdist.means.barycenters import Found, Request, find
from sinkdist.means.result import Barycenter
from sinkdist.problem import stopping, strength
from sinkdist.problem.options import Options
from sinkdist.problem.problem import require_range
from sinkdist.problem.scale_check import check_scale
from sinkdist.scale import memory, threads
from sinkdist.solution.status import Status
from sinkdist.wording import argument, either, option, setting

__all__ = ["barycenter", "solve_barycenter"]

_ALWAYS_FITS = 1 << 27  #: bytes
_LARGEST = 1e12  #: lam times the largest cost whose logarithms floats resolve


@named_options
def barycenter(
    X: Any,
    *,
    ground: Any,
    weights: Any = None,
    lam: float | str | None = None,
    reg: float | None = None,
    debiased: bool = True,
    tol: float | None = None,
    max_iter: int | None = None,
    dtype: Any = None,
    normalize: bool = False,
    workers: int | None = None,
) -> Any:
    """The histogram with the smallest weighted mean of Sinkhorn divergences to a family.

    With entropy alone (``debiased=False``) barycentres are blurred, the more so the smaller `lam`.
    Debiased ones are not: that of one histogram is the histogram itself.

    Parameters
    ----------
    X : array_like or sparse array, shape (n, d)
        Histograms; bins may be 0.
    ground : Ground or array_like, shape (d, d)
        Costs between bins; symmetric where `debiased`. Otherwise mass is moved from the
        barycentre (rows) to the histograms (columns), which may have other bins: a ground of shape
        (k, d) gives barycentres of k bins.
    weights : array_like, shape (n,) or (m, n), optional
        Non-negative, of sum 1; equal by default. m rows give m barycentres in one call.
    lam, reg : float
        Exactly one, positive and finite: the paper's lambda, or its inverse. ``lam="9/median"`` is
        9 divided by the median cost.
    debiased : bool
        The mean of divergences (Janati, Cuturi and Gramfort 2020), or of Sinkhorn distances'
        objectives ``<P, M> - h(P) / lam`` (Benamou et al. 2015).
    tol : float, optional
        Bound on the L1 error of the second marginal of each plan from the barycentre to a histogram
        (the first marginal is the barycentre) and, where `debiased`, on that of its plan to itself;
        1e-6 in float64, 1e-4 in float32.
    max_iter : int, optional
        Cap on the sweeps; 10,000.
    dtype : {"float32", "float64"}, optional
        As for `solve`. float64 is used all the same where float32 cannot hold the kernel.
    normalize : bool
        Divide histograms, and weights, by their sums.
    workers : int, optional
        Threads; all cores by default.

    Returns
    -------
    ndarray, shape (d,) or (m, d)
        A Series or DataFrame, with the same labels of bins, where `X` is a DataFrame.

    Examples
    --------
    >>> import sinkdist as sd
    >>> ground = sd.Ground.grid(5, metric="sqeuclidean")
    >>> sd.barycenter([[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]], ground=ground, lam=5).round(4)
    array([0., 0., 1., 0., 0.])
    """
    options = Options(
        lam=lam, reg=reg, debiased=debiased, tol=tol, max_iter=max_iter, dtype=dtype,
        normalize=normalize, workers=workers,
    )  # fmt: skip
    return _answered(X, ground, weights, options, need_objective=False).histogram


@named_options
def solve_barycenter(
    X: Any,
    *,
    ground: Any,
    weights: Any = None,
    lam: float | str | None = None,
    reg: float | None = None,
    debiased: bool = True,
    tol: float | None = None,
    max_iter: int | None = None,
    dtype: Any = None,
    normalize: bool = False,
    workers: int | None = None,
) -> Barycenter:
    """A barycentre with its status, errors and objective; parameters are those of `barycenter`.

    Returns
    -------
    Barycenter

    Examples
    --------
    >>> import sinkdist as sd
    >>> found = sd.solve_barycenter([[0.5, 0.5, 0], [0, 0.5, 0.5]], ground=sd.Ground.grid(3), lam=9)
    >>> found.converged, round(found.objective, 4)
    (True, 0.4269)
    """
    options = Options(
        lam=lam, reg=reg, debiased=debiased, tol=tol, max_iter=max_iter, dtype=dtype,
        normalize=normalize, workers=workers,
    )  # fmt: skip
    return _answered(X, ground, weights, options, need_objective=True)


def _answered(
    X: Any, ground: Any, weights: Any, options: Options, *, need_objective: bool
) -> Barycenter:
    """Read the call, find the barycentres beside the main thread, warn once."""
    _refuse_devices(X=X, ground=ground, weights=weights)
    flag("debiased", options.debiased)
    dtype = working_dtype(X, dtype=options.dtype)
    stop = stopping.read(
        dtype, tol=options.tol, max_iter=options.max_iter, iterations=None, solver="auto"
    )
    costs = Ground.of(ground)
    lam = _read_lam(options, costs)
    require_range(costs.max, dtype)
    if options.debiased:
        _require_symmetric(costs)
    family = _read_family(X, costs, dtype, options)
    W, is_one = reading_weights.read(weights, family.n, normalize=options.normalize)
    _check_memory(family, costs, int(np.count_nonzero(W)), dtype)
    request = Request(
        costs, family.dense(slice(None)), W, lam, dtype, bool(options.debiased), stop,
        threads.count(options.workers), need_objective,
    )  # fmt: skip
    ended = Stop()

    def work() -> Found:
        with threads.single_blas_thread():
            return find(request, ended)

    found = beside_main(work, ended)
    _warn(found, stop)
    return _result(found, request, is_one, X, weights)


def _refuse_devices(**named: Any) -> None:
    """Raise for arrays of torch, JAX and CuPy."""
    for name, value in named.items():
        if is_on_device(value):
            raise InputTypeError(
                "Barycentres are computed from NumPy arrays, without gradients: {} is of {}. "
                "Bring it to the host first, as by numpy.asarray.",
                argument(name), kind_of(value),
            )  # fmt: skip


def _read_lam(options: Options, ground: Ground) -> float:
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


def _require_symmetric(ground: Ground) -> None:
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


def _warn(found: Found, stop: stopping.Stopping) -> None:
    """Warn once where barycentres stopped short."""
    short = found.status != Status.CONVERGED
    if not short.any():
        return
    worst = max(float(found.error[short].max()), float(found.self_error[short].max()))
    if (found.status == Status.STALLED).any():
        reason, parts = "rounding allows no further progress", []
    else:
        reason, parts = "stopped at {}", [setting("max_iter", stop.max_iter)]
    message = ConvergenceWarning(
        f"{np.count_nonzero(short)} of {short.size} barycentres did not reach {{}}: {reason}; the "
        f"worst marginal error is {worst:.2g}. Raise {{}} or {{}}.",
        setting("tol", stop.tol), *parts, option("max_iter"), option("tol"),
    )  # fmt: skip
    warn_caller(message)


def _result(found: Found, request: Request, is_one: bool, X: Any, weights: Any) -> Barycenter:
    """Barycentres as the user sees them."""
    histogram = found.histogram.astype(request.dtype)
    labels = pandas_labels(X) if request.ground.shape[0] == request.ground.shape[1] else None
    if labels is not None:
        pandas = sys.modules["pandas"]
        names = weights.index if isinstance(weights, pandas.DataFrame) else None
        frame = pandas.DataFrame(histogram, index=names, columns=labels)
        shown = frame.iloc[0] if is_one else frame
    else:
        shown = histogram[0] if is_one else histogram
    if is_one:
        return Barycenter(
            shown, request.weights[0], Status(found.status[0]), found.error[0],
            found.self_error[0].item(), found.objective[0].item(), found.n_iter[0].item(),
            request.lam, request.debiased,
        )  # fmt: skip
    return Barycenter(
        shown, request.weights, found.status, found.error, found.self_error, found.objective,
        found.n_iter, request.lam, request.debiased,
    )  # fmt: skip
