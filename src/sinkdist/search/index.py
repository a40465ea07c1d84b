"""`Index`: a family of histograms, prepared once for any number of queries."""

from __future__ import annotations

import threading
from typing import Any

from sinkdist.errors import InputError
from sinkdist.inputs import histograms
from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.messages import not_a_family
from sinkdist.inputs.named_options import named_options
from sinkdist.pairs.reading import check_flags, read_problem
from sinkdist.pairs.report import warn
from sinkdist.problem.options import Options
from sinkdist.problem.problem import Problem
from sinkdist.scale import threads
from sinkdist.search.asking import check_heuristic, rule_of
from sinkdist.search.candidates import Candidates
from sinkdist.search.engine import Engine
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.projections import Features
from sinkdist.search.ranking import Rule
from sinkdist.search.running import Place, run
from sinkdist.search.tile_search import TileSearch
from sinkdist.wording import argument

__all__ = ["Index", "read_queries", "refuse_device"]

_QUERIES = 1000  #: that an index is prepared for


class Index:
    """A family of histograms that is searched more than once.

    Costs are checked, features of the rows computed and rows sorted out once. Threads may share an
    index: queries change nothing, and `add` replaces what they read as a whole.

    Parameters
    ----------
    Y : array_like, shape (m, d)
        Histograms; they are copied unless they fit.
    ground : Ground or array_like
        Costs between the bins of queries (rows) and of `Y` (columns).
    lam, reg, alpha, tol, max_iter, iterations, solver, dtype, normalize, on_empty, coincidence
        As for `neighbors`.

    Examples
    --------
    >>> import sinkdist as sd
    >>> index = sd.Index([[1, 0, 0], [0, 0, 1]], sd.Ground.grid(3), lam=float("inf"))
    >>> index
    Index(2 x 3 histograms, exact distance, by a closed form)
    >>> index.query([[0, 0.1, 0.9]], k=1).indices
    array([[1]])
    """

    @named_options
    def __init__(
        self,
        Y: Any,
        ground: Any,
        *,
        lam: float | str | None = None,
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
    ) -> None:
        options = Options(
            lam=lam, reg=reg, alpha=alpha, tol=tol, max_iter=max_iter, iterations=iterations,
            solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
            coincidence=coincidence,
        )  # fmt: skip
        check_flags(options)
        refuse_device(Y, ground)
        problem = read_problem(Y, None, ground, options)
        family = read_queries(Y, "Y", problem, problem.ground.shape[1])
        self._set(Engine(problem, Candidates.of(family), _QUERIES))

    def _set(self, engine: Engine) -> None:
        self._engine, self._adding = engine, threading.Lock()

    @classmethod
    def _of(cls, engine: Engine) -> Index:
        """An index around what is prepared already."""
        index = cls.__new__(cls)
        index._set(engine)
        return index

    def query(
        self,
        X: Any,
        k: int = 10,
        *,
        budget: int | None = None,
        order: str = "proven",
        workers: int | None = None,
        progress: Any = False,
    ) -> Neighbors:
        """The k nearest rows for each row of `X`; options are those of `neighbors`."""
        return self._search(X, rule_of(k, None, budget, order), workers, progress)

    def radius(
        self,
        X: Any,
        radius: float,
        *,
        budget: int | None = None,
        order: str = "proven",
        workers: int | None = None,
        progress: Any = False,
    ) -> Neighbors:
        """All rows within a distance of each row of `X`; options are those of `neighbors`."""
        return self._search(X, rule_of(None, radius, budget, order), workers, progress)

    def add(self, rows: Any) -> Index:
        """Add histograms behind the others; the index itself is returned.

        Queries under way see the family as it was.

        Examples
        --------
        >>> import sinkdist as sd
        >>> index = sd.Index([[1, 0]], [[0, 1], [1, 0]], lam=float("inf"))
        >>> len(index.add([[0.5, 0.5], [0, 1]]))
        3
        """
        with self._adding:
            engine = self._engine
            problem, projections = engine.problem, engine.cascade.projections
            refuse_device(rows)
            new = Candidates.of(read_queries(rows, "rows", problem, problem.ground.shape[1]))
            known = None if projections is None else Features(projections.weights)
            self._engine = Engine(problem, engine.candidates.joined(new), _QUERIES, known)
        return self

    def save(self, folder: Any, *, overwrite: bool = False) -> None:
        """Write the index to a folder, from which `open_index` reads it without computing it."""
        from sinkdist.search.stored import save

        save(self._engine, folder, overwrite=overwrite)

    def __len__(self) -> int:
        """The number of histograms."""
        return self._engine.candidates.n

    def __repr__(self) -> str:
        engine = self._engine
        words = " and ".join(engine.bounds) or "no bounds"
        return (
            f"Index({engine.candidates.n} x {engine.candidates.d} histograms, "
            f"{engine.problem.member.word} distance, by {words})"
        )

    def _search(self, X: Any, rule: Rule, workers: Any, progress: Any) -> Neighbors:
        engine = self._engine
        check_heuristic(engine.problem, rule)
        check_flags(Options(progress=progress))
        refuse_device(X)
        queries = read_queries(X, "X", engine.problem, engine.problem.ground.shape[0])
        search = TileSearch(engine.problem, queries, engine, rule, own=False)
        found, tally = run(search, Place(threads.count(workers), progress))
        warn(tally, engine.problem.stopping)
        return found


def read_queries(values: Any, name: str, problem: Problem, bins: int) -> Histograms:
    """A family of histograms, checked."""
    family = histograms.read(
        values, name, dtype=problem.dtype, bins=bins, normalize=problem.options.normalize,
        on_empty=problem.options.on_empty,
    )  # fmt: skip
    if family.is_vector:
        raise not_a_family(name, family.d)
    return family


def refuse_device(*arrays: Any) -> None:
    """Raise for arrays of torch, JAX and CuPy."""
    if is_on_device(*arrays):
        raise InputError(
            "Neighbours are searched on NumPy arrays: bring {} to the host first, as by "
            "numpy.asarray.",
            argument("X"),
        )
