"""The verbs `barycenter` and `solve_barycenter`: means of histograms under transport."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sinkdist.errors import ConvergenceWarning, warn_caller
from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.arrays import pandas_labels
from sinkdist.inputs.flags import flag
from sinkdist.inputs.named_options import named_options
from sinkdist.means.barycenters import Found, Request
from sinkdist.means.reading import find_beside_main, read_request
from sinkdist.means.result import Barycenter
from sinkdist.problem.options import Options
from sinkdist.solution.status import Status
from sinkdist.wording import option, setting

__all__ = ["barycenter", "solve_barycenter"]


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
        Histograms; bins may be 0. Of torch, JAX and other arrays the barycentre is found on the
        host and put back; it has gradients with respect to `X` and `weights` where not `debiased`.
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
    flag("debiased", options.debiased)
    if is_on_device(X, ground, weights):
        from sinkdist.means import arrays

        return arrays.answered(X, ground, weights, options, need_objective, _warn)
    request, is_one = read_request(X, ground, weights, options, need_objective)
    found = find_beside_main(request)
    _warn(found, request)
    return _result(found, request, is_one, X, weights)


def _warn(found: Found, request: Request) -> None:
    """Warn once where barycentres stopped short."""
    stop = request.stopping
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
