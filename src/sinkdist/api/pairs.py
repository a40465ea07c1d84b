"""The verbs: `solve`, `distance`, `pairwise`.

A verb reads its call (`call`), sends pairs to the solvers, alone or as families (`families`), and
says what came of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.flags import flag, listener
from sinkdist.inputs.histograms import Histograms, working_dtype
from sinkdist.pairs.all_pairs import AllPairs, all_pairs
from sinkdist.pairs.call import Call, read_call, read_families
from sinkdist.pairs.debiasing import debiasing
from sinkdist.pairs.job import job_of
from sinkdist.pairs.matched import coincide, matched
from sinkdist.pairs.report import warn
from sinkdist.problem.stopping import Stopping
from sinkdist.scale import threads
from sinkdist.scale.run import run
from sinkdist.scale.tally import Tally
from sinkdist.solution.plans import on_all_bins
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.pair import solve_interruptibly
from sinkdist.solvers.outcome import RAN, Answers, Outcome

__all__ = ["distance", "pairwise", "solve"]

Array = npt.NDArray[Any]

_FINE = (int(Status.CONVERGED), int(Status.FIXED))


def solve(
    r: Any,
    c: Any,
    ground: Any,
    *,
    lam: float | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    iterations: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    normalize: bool = False,
    on_empty: str = "raise",
    coincidence: bool = False,
    workers: int | None = None,
    progress: Any = False,
) -> Solution:
    """Transport one histogram to another, or many pairs of them, and return all that is known.

    Parameters
    ----------
    r, c : array_like, shape (d,) or (n, d)
        Histograms. Two families are matched row by row; a single histogram is matched with every
        row of a family.
    ground : Ground or array_like
        Costs between the bins of `r` and of `c`; may be rectangular.
    lam, reg, alpha : float
        Exactly one: the paper's lambda, its inverse, or the radius of the Kullback-Leibler ball
        around the independence table (the hard constraint). ``lam=inf`` or ``alpha=inf`` is the
        exact distance, ``lam=0`` or ``alpha=0`` the independence table ``r^T M c``.
    tol : float, optional
        Bound on the L1 violation of the marginals, and with `alpha` on the relative width of the
        value's bracket; 1e-6 in float64, 1e-4 in float32.
    max_iter : int, optional
        Cap on the reads of the kernel; 10,000. A step under way may take some dozens more.
    iterations : int, optional
        Run exactly this many steps of the paper's Algorithm 1 instead, with no test.
    solver : str
        "auto" or a name from `sinkdist.solvers.table.SOLVERS`.
    dtype : {"float32", "float64"}, optional
        What to compute in; by default float32 where all input is, else float64.
    normalize : bool
        Divide histograms by their sums.
    on_empty : {"raise", "nan"}
        Whether histograms without mass are an error or have the distance NaN.
    coincidence : bool
        The paper's indicator: the distance of a histogram to itself becomes 0.
    workers : int, optional
        Threads; all cores by default.
    progress : bool or callable
        Show a bar, or call a function with `Progress` records.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import sinkdist as sd
    >>> s = sd.solve([0.5, 0.5], [0.4, 0.6], sd.Ground.grid(2), lam=3)
    >>> round(s.value, 4), s.converged
    (0.1093, True)
    """
    coincidence, progress = flag("coincidence", coincidence), listener(progress)
    if is_on_device(r, c, ground):
        from sinkdist.pairs.arrays import verbs

        options = verbs.Options(
            lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty,
            coincidence, workers, progress,
        )  # fmt: skip
        return verbs.solve(r, c, ground, options)
    call = read_call(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        working_dtype(r, c, dtype=dtype),
    )  # fmt: skip
    R, C = read_families(r, c, ("r", "c"), call, normalize, on_empty)
    workers = threads.count(workers)
    if progress is False and _is_one_pair(R, C):
        return _solution_of_one(call, R, C, coincidence, workers)
    answers = matched(call.task(True, workers, max(R.n, C.n)), R, C, workers, progress)
    warn(Tally.of(answers.status, answers.error), call.stopping)
    return _solution(call, R, C, answers, coincidence)


def distance(
    r: Any,
    c: Any,
    ground: Any,
    *,
    lam: float | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    iterations: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    normalize: bool = False,
    on_empty: str = "raise",
    coincidence: bool = False,
    workers: int | None = None,
    progress: Any = False,
) -> Any:
    """The Sinkhorn distance ``<P, M>`` of one pair, or of one histogram to many.

    Parameters are those of `solve`.

    Returns
    -------
    float, or ndarray of shape (n,) where `r` or `c` is a family

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.distance([1, 0], [[0, 1], [1, 0]], [[0, 1], [1, 0]], lam=9)
    array([1., 0.])
    """
    coincidence, progress = flag("coincidence", coincidence), listener(progress)
    if is_on_device(r, c, ground):
        from sinkdist.pairs.arrays import verbs

        options = verbs.Options(
            lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty,
            coincidence, workers, progress,
        )  # fmt: skip
        return verbs.distance(r, c, ground, options)
    call = read_call(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        working_dtype(r, c, dtype=dtype),
    )  # fmt: skip
    R, C = read_families(r, c, ("r", "c"), call, normalize, on_empty)
    workers = threads.count(workers)
    if progress is False and _is_one_pair(R, C):
        outcome, _, _ = solve_interruptibly(call.task(False, workers), R.rows[0], C.rows[0])
        _warn_of_one(outcome, call.stopping)
        return 0.0 if coincidence and coincide(R, C)[0] else outcome.value
    answers = matched(call.task(False, workers, max(R.n, C.n)), R, C, workers, progress)
    warn(Tally.of(answers.status, answers.error), call.stopping)
    value = answers.value.astype(call.dtype, copy=False)
    if coincidence:
        value[coincide(R, C)] = 0.0
    return value[0].item() if R.is_vector and C.is_vector else value


def pairwise(
    X: Any,
    Y: Any = None,
    *,
    ground: Any,
    lam: float | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    iterations: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    normalize: bool = False,
    on_empty: str = "raise",
    coincidence: bool = False,
    debiased: bool = False,
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Distances between all rows of one family, or of two.

    For one family under a symmetric ground, each pair ``i <= j`` is computed once, as the distance
    from row i to row j, and mirrored. The diagonal is computed: the Sinkhorn distance of a
    histogram to itself is positive unless `coincidence` is asked for.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Histograms.
    Y : array_like, shape (m, d), optional
        Other histograms.
    ground : Ground or array_like
        Costs between bins.
    lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty, coincidence,
    workers, progress
        As for `solve`.
    debiased : bool
        The Sinkhorn divergence instead, as by `divergence`: 0 for equal histograms.
    memory : str or int, optional
        A budget for this process, such as ``"2GB"``; three quarters of what is free by default.
    out : str or path, optional
        Store the matrix on disk, tile by tile, and return it as a `StoredMatrix`. The same call
        goes on where an earlier one was stopped; nothing that was finished is computed again.
    overwrite : bool
        Replace a matrix at `out` that another call has stored. One that the same call has begun is
        continued all the same.
    client : dask.distributed.Client, optional
        Run on a cluster instead of on threads.

    Returns
    -------
    ndarray of shape (n, n) or (n, m), or StoredMatrix where `out` is given

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.pairwise([[1, 0], [0, 1]], ground=[[0, 2], [2, 0]], lam=9)
    array([[0., 2.],
           [2., 0.]])
    """
    coincidence, debiased = flag("coincidence", coincidence), flag("debiased", debiased)
    overwrite, progress = flag("overwrite", overwrite), listener(progress)
    if is_on_device(X, Y, ground):
        from sinkdist.pairs.arrays import debiased as debiased_verbs
        from sinkdist.pairs.arrays import verbs

        options = verbs.Options(
            lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty,
            coincidence, workers, progress,
        )  # fmt: skip
        refused = {"out": out, "client": client, "memory": memory, "overwrite": overwrite or None}
        for option, value in refused.items():
            if value is not None:
                raise InputError(
                    f"The '{option}' option is for NumPy arrays: bring these to the host first, as "
                    "by numpy.asarray."
                )
        home = debiased_verbs if debiased else verbs
        matrix: Array = home.pairwise(X, Y, ground, options)
        return matrix
    call = read_call(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        working_dtype(X, Y, dtype=dtype),
    )  # fmt: skip
    one_family = Y is None
    A, B = read_families(
        X, X if one_family else Y, ("X", "X" if one_family else "Y"), call, normalize, on_empty
    )
    for family, name in ((A, "X"), (B, "Y")):
        if family.is_vector:
            raise InputError(
                f"'{name}' must be a family of histograms, one per row. "
                f"Got one histogram of {family.d} bins: pass {name}[None], or use distance."
            )
    asked, workers = workers, threads.count(workers)
    pairs = AllPairs(
        call, A, B, one_family=one_family, coincidence=coincidence, need_error=out is not None,
        workers=asked, postprocess=debiasing(call, A, B, workers) if debiased else None,
    )  # fmt: skip
    result: Any
    if out is None and client is None and not overwrite:
        result, tally = all_pairs(pairs, workers, progress, memory)
    else:
        result, tally = run(
            job_of(pairs), out=out, overwrite=overwrite, budget=memory, workers=workers,
            progress=progress, client=client,
        )  # fmt: skip
    warn(tally, call.stopping)
    return result


