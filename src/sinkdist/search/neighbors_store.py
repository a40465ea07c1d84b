"""Neighbours on disk: a folder of Zarr arrays, a chunk of each for a tile of queries.

``neighbour``, ``distance``, ``proven`` and ``solved`` are what `Neighbors` shows; ``known`` holds
solved pairs that later rows use, ``ended`` how many pairs ended with each status and their worst
error. ``solved`` is written last: a tile is finished when it is there, and damage is found by
checksums. A tile that is torn or damaged is computed again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import IncompleteError, InputError, StoreError, needs_extra
from sinkdist.inputs.fingerprints import fingerprint
from sinkdist.scale import description, folder
from sinkdist.scale.tally import Tally
from sinkdist.search.engine import assemble
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.query import Answer
from sinkdist.search.tile_search import TileAnswers, TileSearch
from sinkdist.search.waves import KnownPairs, QueryTile, Waves
from sinkdist.solution.status import Status
from sinkdist.version import __version__
from sinkdist.wording import option, setting

with needs_extra("store", "Storing neighbours"):
    import zarr
    from zarr.codecs import Crc32cCodec

__all__ = ["open_or_create", "read_neighbors"]

Array = npt.NDArray[Any]

FORMAT = 1
ATTRIBUTE = "sinkdist_neighbors"
#: Arrays in the order in which a tile is written, with what stands where nothing is.
_FILLS = {"known": -2.0, "ended": -1.0, "proven": 2, "neighbour": -2, "distance": -1.0,
          "solved": -1}  # fmt: skip
_TOP = {description.FILE, *_FILLS}
_ENTRIES = [description.FILE, *(x for x in _FILLS if x != "distance"), "distance/zarr.json",
            "distance/c"]  # fmt: skip


class NeighborsStore:
    """An open store of neighbours."""

    def __init__(self, name: str, group: Any, about: dict[str, Any]) -> None:
        self.name, self.about, self._group = name, about, group
        config = {"write_empty_chunks": True}
        self._arrays = {x: group[x].with_config(config) for x in _FILLS}
        self.queries, self.searched = about["shape"]
        self.tile = int(about["tile"])

    @property
    def bounds(self) -> tuple[str, ...]:
        """The bounds that were used."""
        return tuple(self.about["bounds"])

    def write(self, tile: QueryTile, found: TileAnswers) -> None:
        """Store a finished tile."""
        if tuple(found.bounds) != self.bounds:
            self._note(bounds=list(found.bounds))
        shapes = {name: array.shape[1:] for name, array in self._arrays.items()}
        parts = _encoded(tile.rows, found.answers, shapes)
        try:
            for name in _FILLS:
                self._arrays[name][tile.rows] = parts[name].astype(self._arrays[name].dtype)
        except OSError as error:
            raise StoreError(
                f"A tile could not be written to {self.name!r}: {error}. What was finished before "
                "is kept: make room and run it again."
            ) from error

    def finished(self) -> Iterator[tuple[int, dict[int, Answer], Tally]]:
        """Tiles that are there and whole: their place, their answers, and how pairs ended."""
        whole = self._read(slice(0, self.queries))
        for place, start in enumerate(range(0, self.queries, self.tile)):
            rows = slice(start, min(start + self.tile, self.queries))
            part = {k: x[rows] for k, x in whole.items()} if whole else self._read(rows)
            if part is not None and _is_there(part):
                yield place, _decoded(rows, part), _tally(part["ended"])

    def note_version(self) -> None:
        """Note a version of the package that writes here, if it is another one."""
        if __version__ not in self.about["versions"]:
            self._note(versions=[*self.about["versions"], __version__])

    def _note(self, **entries: Any) -> None:
        self.about = {**self.about, **entries}
        self._group.attrs[ATTRIBUTE] = self.about

    def _read(self, rows: slice) -> dict[str, Array] | None:
        """All arrays of some rows; None if one of their chunks is damaged."""
        try:
            return {name: np.asarray(array[rows]) for name, array in self._arrays.items()}
        except ValueError:  # a checksum or a size that is wrong
            return None


def read_neighbors(path: Any) -> Neighbors:
    """What a store holds, for `open_neighbors`."""
    name = folder.name_of(path)
    if not folder.contents(name):
        raise InputError(f"There are no neighbours at {name!r}.")
    if not _is_claimed(name):
        raise InputError(f"{name!r} does not hold neighbours stored by sinkdist.")
    store = _opened(name, "r")
    answers: dict[int, Answer] = {}
    there = 0
    for _, part, _ in store.finished():
        answers |= part
        there += 1
    tiles = -(-store.queries // store.tile)
    if there < tiles:
        raise IncompleteError(
            f"{name!r} is incomplete: {tiles - there:,} of {tiles:,} tiles have not been computed "
            "yet. Run what began it once more: it resumes after the last finished tile."
        )
    k, dtype = store.about["k"], store._arrays["distance"].dtype
    return assemble(answers, store.queries, store.searched, k, dtype, store.bounds)


@contextlib.contextmanager
def open_or_create(
    path: Any, search: TileSearch, waves: Waves, *, overwrite: bool
) -> Iterator[NeighborsStore]:
    """A store for writing: a new one, or the one that the same call has begun."""
    name, about = folder.name_of(path), _about(search, waves)
    there = {entry for entry in folder.contents(name) if not entry.endswith(".partial")}
    if there - _TOP or (there and not (folder.is_marked(name) or _is_claimed(name))):
        raise folder.foreign(name)
    with folder.locked(name):
        found = _usable(name, about, overwrite=overwrite)
        if found is None:
            found = _created(name, about, search)
        else:
            folder.tidy(name)
            found.note_version()
        yield found


def _about(search: TileSearch, waves: Waves) -> dict[str, Any]:
    """What a store says of itself; its facts decide the answers."""
    rule, problem = search.rule, search.problem
    parameters = problem.facts() | {
        "k": rule.k, "radius": str(rule.radius) if rule.radius == np.inf else rule.radius,
        "budget": rule.budget, "order": "heuristic" if rule.heuristic else "proven",
    }  # fmt: skip
    other = None if search.own or search.family is None else fingerprint(search.family)
    prints = {"X": fingerprint(search.queries), "Y": other, "ground": problem.ground.fingerprint}
    return {
        "format": FORMAT, "shape": [waves.queries, waves.searched], "k": rule.k,
        "tile": waves.tile, "width": search.width, "bounds": [], "versions": [__version__],
        "facts": {"parameters": parameters, "fingerprints": prints},
    }  # fmt: skip


def _usable(name: str, about: dict[str, Any], *, overwrite: bool) -> NeighborsStore | None:
    """The store at a place if it can be continued; None if a new one is to be made there."""
    try:
        found = _opened(name, "r+")
        differences = description.differences(found.about["facts"], about["facts"])
        if not differences and any(found.about[x] != about[x] for x in ("shape", "k", "tile")):
            raise description.damaged(name, description.FILE, "contradicts its own facts")
    except StoreError:  # damaged, or not made to the end
        if any(True for _ in _chunks(name)) and not overwrite:
            raise
        return None
    if differences and not overwrite:
        raise InputError(
            "{!r} holds other neighbours: {}. Nothing was changed: pass {} to replace them, or "
            "another {}.",
            name, "; ".join(differences), setting("overwrite", True), option("out"),
        )  # fmt: skip
    return None if differences else found


def _created(name: str, about: dict[str, Any], search: TileSearch) -> NeighborsStore:
    """An empty store in place of one of ours; the attribute comes last."""
    folder.mark(name)
    folder.remove(name, _ENTRIES)
    folder.tidy(name)
    n, k, tile = about["shape"][0], about["k"], about["tile"]
    kinds: dict[str, tuple[tuple[int, ...], Any]] = {
        "known": ((max(1, about["width"]), 3), np.float64), "ended": ((len(Status), 2), np.float64),
        "proven": ((k,), np.uint8), "neighbour": ((k,), np.int64),
        "distance": ((k,), search.problem.dtype), "solved": ((), np.int64),
    }  # fmt: skip
    try:
        group = zarr.open_group(_place(name), mode="a")
        for array, (shape, dtype) in kinds.items():
            group.create_array(
                array, shape=(n, *shape), chunks=(tile, *shape), dtype=dtype,
                fill_value=_FILLS[array], compressors=[Crc32cCodec()],
            )  # fmt: skip
        group.attrs[ATTRIBUTE] = about
    except OSError as error:
        raise StoreError(f"{name!r} could not be made: {error}.") from error
    return NeighborsStore(name, group, about)


def _opened(name: str, mode: Any) -> NeighborsStore:
    """The store at a place; an error that names the file if its description is damaged."""
    about = _description(name)
    try:
        group = zarr.open_group(_place(name), mode=mode, use_consolidated=False)
        found = NeighborsStore(name, group, about)
        for array, fill in _FILLS.items():
            if found._arrays[array].fill_value != fill:
                raise ValueError(f"the array {array!r} has another fill value")
    except OSError as error:
        raise InputError(f"{name!r} cannot be read: {error}.") from error
    except Exception as error:  # whatever Zarr finds wrong
        raise description.damaged(name, description.FILE, f"cannot be used ({error})") from error
    return found


def _description(name: str) -> dict[str, Any]:
    """What a store says of itself."""
    try:
        content = json.loads(folder.read_file(name, description.FILE) or b"")
        about = content["attributes"][ATTRIBUTE]
        keys = {"format", "shape", "k", "tile", "width", "bounds", "versions", "facts"}
        if not keys <= about.keys():
            raise KeyError(", ".join(sorted(keys - about.keys())))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = "does not describe stored neighbours"
        raise description.damaged(name, description.FILE, what) from error
    if about["format"] != FORMAT:
        raise InputError(
            f"{name!r} was written in format {about['format']!r}; this version of sinkdist reads "
            f"format {FORMAT}."
        )
    return dict(about)


def _is_claimed(name: str) -> bool:
    """Whether a description says that neighbours are stored at a place."""
    try:
        _description(name)
    except StoreError:
        return False
    except InputError:
        return True
    return True


def _chunks(name: str) -> Iterator[Any]:
    """Finished tiles at a place, as files or objects."""
    if folder.is_url(name):
        yield from folder.chunk_sizes(name, "distance")
    else:
        yield from Path(name, "solved", "c").glob("*")


def _place(name: str) -> str | Path:
    """A place for Zarr, which takes some folders' names for addresses unless they are paths."""
    return name if folder.is_url(name) else Path(name)


