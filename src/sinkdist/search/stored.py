"""An index on disk: a folder of Zarr arrays, each one uncompressed chunk, and a description.

Opening it reads the description and the costs; rows and features are mapped into memory, so that a
query reads what it looks at. Nothing is unpickled. An index is written beside its place and moved
there when it is whole.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, StoreError, needs_extra
from sinkdist.ground import Ground
from sinkdist.ground.ground import _restored
from sinkdist.ground.metric import MetricCheck
from sinkdist.ground.structure import Structure
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options, deciding
from sinkdist.problem.problem import Problem
from sinkdist.search.candidates import Candidates
from sinkdist.search.engine import Engine
from sinkdist.search.index import Index
from sinkdist.search.projections import Features
from sinkdist.solvers.bins import SparseRows
from sinkdist.version import __version__

__all__ = ["open_index", "save"]

Array = npt.NDArray[Any]

FORMAT = 1
ATTRIBUTE = "sinkdist_index"
_FILE = "zarr.json"
_QUERIES = 1000


def save(engine: Engine, folder: Any, *, overwrite: bool) -> None:
    """Write what an engine has prepared."""
    place = _path(folder)
    if place.exists() and not (overwrite and _is_index(place)):
        advice = "pass overwrite=True to replace it" if _is_index(place) else "choose another place"
        raise InputError(f"{str(place)!r} exists already: {advice}.")
    made = place.with_name(place.name + ".partial")
    try:
        shutil.rmtree(made, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        _write(engine, made)
        if place.exists():
            shutil.rmtree(place)
        os.replace(made, place)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise StoreError(f"The index could not be written to {str(place)!r}: {error}.") from error


def open_index(folder: Any) -> Index:
    """An index that was saved to a folder.

    Examples
    --------
    >>> import sinkdist as sd, tempfile
    >>> folder = tempfile.mkdtemp() + "/lines.index"
    >>> sd.Index([[1, 0], [0, 1]], [[0, 1], [1, 0]], lam=float("inf")).save(folder)
    >>> sd.open_index(folder).query([[0.9, 0.1]], k=1).indices
    array([[0]])
    """
    place = _path(folder)
    if not place.exists():
        raise InputError(f"There is no index at {str(place)!r}.")
    about = _about(place)
    try:
        arrays = {name: _mapped(place, name, *kind) for name, kind in about["arrays"].items()}
        problem = _problem(about, arrays)
        shape = int(about["shape"][0]), int(about["shape"][1])
        sparse = None
        if "start" in arrays:
            sparse = SparseRows(arrays["start"], arrays["bins"], arrays["mass"])
        empty = np.array(arrays["empty"]).astype(bool)
        candidates = Candidates(shape, empty, arrays.get("rows"), sparse)
        known = None
        if "weights" in arrays:
            known = Features(arrays["weights"], arrays["blocks"])
    except (KeyError, TypeError, IndexError) as error:
        raise _damaged(place, _FILE, f"its description lacks {error}") from error
    return Index._of(Engine(problem, candidates, _QUERIES, known))


def _write(engine: Engine, place: Path) -> None:
    """All arrays, then the description: without it there is no index."""
    with needs_extra("store", "Saving an index"):
        import zarr

    arrays = _arrays(engine)
    group = zarr.open_group(place, mode="w")
    for name, array in arrays.items():
        stored = group.create_array(
            name, shape=array.shape, chunks=tuple(max(1, x) for x in array.shape),
            dtype=array.dtype, compressors=None, config={"write_empty_chunks": True},
        )  # fmt: skip
        stored[...] = array
    problem, ground = engine.problem, engine.problem.ground
    options = {name: getattr(problem.options, name) for name in deciding()}
    options |= {"normalize": problem.options.normalize, "on_empty": problem.options.on_empty}
    kept = {key: _plain(value) for key, value in options.items() if value is not None}
    structure = ground.structure
    group.attrs[ATTRIBUTE] = {
        "format": FORMAT,
        "version": __version__,
        "shape": [engine.candidates.n, engine.candidates.d],
        "options": kept | {"dtype": str(problem.dtype)},
        "ground": ground.__reduce__()[1][1],
        "metric": "made" if ground.is_made_metric else bool(ground.is_known_metric),
        "structure": None if structure is None else structure.kind,
        "arrays": {name: [list(x.shape), str(x.dtype)] for name, x in arrays.items()},
    }


def _arrays(engine: Engine) -> dict[str, Array]:
    """What an index consists of, by name."""
    candidates, ground = engine.candidates, engine.problem.ground
    arrays: dict[str, Array] = {
        "empty": candidates.empty.astype(np.uint8), "costs": ground.dense
    }  # fmt: skip
    if candidates.dense is not None:
        arrays["rows"] = candidates.dense
    if candidates.sparse is not None:
        arrays |= {"start": candidates.sparse.start, "bins": candidates.sparse.bins}
        arrays["mass"] = candidates.sparse.mass
    if engine.cascade.projections is not None:
        features = engine.cascade.projections.features
        assert features.blocks is not None
        arrays |= {"weights": features.weights, "blocks": features.blocks}
    structure = ground.structure
    if structure is not None:
        arrays |= {"nodes": structure.bins, "parents": structure.parent}
        arrays["lengths"] = structure.lengths
    return arrays


def _problem(about: dict[str, Any], arrays: dict[str, Array]) -> Problem:
    """The problem that an index was made for."""
    structure = None
    if about["structure"] is not None:
        parts = (np.array(arrays[name]) for name in ("nodes", "parents", "lengths"))
        structure = Structure(about["structure"], *parts)
    reason = "A metric by construction." if about["metric"] == "made" else "Checked when saved."
    metric = MetricCheck(True, reason) if about["metric"] else None
    ground: Ground = _restored(arrays["costs"], str(about["ground"]), metric, structure)
    options = {name: _number(value) for name, value in about["options"].items()}
    return problem_of(ground, Options(**options), np.dtype(options["dtype"]))


def _mapped(place: Path, name: str, shape: list[int], dtype: str) -> Array:
    """An array of the index, mapped into memory; what is written to it stays there."""
    kind = np.dtype(dtype)
    file = place.joinpath(name, "c", *("0" for _ in shape))
    size = int(np.prod(shape)) * kind.itemsize
    if size == 0:
        return np.zeros(shape, kind)
    try:
        there = file.stat().st_size
    except OSError as error:
        raise _damaged(place, str(file.relative_to(place)), "is missing") from error
    if there != size:
        raise _damaged(place, str(file.relative_to(place)), f"has {there} bytes, not {size}")
    return np.asarray(np.memmap(file, kind, "c", shape=tuple(shape)))


def _about(place: Path) -> dict[str, Any]:
    """The description of an index."""
    try:
        content = json.loads((place / _FILE).read_text(encoding="utf-8"))
        about = content["attributes"][ATTRIBUTE]
        if not isinstance(about, dict) or not isinstance(about["arrays"], dict):
            raise TypeError("no description")
    except OSError as error:
        raise InputError(f"{str(place)!r} is not an index saved by sinkdist.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(place, _FILE, "cannot be read as the description of an index") from error
    if about.get("format") != FORMAT:
        raise InputError(
            f"{str(place)!r} was written in format {about.get('format')!r}; this version of "
            f"sinkdist reads format {FORMAT}."
        )
    return about


def _is_index(place: Path) -> bool:
    """Whether an index was saved there."""
    try:
        _about(place)
    except (InputError, StoreError):
        return False
    return True


def _damaged(place: Path, file: str, what: str) -> StoreError:
    """The sentence about a damaged index."""
    return StoreError(f"The index {str(place)!r} is damaged: {file} {what}. Save it again.")


def _path(folder: Any) -> Path:
    """A folder's path."""
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
        raise InputError(f"The folder of an index must be a path. Got {folder!r} instead.")
    return Path(os.path.expanduser(os.fspath(folder)))


def _plain(value: Any) -> Any:
    """A value that JSON holds; an infinite number as text."""
    if isinstance(value, (bool, str)):
        return value
    number = float(value)
    return number if number < np.inf else "inf"


def _number(value: Any) -> Any:
    """The other way round; whole numbers are whole again."""
    if value == "inf":
        return np.inf
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else value