def _is_one_pair(R: Histograms, C: Histograms) -> bool:
    """Whether two plain histograms with mass were given: no need of tiles and threads."""
    return (
        R.is_vector and C.is_vector and R.empty is None and C.empty is None
        and isinstance(R.rows, np.ndarray) and isinstance(C.rows, np.ndarray)
    )  # fmt: skip


def _solution_of_one(
    call: Call, R: Histograms, C: Histograms, coincidence: bool, workers: int
) -> Solution:
    """Solve one pair."""
    outcome, rows, columns = solve_interruptibly(call.task(True, workers), R.rows[0], C.rows[0])
    _warn_of_one(outcome, call.stopping, depth=5)
    value = 0.0 if coincidence and coincide(R, C)[0] else outcome.value
    assert outcome.f is not None and outcome.g is not None
    f = on_all_bins(outcome.f, rows, R.d, -np.inf)
    g = on_all_bins(outcome.g, columns, C.d, -np.inf)
    return Solution(
        value, outcome.error, outcome.n_iter, Status(outcome.status), RAN[outcome.solver],
        outcome.lam, (f, g), call.ground, R.copy(), C.copy(), [outcome.plan], [outcome.bracket],
    )  # fmt: skip


def _solution(
    call: Call, R: Histograms, C: Histograms, answers: Answers, coincidence: bool
) -> Solution:
    """Many answers as the user sees them."""
    value = answers.value.astype(call.dtype, copy=False)
    if coincidence:
        value[coincide(R, C)] = 0.0
    f, g = answers.f, answers.g
    assert f is not None and g is not None
    names = np.array(RAN)[answers.solver]
    if R.is_vector and C.is_vector:
        return Solution(
            value[0].item(), answers.error[0].item(), answers.n_iter[0].item(),
            Status(answers.status[0]), str(names[0]), answers.lam[0].item(), (f[0], g[0]),
            call.ground, R.copy(), C.copy(), answers.plans, answers.brackets,
        )  # fmt: skip
    lam = call.strength.lam if np.isnan(call.strength.alpha) else answers.lam
    return Solution(
        value, answers.error, answers.n_iter, answers.status, names, lam, (f, g), call.ground,
        R.copy(), C.copy(), answers.plans, answers.brackets,
    )  # fmt: skip


def _warn_of_one(outcome: Outcome, stop: Stopping, depth: int = 4) -> None:
    """The warning for a single pair, if it stopped short."""
    if outcome.status not in _FINE:
        warn(Tally({outcome.status: 1}, {outcome.status: outcome.error}), stop, depth)
