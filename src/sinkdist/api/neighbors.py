"""The verb `neighbors`: the nearest rows of a family, without solving most of the pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sinkdist.classic import formulas
from sinkdist.classic.pairs import Families
from sinkdist.classic.pairs import read_families as read_classic
from sinkdist.errors import InputError
from sinkdist.inputs.labels import row_labels
from sinkdist.inputs.named_options import named_options
from sinkdist.pairs.reading import check_flags, read_families, read_problem, require_families
from sinkdist.pairs.report import warn
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.search.asking import check_heuristic, rule_of
from sinkdist.search.engine import assemble
from sinkdist.search.index import refuse_device
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.query import Answer
from sinkdist.search.ranking import Rule
from sinkdist.search.running import Place, run
from sinkdist.search.tile_search import TileSearch
from sinkdist.search.waves import KnownPairs
from sinkdist.wording import option, setting

__all__ = ["neighbors"]

TRANSPORT = "transport"
#: Distances that know no ground, by name.
_CLASSIC = {
    x.name: x
    for x in (
        formulas.EUCLIDEAN, formulas.SQEUCLIDEAN, formulas.HELLINGER, formulas.CHI2,
        formulas.TOTAL_VARIATION,
    )
}  # fmt: skip
_ROWS = 4096  #: of the second family that are compared at once
_QUERIES = 64  #: of the first


@named_options
def neighbors(
    X: Any,
    Y: Any = None,
    *,
    ground: Any = None,
    k: int | None = None,
    radius: float | None = None,
    lam: float | str | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    distance: str = TRANSPORT,
    budget: int | None = None,
    order: str = "proven",
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
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Neighbors:
    """For each row of `X` its nearest rows of `Y`, exactly, solving few of the pairs.

    Every solve proves lower bounds on the distances to all other rows; rows that are proven to be
    farther than k others are never solved. Of one family, each row's nearest others are found: a
    row is not its own neighbour, but rows that equal it are; where costs are symmetric, a pair that
    was solved for one row is known to the other.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Histograms: the queries.
    Y : array_like, shape (m, d), optional
        Histograms that are searched; `X` itself if they are left out.
    ground : Ground or array_like
        Costs from the bins of `X` to those of `Y`.
    k : int, optional
        How many neighbours; 10, unless a radius is given.
    radius : float, optional
        All rows within this distance; with `k`, at most the k nearest of them.
    lam, reg, alpha : float
        Exactly one, as for `solve`. Bounds on the exact distance (``lam=inf``) and on the hard
        constraint (`alpha`) are tight. At a finite lam only the exact distance is a proven bound,
        so that many more pairs have to be solved.
    distance : str
        "transport", or a distance that knows no ground, for comparison: "euclidean",
        "sqeuclidean", "hellinger", "chi2", "total_variation".
    budget : int, optional
        The most pairs to solve for a query. The best found are returned; ``proven`` tells which
        cannot be improved.
    order : {"proven", "heuristic"}
        At a finite lam, "heuristic" lets an estimate of the distance end the search; ``proven``
        then tells how little is.
    tol, max_iter, iterations, solver, dtype, normalize, on_empty, coincidence, workers, progress
        As for `solve`. Plans of a fixed number of `iterations` are no couplings: nothing bounds
        their cost, and all pairs are solved. Rows without mass are nobody's neighbours.
    memory : str or int, optional
        A budget for this process, such as ``"2GB"``; three quarters of what is free by default.
    out : str or path, optional
        Store the neighbours on disk as well, tile by tile. The same call resumes where an earlier
        one was stopped; no finished tile is computed again. `open_neighbors` reads them.
    overwrite : bool
        Replace neighbours at `out` that another call has stored.
    client : dask.distributed.Client, optional
        Run on a cluster instead of on threads.

    Returns
    -------
    Neighbors
        ``indices``, ``distances`` and ``proven`` of shape (n, k), nearest first, ties by index.

    See Also
    --------
    Index : a family that is searched more than once.

    Examples
    --------
    >>> import sinkdist as sd
    >>> X = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]]
    >>> found = sd.neighbors(X, ground=sd.Ground.grid(2, 2), k=1, lam=float("inf"))
    >>> found.indices.ravel(), found.distances.ravel()
    (array([1, 0, 1]), array([0.5       , 0.5       , 1.20710678]))
    """
    options = Options(
        lam=lam, reg=reg, alpha=alpha, tol=tol, max_iter=max_iter, iterations=iterations,
        solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        coincidence=coincidence, workers=workers, progress=progress, k=k, radius=radius,
        budget=budget, order=order, distance=distance, memory=memory, out=out,
        overwrite=overwrite, client=client,
    )  # fmt: skip
    check_flags(options)
    rule, count = rule_of(k, radius, budget, order), threads.count(workers)
    refuse_device(X, Y, ground)
    labels = row_labels(X), row_labels(X if Y is None else Y)
    if distance != TRANSPORT:
        found = _by_classic_distance(X, Y, ground, options, rule, count)
        return replace(found, query_labels=labels[0], labels=labels[1])
    if ground is None:
        raise InputError(
            "Neighbours under transport need costs between bins: pass {}, a Ground or a matrix.",
            option("ground"),
        )
    problem = read_problem(X, Y, ground, options)
    check_heuristic(problem, rule)
    A, B = read_families(X, X if Y is None else Y, ("X", "X" if Y is None else "Y"), problem)
    require_families(A, B)
    search = TileSearch(problem, A, B, rule, own=Y is None)
    found, tally = run(search, Place(count, progress, memory, out, overwrite, client))
    warn(tally, problem.stopping)
    return replace(found, query_labels=labels[0], labels=labels[1])


def _by_classic_distance(
    X: Any, Y: Any, ground: Any, options: Options, rule: Rule, workers: int
) -> Neighbors:
    """Neighbours under a distance between histograms, bin by bin: all pairs are computed."""
    if not isinstance(options.distance, str) or options.distance not in _CLASSIC:
        names = ", ".join(map(repr, (TRANSPORT, *list(_CLASSIC)[:-1])))
        raise InputError(
            "The {} option must be {} or {!r}. Got {!r} instead.",
            option("distance"), names, list(_CLASSIC)[-1], options.distance,
        )  # fmt: skip
    for name in ("lam", "reg", "alpha", "iterations", "tol", "max_iter"):
        if getattr(options, name) is not None or (ground is not None and name == "lam"):
            what = "ground" if ground is not None else name
            raise InputError(
                "{} is computed bin by bin: leave out {}.",
                setting("distance", options.distance), option(what),
            )  # fmt: skip
    for name in ("out", "client", "memory", "overwrite"):
        if getattr(options, name) not in (None, False):
            raise InputError(
                "{} is computed at once, in memory: leave out {}.",
                setting("distance", options.distance), option(name),
            )  # fmt: skip
    families, formula = read_classic(X, Y, options), _CLASSIC[options.distance]
    answers: dict[int, Answer] = {}
    first, second = families.X, families.other
    between = formula.formula(first.n * second.n, first.d)

    def work(start: int) -> None:
        rows = slice(start, min(start + _QUERIES, first.n))
        parts = [
            between(first.dense(rows), second.dense(slice(a, a + _ROWS)))
            for a in range(0, second.n, _ROWS)
        ]
        for at, values in zip(range(rows.start, rows.stop), np.concatenate(parts, 1), strict=True):
            if first.empty is None or not first.empty[at]:
                answers[at] = _smallest(values, _left_out(families, at), rule)

    threads.run(range(0, first.n, _QUERIES), work, workers)
    return assemble(answers, first.n, second.n, rule.k, first.dtype, ())


def _left_out(families: Families, query: int) -> Any:
    """Which rows are no neighbours: those without mass, and the query itself."""
    other = families.other
    left_out = np.zeros(other.n, bool) if other.empty is None else other.empty.copy()
    if families.Y is None:
        left_out[query] = True
    return left_out


def _smallest(values: Any, left_out: Any, rule: Rule) -> Answer:
    """The nearest of all rows."""
    index = np.flatnonzero(~left_out)
    index = index[np.lexsort((index, values[index]))]
    index = index[values[index] <= rule.radius][: rule.k]
    nothing = np.zeros(0)
    proven = np.ones(index.size, bool)
    solved = int((~left_out).sum())
    status, pairs = nothing.astype(np.int8), KnownPairs.none()
    return Answer(index, values[index], proven, solved, status, nothing, pairs)