def _encoded(
    rows: slice, answers: dict[int, Answer], shapes: dict[str, tuple[int, ...]]
) -> dict[str, Array]:
    """The answers of a tile as arrays; rows without an answer have no neighbours."""
    count = rows.stop - rows.start
    out = {name: np.zeros((count, *shape)) for name, shape in shapes.items()}
    out["known"][..., 0] = -1.0
    out["neighbour"][:], out["distance"][:] = -1, np.nan
    for query, answer in answers.items():
        at, k, pairs = query - rows.start, answer.indices.size, answer.pairs
        out["neighbour"][at, :k], out["distance"][at, :k] = answer.indices, answer.distances
        out["proven"][at, :k], out["solved"][at] = answer.proven, answer.solved
        some = slice(0, pairs.other.size)
        for column, values in enumerate(pairs[1:]):
            out["known"][at, some, column] = values
        tally = Tally.of(answer.status, answer.error)
        for code, number in tally.counts.items():
            out["ended"][at, code] = number, tally.worst[code]
    return out


def _decoded(rows: slice, part: dict[str, Array]) -> dict[int, Answer]:
    """The same the other way round."""
    nothing, found = np.zeros(0), {}
    for at in range(rows.stop - rows.start):
        query, k = rows.start + at, int((part["neighbour"][at] >= 0).sum())
        known = part["known"][at]
        known = known[known[:, 0] >= 0]
        pairs = KnownPairs(
            np.full(len(known), query), known[:, 0].astype(np.int64), known[:, 1], known[:, 2]
        )
        found[query] = Answer(
            part["neighbour"][at, :k], part["distance"][at, :k], part["proven"][at, :k] == 1,
            int(part["solved"][at]), nothing, nothing, pairs,
        )  # fmt: skip
    return found


def _is_there(part: dict[str, Array]) -> bool:
    """Whether every entry was written."""
    return not any((part[name] == fill).any() for name, fill in _FILLS.items())


def _tally(ended: Array) -> Tally:
    """How the pairs of a tile ended."""
    counts, worst = ended[..., 0].sum(axis=0), ended[..., 1].max(axis=0, initial=0.0)
    codes = np.flatnonzero(counts).tolist()
    return Tally({c: int(counts[c]) for c in codes}, {c: float(worst[c]) for c in codes})
