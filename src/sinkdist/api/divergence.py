"""The verb `divergence`: the Sinkhorn distance without its bias, zero for equal histograms."""

from __future__ import annotations

from typing import Any

from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.labels import as_series
from sinkdist.inputs.named_options import named_options
from sinkdist.pairs.debiasing import debiasing
from sinkdist.pairs.matched import matched
from sinkdist.pairs.reading import check_flags, read_families, read_problem
from sinkdist.pairs.report import warn
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.scale.tally import Tally
from sinkdist.solvers.prepared import Wishes

__all__ = ["divergence"]


@named_options
def divergence(
    r: Any,
    c: Any,
    ground: Any,
    *,
    lam: float | str | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    mass_penalty: float | tuple[float, float] | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    iterations: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
) -> Any:
    """The Sinkhorn divergence of one pair, or of pairs matched as in `distance`.

    ``S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2``, with ``OT`` the `Solution.objective`. The
    entropies of `r` and `c` cancel, so it does not matter whether the objective penalises
    ``-h(P)`` or ``KL(P || r c^T)``. It is 0 for equal histograms, and positive for others where the
    kernel ``exp(-lam M)`` is positive definite: for Euclidean and cityblock distances between
    points and for squared Euclidean ones, at any `lam`. For other costs it may be negative, and is
    returned as it is.

    Parameters
    ----------
    r, c : array_like, shape (d,) or (n, d)
        Histograms, matched as in `distance`.
    ground : Ground or array_like, shape (d, d)
        Symmetric costs between the bins.
    lam, reg : float
        Exactly one. ``lam=inf`` is the exact distance, less half the exact distances of both
        histograms to themselves (0 where staying is free); ``lam=0`` is
        ``r^T M c - (r^T M r + c^T M c) / 2``, half the energy distance.
    alpha : float
        Only its limits, 0 and inf, which are those of `lam`.
    mass_penalty : float, optional
        As for `solve`, the same on both sides: then ``(sqrt(m) - sqrt(n))^2 / (2 lam)`` is added,
        with ``m, n`` the masses of `r` and `c`, which keeps it from being negative.
    tol, max_iter, iterations, solver, dtype, normalize, on_empty, workers, progress
        As for `solve`. With `iterations`, only the pairs stop there: the result is a lower bound.

    Returns
    -------
    float, or ndarray of shape (n,) where `r` or `c` is a family
        A Series with the row labels of a DataFrame.
        For torch, JAX and CuPy arrays, an array of their kind, which can be differentiated.

    Examples
    --------
    >>> import sinkdist as sd
    >>> ground = sd.Ground.grid(3)
    >>> sd.divergence([0.5, 0.5, 0], [0.5, 0.5, 0], ground, lam=2)
    0.0
    >>> sd.divergence([0.5, 0.5, 0], [[0, 0.5, 0.5], [0.5, 0, 0.5]], ground, lam=2).round(4)
    array([0.7169, 0.4728])
    """
    options = Options(
        lam=lam, reg=reg, alpha=alpha, mass_penalty=mass_penalty, tol=tol, max_iter=max_iter,
        iterations=iterations, solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        workers=workers, progress=progress,
    )  # fmt: skip
    check_flags(options)
    if is_on_device(r, c, ground):
        from sinkdist.pairs.arrays import debiased

        return debiased.divergence(r, c, ground, options)
    problem = read_problem(r, c, ground, options)
    R, C = read_families(r, c, ("r", "c"), problem)
    count = threads.count(workers)
    postprocess = debiasing(problem, R, C, count)
    wishes = Wishes(postprocess.keep, pairs=max(R.n, C.n), workers=count)
    answers = matched(problem.member.prepare(problem, wishes), R, C, count, progress, postprocess)
    warn(Tally.of(answers.status, answers.error), problem.stopping)
    value = answers.value.astype(problem.dtype, copy=False)
    return value[0].item() if R.is_vector and C.is_vector else as_series(value, r, c)
