"""Running a search: waves of tiles on threads or on a cluster, kept in memory or in a store too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sinkdist.errors import InputError
from sinkdist.pairs.report import SHORT
from sinkdist.scale import threads
from sinkdist.scale.progress import Counter, counting
from sinkdist.scale.tally import Tally
from sinkdist.search.engine import assemble
from sinkdist.search.memory import fit
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.query import Answer
from sinkdist.search.tile_search import TileAnswers, TileSearch
from sinkdist.search.waves import KnownPairs, QueryTile, SharedSolves, Waves
from sinkdist.wording import option

__all__ = ["Place", "run"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a search runs and where its answers go; fields are the options of the same names."""

    workers: int
    progress: Any = False
    memory: Any = None
    out: Any = None
    overwrite: Any = False
    client: Any = None


class _Job(NamedTuple):
    """What travels to a cluster."""

    compute: TileSearch


def run(search: TileSearch, place: Place) -> tuple[Neighbors, Tally]:
    """The neighbours of all queries, and how the pairs ended that were solved."""
    _check(search, place)
    if place.client is None:
        fit(search, place.memory, place.workers)
    if search.own:
        waves = Waves.of_family(search.queries.n)
    else:
        fixed = place.out is not None or place.client is not None
        workers = None if fixed else place.workers
        waves = Waves.of_queries(search.queries.n, search.searched, workers)
    with _store(search, waves, place) as store:
        return _Run(search, waves, place, store).run()


def _check(search: TileSearch, place: Place) -> None:
    """Raise for options that do not go together."""
    if place.client is not None:
        from sinkdist.scale.cluster import check_client

        check_client(place.client)
    if place.out is None and place.overwrite:
        raise InputError(
            "The {} option needs {}, the neighbours to be replaced.",
            option("overwrite"), option("out"),
        )  # fmt: skip
    if place.out is not None and search.rule.k is None:
        raise InputError(
            "Stored neighbours have a fixed number of columns: with {} and {}, pass {} as well, "
            "the most neighbours to keep for a row.",
            option("out"), option("radius"), option("k"),
        )  # fmt: skip


@contextmanager
def _store(search: TileSearch, waves: Waves, place: Place) -> Iterator[Any]:
    """The store that the place names, if it names one."""
    if place.out is None:
        yield None
        return
    from sinkdist.search.neighbors_store import open_or_create

    with open_or_create(place.out, search, waves, overwrite=bool(place.overwrite)) as store:
        yield store


class _Run:
    """A search under way."""

    def __init__(self, search: TileSearch, waves: Waves, place: Place, store: Any) -> None:
        self.search, self.waves, self.place, self.store = search, waves, place, store
        self.answers: dict[int, Answer] = {}
        self.shared = SharedSolves(search.queries.n, search.width)
        self.bounds: tuple[str, ...] = ()
        self._finished: set[int] = set()
        self._inputs: Any = None

    def run(self) -> tuple[Neighbors, Tally]:
        """All waves."""
        before = self._read()
        done, total = (self._pairs(x) for x in (self._finished, None))
        with counting(self.place.progress, total, SHORT, done) as counter:
            counter.add(0, before)
            for wave in self.waves:
                missing = [tile for tile in wave if tile.place[0] not in self._finished]
                if missing:
                    self._wave(self._informed(missing, wave), counter)
        search = self.search
        found = assemble(
            self.answers, search.queries.n, search.searched, search.rule.k, search.problem.dtype,
            self.bounds,
        )  # fmt: skip
        return found, counter.tally

    def _read(self) -> Tally:
        """Take what an earlier run has stored; how its pairs ended."""
        tally = Tally({}, {})
        if self.store is not None:
            self.bounds = self.store.bounds
            for place, answers, part in self.store.finished():
                self._take(answers)
                self._finished.add(place)
                tally += part
        return tally

    def _informed(self, missing: list[QueryTile], wave: list[QueryTile]) -> list[QueryTile]:
        """Tiles with what earlier waves know of them."""
        known = self.shared.known_to(wave[0].rows.start, wave[-1].rows.stop)
        return [
            replace(tile, known=known.between(tile.rows.start, tile.rows.stop)) for tile in missing
        ]

    def _wave(self, tiles: list[QueryTile], counter: Counter) -> None:
        """Answer some tiles that know nothing of each other."""

        def keep(tile: QueryTile, found: TileAnswers) -> None:
            if self.store is not None:
                self.store.write(tile, found)
            self.bounds = found.bounds
            parts = [Tally.of(x.status, x.error) for x in found.answers.values()]
            self._take(found.answers)
            counter.add(self._pairs({tile.place[0]}), sum(parts, Tally({}, {})))

        def work(tile: QueryTile) -> None:
            found = self.search(tile)
            if not self.search.stop.is_set():
                keep(tile, found)

        if self.place.client is None:
            threads.run(tiles, work, self.place.workers, self.search.stop)
            return
        from sinkdist.scale import cluster  # Dask, for those who use it

        if self._inputs is None:
            self._inputs = cluster.Sent(_Job(self.search))
        cluster.run_into_memory(self.place.client, self._inputs, tiles, keep)

    def _take(self, answers: dict[int, Answer]) -> None:
        """Keep answers, and apart from them what other rows may use."""
        nothing = np.zeros(0)
        for query, answer in answers.items():
            self.shared.put(query, answer.pairs)
            self.answers[query] = replace(
                answer, status=nothing, error=nothing, pairs=KnownPairs.none()
            )

    def _pairs(self, tiles: set[int] | None) -> int:
        """Pairs of some tiles, or of all, with mass on the query's side."""
        empty, size = self.search.queries.empty, self.waves.tile
        if tiles is None:
            rows = self.waves.queries - (0 if empty is None else int(empty.sum()))
        else:
            rows = 0
            for k in tiles:
                part = slice(k * size, min((k + 1) * size, self.waves.queries))
                rows += part.stop - part.start
                rows -= 0 if empty is None else int(empty[part].sum())
        return rows * self.search.searched
