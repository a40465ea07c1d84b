"""What a search holds in memory, and whether that fits the budget."""

from __future__ import annotations

import math

import numpy as np

from sinkdist.errors import InputError
from sinkdist.inputs.histograms import Histograms
from sinkdist.scale import memory
from sinkdist.search.candidates import is_sparse
from sinkdist.search.cascade import MANY, copies_costs
from sinkdist.search.engine import SOLVES, TILE
from sinkdist.search.lines import find_lines
from sinkdist.search.tile_search import TileSearch
from sinkdist.wording import option

__all__ = ["bytes_needed", "fit"]

_LIBRARIES, _WORKER = 24 << 20, 4 << 20  #: bytes of compiled code and of a thread's own
_FEATURES = 1500  #: bytes of a row's projections, about, where they are used
_OF_BOUNDS = 12  #: bytes of a first bound: in single precision, then in double
_OF_CANDIDATE = 40  #: bytes of a candidate of a query under way: index, bound, marks
_OF_ANSWER, _OF_NEIGHBOUR, _OF_PAIR = 800, 17, 24  #: bytes of a query's answer, and of its entries
_ALWAYS_FITS = 1 << 26  #: bytes that no budget is looked at for, unless one is given


def bytes_needed(search: TileSearch, at_once: int) -> tuple[int, int]:
    """What all workers share, and what one holds with so many queries bounded together."""
    n, queries = search.searched, search.queries.n
    shared = 0
    if search.family is not None:  # else it is prepared already
        shared = _of_rows(search.family) + (_FEATURES * n if _is_projected(search) else 0)
        shared += _of_costs(search, search.family)
    shared += queries * (_OF_ANSWER + _OF_NEIGHBOUR * (search.rule.k or 0))
    shared += queries * search.width * _OF_PAIR
    costs = _most(search.queries) * search.problem.ground.shape[1]
    costs += at_once * search.problem.ground.shape[0]
    one = at_once * n * _OF_BOUNDS + n * _OF_CANDIDATE + 16 * costs + _WORKER
    return shared + _LIBRARIES, one


def fit(search: TileSearch, budget: object, workers: int) -> None:
    """Bound fewer queries together where that makes a search fit; raise where nothing does."""
    shared, one = bytes_needed(search, TILE)
    if budget is None and shared + workers * one <= _ALWAYS_FITS:  # a look takes a while
        return
    limit, held, at_once = memory.read(budget), memory.held(), TILE
    while at_once > 1 and held + shared + workers * one > limit:
        at_once //= 2
        shared, one = bytes_needed(search, at_once)
    if held + shared + workers * one > limit:
        raise InputError(
            f"The memory budget of {memory.text(limit)} is too small: this process holds "
            f"{memory.text(held)} already, {search.searched:,} rows prepared for a search take "
            f"{memory.text(shared)} more, and {workers} workers {memory.text(one)} each. Raise "
            "{}, or use fewer {}.",
            option("memory"), option("workers"),
        )  # fmt: skip
    search.at_once = at_once


def _is_projected(search: TileSearch) -> bool:
    """Whether projections of all rows are kept."""
    ground = search.problem.ground
    return search.searched >= MANY and ground.is_dense and find_lines(ground) is not None


def _of_costs(search: TileSearch, family: Histograms) -> int:
    """A copy of the costs in single precision, where bounds read one."""
    ground = search.problem.ground
    copied = copies_costs(ground, SOLVES * search.queries.n) and is_sparse(family)
    return 4 * math.prod(ground.shape) if copied else 0


def _of_rows(family: Histograms) -> int:
    """A copy of a family, in double precision or compressed."""
    if isinstance(family.rows, np.ndarray):
        return 8 * family.n * family.d
    return 16 * int(family.rows.nnz)


def _most(family: Histograms) -> int:
    """Bins with mass in a row, at most."""
    if isinstance(family.rows, np.ndarray):
        return family.d
    return int(np.diff(family.rows.indptr).max(initial=0))
