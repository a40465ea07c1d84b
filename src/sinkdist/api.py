"""The verbs: `solve`, `distance`, `pairwise`.

Input is read and rejected before any work (`histograms`, `strength`, `stopping`), then pairs go to the
solvers in tiles. One pair is a tile of one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist import histograms, stopping, strength
from sinkdist.errors import ConvergenceWarning, InputError
from sinkdist.ground import Ground
from sinkdist.histograms import Histograms
from sinkdist.scale import threads
from sinkdist.scale.progress import counting
from sinkdist.scale.tiles import Fan, fans, support_order
from sinkdist.solution import Solution, Status
from sinkdist.solvers import table
from sinkdist.solvers.outcome import RAN, Answers, Outcome
from sinkdist.solvers.pair import Task, solve_pair
from sinkdist.solvers.tile import solve_tile
from sinkdist.stopping import Stopping

__all__ = ["distance", "pairwise", "solve"]

Array = npt.NDArray[Any]

_TILE_PAIRS = 256
#: lam times the largest cost beyond which the entropy is lost in rounding; a larger lam is solved here,
#: and `Solution.lam` says so.
_STRONGEST = 1e11
_LARGE_KERNEL = 1 << 19  #: entries from which a kernel is built on threads
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
        Histograms. Two families are matched row by row; a single histogram is matched with every row
        of a family.
    ground : Ground or array_like
        Costs between the bins of `r` and of `c`; may be rectangular.
    lam, reg, alpha : float
        Exactly one: the paper's lambda, its inverse, or the radius of the entropy ball.
    tol : float, optional
        Bound on the L1 violation of the marginals; 1e-6 in float64, 1e-4 in float32.
    max_iter : int, optional
        Cap on the reads of the kernel; 10,000.
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
    call = _read(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        histograms.working_dtype(r, c, dtype=dtype),
    )  # fmt: skip
    R, C = _families(r, c, ("r", "c"), call, normalize, on_empty)
    workers = threads.count(workers)
    if progress is False and _is_one_pair(R, C):
        return _solution_of_one(call, R, C, coincidence, workers)
    answers = _matched(call.task(True, workers), R, C, workers, progress)
    _warn(answers.status, answers.error, call.stopping)
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
    call = _read(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        histograms.working_dtype(r, c, dtype=dtype),
    )  # fmt: skip
    R, C = _families(r, c, ("r", "c"), call, normalize, on_empty)
    workers = threads.count(workers)
    if progress is False and _is_one_pair(R, C):
        outcome, _, _ = solve_pair(call.task(False, workers), R.rows[0], C.rows[0])
        _warn_of_one(outcome, call.stopping)
        return 0.0 if coincidence and _coincide(R, C)[0] else outcome.value
    answers = _matched(call.task(False, workers), R, C, workers, progress)
    _warn(answers.status, answers.error, call.stopping)
    value = answers.value.astype(call.dtype, copy=False)
    if coincidence:
        value[_coincide(R, C)] = 0.0
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
    workers: int | None = None,
    progress: Any = False,
) -> Array:
    """Distances between all rows of one family, or of two.

    For one family under a symmetric ground, each pair ``i <= j`` is computed once, as the distance from
    row i to row j, and mirrored. The diagonal is computed: the Sinkhorn distance of a histogram to itself is
    positive unless `coincidence` is asked for.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Histograms.
    Y : array_like, shape (m, d), optional
        Other histograms.
    ground : Ground or array_like
        Costs between bins.
    lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty, coincidence, workers, progress
        As for `solve`.

    Returns
    -------
    ndarray of shape (n, n) or (n, m)

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.pairwise([[1, 0], [0, 1]], ground=[[0, 2], [2, 0]], lam=9)
    array([[0., 2.],
           [2., 0.]])
    """
    call = _read(
        ground, lam, reg, alpha, tol, max_iter, iterations, solver,
        histograms.working_dtype(X, Y, dtype=dtype),
    )  # fmt: skip
    one_family = Y is None
    A, B = _families(X, X if one_family else Y, ("X", "X" if one_family else "Y"), call, normalize, on_empty)
    for family, name in ((A, "X"), (B, "Y")):
        if family.is_vector:
            raise InputError(
                f"'{name}' must be a family of histograms, one per row. "
                f"Got one histogram of {family.d} bins: pass {name}[None], or use distance."
            )
    values, status, error = _all_pairs(call, A, B, one_family, threads.count(workers), progress)
    _warn(status, error, call.stopping)
    if coincidence:
        values[_same(A, B)] = 0.0
        values[_empty(A)], values[:, _empty(B)] = np.nan, np.nan
    return values


# -------------------------------------------------------------------------------------------- reading a call


@dataclass(frozen=True, slots=True)
class _Call:
    """What was asked for, checked."""

    ground: Ground
    lam: float
    stopping: Stopping
    solver: table.Solver
    dtype: np.dtype[Any]

    def task(self, keep: bool, workers: int) -> Task:
        """The same for the solvers; float32 is promoted where it cannot represent the kernel."""
        gibbs = self.ground.gibbs(self.lam, self.dtype)
        if not gibbs.fits and self.dtype == np.float32:
            gibbs = self.ground.gibbs(self.lam, np.dtype(np.float64))
        if gibbs.fits and gibbs.matrix.size > _LARGE_KERNEL and workers > 1:
            gibbs.build(lambda bands, fill: threads.run(bands, fill, workers))
        stop = self.stopping
        return Task(gibbs, self.solver, stop.tol, stop.max_iter, stop.iterations, keep)


def _read(
    ground: Any, lam: Any, reg: Any, alpha: Any, tol: Any, max_iter: Any, iterations: Any, solver: Any,
    dtype: np.dtype[Any],
) -> _Call:  # fmt: skip
    """Check all that is not a histogram."""
    chosen = table.by_name(solver)
    stop = stopping.read(dtype, tol=tol, max_iter=max_iter, iterations=iterations, solver=chosen.name)
    ground, asked = Ground.of(ground), strength.read(lam=lam, reg=reg, alpha=alpha).lam
    if asked * ground.max > _STRONGEST:
        asked = _STRONGEST / ground.max
    return _Call(ground, asked, stop, chosen, dtype)


def _families(
    first: Any, second: Any, names: tuple[str, str], call: _Call, normalize: bool, on_empty: str
) -> tuple[Histograms, Histograms]:
    """Read both sides of a call; one family given twice is read once."""
    if first is not second:
        histograms.check_same_bins(first, second, *names)
    rows, columns = call.ground.shape
    a = histograms.read(
        first, names[0], dtype=call.dtype, bins=rows, normalize=normalize, on_empty=on_empty
    )
    if first is second and rows == columns:
        return a, a
    b = histograms.read(
        second, names[1], dtype=call.dtype, bins=columns, normalize=normalize, on_empty=on_empty
    )
    return a, b


# ------------------------------------------------------------------------------------------------------- work


def _matched(task: Task, R: Histograms, C: Histograms, workers: int, progress: Any) -> Answers:
    """Row by row, one histogram against every row where one side has only one."""
    if not (R.is_vector or C.is_vector or R.n == C.n):
        raise InputError(
            f"'r' has {R.n} rows and 'c' has {C.n}: families are matched row by row. "
            "Use pairwise for all pairs."
        )
    pairs = C.n if R.is_vector else R.n
    answers = Answers.blank(pairs, task.gibbs.matrix.shape, task.keep)
    full = np.flatnonzero(~(_empty(R) | _empty(C)))

    def work(chosen: Array) -> None:
        left = _rows(R, None if R.is_vector else chosen)
        right = _rows(C, None if C.is_vector else chosen)
        part = solve_tile(task, left, right if len(right) == chosen.size else right.repeat(chosen.size, 0))
        answers.put(chosen, part)
        if task.keep:
            answers.f[chosen], answers.g[chosen] = part.f, part.g  # type: ignore[index]
        counter.add(chosen.size, _unconverged(part))

    size = min(_TILE_PAIRS, -(-full.size // workers)) or 1
    with counting(progress, full.size) as counter:
        threads.run((full[k : k + size] for k in range(0, full.size, size)), work, workers, task.stop)
    return answers


def _all_pairs(
    call: _Call, A: Histograms, B: Histograms, one_family: bool, workers: int, progress: Any
) -> tuple[Array, Array, Array]:
    """Values, status and error of every pair of two families."""
    task = call.task(False, workers)
    mirrored = one_family and call.ground.is_symmetric
    values = np.full((A.n, B.n), np.nan, call.dtype)
    status = np.full((A.n, B.n), Status.EMPTY, np.int8)
    error = np.zeros((A.n, B.n), np.float32)
    empty_rows, empty_columns = _empty(A), _empty(B)
    order = support_order(B.rows)
    order = order[~empty_columns[order]]

    def work(fan: Fan) -> None:
        if empty_rows[fan.i]:
            return
        part = solve_tile(task, _rows(A, np.array([fan.i])), _rows(B, fan.j))
        values[fan.i, fan.j], status[fan.i, fan.j], error[fan.i, fan.j] = part.value, part.status, part.error
        if mirrored:
            values[fan.j, fan.i] = part.value
        counter.add(fan.j.size, _unconverged(part))

    rows = int((~empty_rows).sum())
    total = rows * (rows + 1) // 2 if mirrored else rows * order.size
    with counting(progress, total) as counter:
        plan = fans(A.n, order, _TILE_PAIRS, upper=mirrored)
        threads.run(plan, work, workers, task.stop)
    return values, status, error


def _rows(family: Histograms, index: Array | None) -> Array:
    """Dense rows; None for all of them."""
    return family.dense(slice(None) if index is None else index)


def _empty(family: Histograms) -> Array:
    """Which rows are without mass."""
    return np.zeros(family.n, bool) if family.empty is None else family.empty


def _unconverged(answers: Answers) -> int:
    """Pairs that stopped short."""
    return int(np.count_nonzero(_short(answers.status)))


def _short(status: Array) -> Array:
    """Whether each pair stopped short of the tolerance."""
    return np.asarray((status == Status.MAX_ITER) | (status == Status.STALLED))


# ---------------------------------------------------------------------------------------------------- answers


def _is_one_pair(R: Histograms, C: Histograms) -> bool:
    """Whether two plain histograms with mass were given: the quick way, without tiles and threads."""
    return (
        R.is_vector and C.is_vector and R.empty is None and C.empty is None
        and isinstance(R.rows, np.ndarray) and isinstance(C.rows, np.ndarray)
    )  # fmt: skip


def _solution_of_one(
    call: _Call, R: Histograms, C: Histograms, coincidence: bool, workers: int
) -> Solution:
    """Solve one pair."""
    outcome, rows, columns = solve_pair(call.task(True, workers), R.rows[0], C.rows[0])
    _warn_of_one(outcome, call.stopping, depth=5)
    value = 0.0 if coincidence and _coincide(R, C)[0] else outcome.value
    f, g = _spread(outcome.f, rows, R.d), _spread(outcome.g, columns, C.d)
    return Solution(
        value, outcome.error, outcome.n_iter, Status(outcome.status), RAN[outcome.solver], call.lam,
        (f, g), call.ground, R, C,
    )  # fmt: skip


def _spread(potential: Any, bins: Array | None, size: int) -> Array:
    """A potential on all bins: -inf on those without mass."""
    if bins is None:
        return np.asarray(potential)
    out = np.full(size, -np.inf)
    out[bins] = potential
    return out


def _solution(call: _Call, R: Histograms, C: Histograms, answers: Answers, coincidence: bool) -> Solution:
    """Many answers as the user sees them."""
    value = answers.value.astype(call.dtype, copy=False)
    if coincidence:
        value[_coincide(R, C)] = 0.0
    f, g = answers.f, answers.g
    assert f is not None and g is not None
    names = np.array(RAN)[answers.solver]
    if R.is_vector and C.is_vector:
        return Solution(
            value[0].item(), answers.error[0].item(), answers.n_iter[0].item(),
            Status(answers.status[0]), str(names[0]), call.lam, (f[0], g[0]), call.ground, R, C,
        )  # fmt: skip
    return Solution(
        value, answers.error, answers.n_iter, answers.status, names, call.lam, (f, g), call.ground, R, C
    )


def _warn_of_one(outcome: Outcome, stop: Stopping, depth: int = 4) -> None:
    """The warning for a single pair, if it stopped short."""
    if outcome.status not in _FINE:
        _warn(np.array([outcome.status]), np.array([outcome.error]), stop, depth)


def _warn(status: Array, error: Array, stop: Stopping, depth: int = 3) -> None:
    """One warning for all pairs that stopped short."""
    short = _short(status)
    count = int(np.count_nonzero(short))
    if count == 0:
        return
    capped = int(np.count_nonzero(status == Status.MAX_ITER))
    reasons = [f"{capped} stopped at max_iter={stop.max_iter}"] if capped else []
    if count > capped:
        reasons.append(f"{count - capped} stalled at the limit of rounding")
    warnings.warn(
        f"{count} of {np.count_nonzero(status != Status.EMPTY)} pairs did not reach tol={stop.tol:g}: {' and '.join(reasons)}; "
        f"the worst marginal error is {float(error[short].max()):.2g}. "
        "Raise max_iter or tol; the emd_bounds of solve hold anyway.",
        ConvergenceWarning,
        stacklevel=depth,
    )


def _coincide(R: Histograms, C: Histograms) -> Array:
    """Which matched pairs are of equal histograms with mass."""
    first, second = _identities(R, C)
    return np.asarray((first == second) & ~(_empty(R) | _empty(C)))


def _same(A: Histograms, B: Histograms) -> Array:
    """Whether each row of one family equals each row of another."""
    first, second = _identities(A, B)
    return np.asarray(first[:, None] == second)


def _identities(A: Histograms, B: Histograms) -> tuple[Array, Array]:
    """A number for each row of two families; equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}

    def number(family: Histograms, k: int) -> int:
        row = _rows(family, np.array([k])) + 0.0  # -0.0 is 0.0
        return numbers.setdefault(row.tobytes(), len(numbers))

    if A is B:
        first = np.array([number(A, k) for k in range(A.n)], int)
        return first, first
    if A.d != B.d:
        return np.arange(A.n), -1 - np.arange(B.n)
    return (
        np.array([number(A, k) for k in range(A.n)], int),
        np.array([number(B, k) for k in range(B.n)], int),
    )
