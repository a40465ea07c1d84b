"""The verbs: `solve`, `distance`, `pairwise`.

A verb writes its options into one record, has the call read (`pairs.reading`), sends the pairs to
the solvers, alone or as families, and warns once if some fell short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.labels import as_frame, as_series, row_labels
from sinkdist.inputs.named_options import named_options
from sinkdist.pairs.all_pairs import AllPairs, all_pairs
from sinkdist.pairs.debiasing import debiasing
from sinkdist.pairs.matched import coincide, matched
from sinkdist.pairs.reading import check_flags, read_families, read_problem, require_families
from sinkdist.pairs.report import warn
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem
from sinkdist.problem.stopping import Stopping
from sinkdist.scale import threads
from sinkdist.scale.tally import Tally
from sinkdist.solution.plans import on_all_bins
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.members import solve_interruptibly
from sinkdist.solvers.outcome import RAN, Answers, Outcome
from sinkdist.solvers.prepared import Wishes
from sinkdist.wording import option

__all__ = ["distance", "pairwise", "solve"]

Array = npt.NDArray[Any]

_FINE = (int(Status.CONVERGED), int(Status.FIXED))


@named_options
def solve(
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
        exact distance, ``lam=0`` or ``alpha=0`` the independence table ``r^T M c``. A text such as
        ``lam="9/median"`` is 9 divided by the median cost: the same in every unit of cost.
    mass_penalty : float or pair of float, optional
        With `lam` or `reg`: marginals are held by this multiple of their Kullback-Leibler
        divergence from `r` and `c` instead of exactly, so that total masses may differ and need not
        be 1. A pair is for the rows and the columns; ``inf`` holds a side exactly, and on both
        sides is the same as None. See ``docs/masses.md``.
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
    options = Options(
        lam=lam, reg=reg, alpha=alpha, mass_penalty=mass_penalty, tol=tol, max_iter=max_iter,
        iterations=iterations, solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        coincidence=coincidence, workers=workers, progress=progress,
    )  # fmt: skip
    check_flags(options)
    if is_on_device(r, c, ground):
        from sinkdist.pairs.arrays import verbs

        return verbs.solve(r, c, ground, options)
    problem = read_problem(r, c, ground, options)
    R, C = read_families(r, c, ("r", "c"), problem)
    count = threads.count(workers)
    if progress is False and _is_one_pair(R, C):
        return _solution_of_one(problem, R, C, threads.count_for_one(workers))
    task = problem.member.prepare(problem, Wishes(True, pairs=max(R.n, C.n), workers=count))
    answers = matched(task, R, C, count, progress)
    warn(Tally.of(answers.status, answers.error), problem.stopping)
    return _solution(problem, R, C, answers)


@named_options
def distance(
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
    coincidence: bool = False,
    workers: int | None = None,
    progress: Any = False,
) -> Any:
    """The Sinkhorn distance ``<P, M>`` of one pair, or of one histogram to many.

    Parameters are those of `solve`.

    Returns
    -------
    float, or ndarray of shape (n,) where `r` or `c` is a family
        A Series with the row labels of a DataFrame.

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.distance([1, 0], [[0, 1], [1, 0]], [[0, 1], [1, 0]], lam=9)
    array([1., 0.])
    """
    options = Options(
        lam=lam, reg=reg, alpha=alpha, mass_penalty=mass_penalty, tol=tol, max_iter=max_iter,
        iterations=iterations, solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        coincidence=coincidence, workers=workers, progress=progress,
    )  # fmt: skip
    check_flags(options)
    if is_on_device(r, c, ground):
        from sinkdist.pairs.arrays import verbs

        return verbs.distance(r, c, ground, options)
    problem = read_problem(r, c, ground, options)
    R, C = read_families(r, c, ("r", "c"), problem)
    count = threads.count(workers)
    alone = progress is False and _is_one_pair(R, C)
    wishes = Wishes(pairs=max(R.n, C.n), workers=threads.count_for_one(workers) if alone else count)
    task = problem.member.prepare(problem, wishes)
    if alone:
        outcome, _, _ = solve_interruptibly(task, R.rows[0], C.rows[0])
        _warn_of_one(outcome, problem.stopping)
        return 0.0 if coincidence and coincide(R, C)[0] else outcome.value
    answers = matched(task, R, C, count, progress)
    warn(Tally.of(answers.status, answers.error), problem.stopping)
    value = answers.value.astype(problem.dtype, copy=False)
    if coincidence:
        value[coincide(R, C)] = 0.0
    return value[0].item() if R.is_vector and C.is_vector else as_series(value, r, c)


@named_options
def pairwise(
    X: Any,
    Y: Any = None,
    *,
    ground: Any,
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
    histogram to itself is positive. What works on matrices of distances (clustering, silhouettes,
    ``scipy.spatial.distance.squareform``, embeddings) wants zeros there: pass ``coincidence=True``,
    or ``debiased=True`` for a distance that is near 0 for histograms that are nearly equal.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Histograms.
    Y : array_like, shape (m, d), optional
        Other histograms.
    ground : Ground or array_like
        Costs between bins.
    lam, reg, alpha, mass_penalty, tol, max_iter, iterations, solver, dtype, normalize, on_empty,
    coincidence, workers, progress
        As for `solve`.
    debiased : bool
        The Sinkhorn divergence instead, as by `divergence`: 0 for equal histograms.
    memory : str or int, optional
        A budget for this process, such as ``"2GB"``; three quarters of what is free by default.
    out : str or path, optional
        Store the matrix on disk, tile by tile, and return it as a `StoredMatrix`. The same call
        resumes where an earlier one was stopped; no finished tile is computed again.
    overwrite : bool
        Replace a matrix at `out` that another call has stored. One that the same call has begun is
        continued all the same.
    client : dask.distributed.Client, optional
        Run on a cluster instead of on threads.

    Returns
    -------
    ndarray of shape (n, n) or (n, m), or StoredMatrix where `out` is given
        A DataFrame where `X` or `Y` is one, with their row labels as its index and its columns.

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.pairwise([[1, 0], [0, 1]], ground=[[0, 2], [2, 0]], lam=9)
    array([[0., 2.],
           [2., 0.]])
    """
    options = Options(
        lam=lam, reg=reg, alpha=alpha, mass_penalty=mass_penalty, tol=tol, max_iter=max_iter,
        iterations=iterations, solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        coincidence=coincidence, workers=workers, progress=progress,
        debiased=debiased, memory=memory, out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    check_flags(options)
    if is_on_device(X, Y, ground):
        from sinkdist.pairs.arrays import debiased as debiased_verbs
        from sinkdist.pairs.arrays import verbs

        _refuse_host_options(options)
        chosen = debiased_verbs if debiased else verbs
        matrix: Array = chosen.pairwise(X, Y, ground, options)
        return matrix
    problem = read_problem(X, Y, ground, options)
    one_family = Y is None
    names = ("X", "X" if one_family else "Y")
    A, B = read_families(X, X if one_family else Y, names, problem)
    require_families(A, B)
    count = threads.count(workers)
    pairs = AllPairs(
        problem, A, B, one_family=one_family, need_error=out is not None, workers=workers,
        postprocess=debiasing(problem, A, B, count) if debiased else None,
    )  # fmt: skip
    result, tally = all_pairs(pairs, count)
    warn(tally, problem.stopping)
    return as_frame(result, row_labels(X), row_labels(X if one_family else Y))


def _refuse_host_options(options: Options) -> None:
    """Raise for options that only NumPy arrays have."""
    for name in ("out", "client", "memory", "overwrite"):
        if getattr(options, name) not in (None, False):
            raise InputError(
                "The {} option is for NumPy arrays: bring these to the host first, as by "
                "numpy.asarray.",
                option(name),
            )


def _is_one_pair(R: Histograms, C: Histograms) -> bool:
    """Whether two plain histograms with mass were given: no need of tiles and threads."""
    return (
        R.is_vector and C.is_vector and R.empty is None and C.empty is None
        and isinstance(R.rows, np.ndarray) and isinstance(C.rows, np.ndarray)
    )  # fmt: skip


def _solution_of_one(problem: Problem, R: Histograms, C: Histograms, workers: int) -> Solution:
    """Solve one pair."""
    task = problem.member.prepare(problem, Wishes(True, workers=workers))
    outcome, rows, columns = solve_interruptibly(task, R.rows[0], C.rows[0])
    _warn_of_one(outcome, problem.stopping)
    value = 0.0 if problem.options.coincidence and coincide(R, C)[0] else outcome.value
    assert outcome.f is not None and outcome.g is not None
    f = on_all_bins(outcome.f, rows, R.d, -np.inf)
    g = on_all_bins(outcome.g, columns, C.d, -np.inf)
    return Solution(
        value, outcome.error, outcome.n_iter, Status(outcome.status), RAN[outcome.solver],
        outcome.lam, (f, g), problem.ground,
        _evidence=problem.member.evidence(R.copy(), C.copy(), [outcome.plan], [outcome.bracket]),
    )  # fmt: skip


def _solution(problem: Problem, R: Histograms, C: Histograms, answers: Answers) -> Solution:
    """Many answers as the user sees them."""
    value = answers.value.astype(problem.dtype, copy=False)
    if problem.options.coincidence:
        value[coincide(R, C)] = 0.0
    f, g = answers.f, answers.g
    assert f is not None and g is not None
    evidence = problem.member.evidence(R.copy(), C.copy(), answers.plans, answers.brackets)
    names = np.array(RAN)[answers.solver]
    if R.is_vector and C.is_vector:
        return Solution(
            value[0].item(), answers.error[0].item(), answers.n_iter[0].item(),
            Status(answers.status[0]), str(names[0]), answers.lam[0].item(), (f[0], g[0]),
            problem.ground, _evidence=evidence,
        )  # fmt: skip
    lam = answers.lam if np.isnan(problem.member.lam) else problem.member.lam
    return Solution(
        value, answers.error, answers.n_iter, answers.status, names, lam, (f, g), problem.ground,
        _evidence=evidence,
    )  # fmt: skip


def _warn_of_one(outcome: Outcome, stop: Stopping) -> None:
    """The warning for a single pair, if it stopped short."""
    if outcome.status not in _FINE:
        warn(Tally({outcome.status: 1}, {outcome.status: outcome.error}), stop)
