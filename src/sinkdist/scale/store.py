"""A matrix of pairs on disk: Zarr, one tile a chunk, each written atomically and checksummed.

The only file that imports Zarr. Three arrays lie side by side: ``distance``, ``status`` and
``marginal_error``; a tile is finished when its chunk is whole in all three. The group's attribute
``sinkdist`` is written last when a store is made: without it there is no store yet.

A chunk is the plain bytes of the tile and four bytes of checksum, so a torn one is known by its
size, and one that was damaged later by its sum.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, StoreError, needs_extra
from sinkdist.scale import description, folder
from sinkdist.scale.job import TileResult
from sinkdist.scale.tiles import Tile, Tiling
from sinkdist.wording import option, setting

with needs_extra("store", "Storing a matrix"):
    import zarr  # first: of all that is missing, it is what people know
    from zarr.codecs import Crc32cCodec

    # isort: split
    import google_crc32c

__all__ = ["Store", "open_or_create", "open_store"]

Array = npt.NDArray[Any]

_CHECKSUM = 4  # bytes at the end of a chunk
#: Arrays in the order in which a tile is written; values last.
_NAMES = ("marginal_error", "status", "distance")
_TOP = {description.FILE, *_NAMES}  # what a store consists of
#: The same in the order in which it is removed: the description first, since without it nobody
#: reads the rest; the lock stays.
_ENTRIES = ["zarr.json", "marginal_error", "status", "distance/zarr.json", "distance/c"]
_NOT_COMPUTED = -1  # the status of pairs in a chunk that is not there
_WRITE_ALL = {"write_empty_chunks": True}  # a tile of NaN is a result too


class Store:
    """An open store; made by `open_store` and `open_or_create`."""

    def __init__(self, path: str, group: zarr.Group, about: dict[str, Any]) -> None:
        self.name = path
        self.path = path if folder.is_url(path) else os.path.abspath(path)
        self.about = about
        self.tiling = Tiling(tuple(about["shape"]), about["tile"], about["symmetric"])
        self._group = group
        self._arrays: dict[str, Any] = {
            name: cast(Any, group[name]).with_config(_WRITE_ALL) for name in _NAMES
        }
        self._is_folder = not folder.is_url(path)
        self._dtypes: dict[str, np.dtype[Any]] = {
            name: array.dtype.newbyteorder("=") for name, array in self._arrays.items()
        }

    def dtype_of(self, name: str) -> np.dtype[Any]:
        """Of one of the arrays."""
        return self._dtypes[name]

    def write(self, tile: Tile, block: TileResult) -> None:
        """Store a finished tile."""
        parts = {"marginal_error": block.error, "status": block.status, "distance": block.values}
        try:
            for name in _NAMES:
                self._arrays[name][tile.rows, tile.columns] = parts[name]
        except OSError as error:
            raise StoreError(
                f"A tile could not be written to {self.name!r}: {error}. What was finished before "
                "is kept: make room and run it again."
            ) from error

    def finished(self) -> npt.NDArray[np.bool_]:
        """Which tiles are there in their full size, by place."""
        found = np.ones(self.tiling.places, bool)
        for name in _NAMES:
            here = np.zeros_like(found)
            for (i, j), size in folder.chunk_sizes(self.path, name):
                if i < here.shape[0] and j < here.shape[1]:
                    here[i, j] = size == self._chunk_bytes(name)
            found &= here
        if self.tiling.upper:  # the tiles below the diagonal need not be there
            found |= np.tri(*found.shape, k=-1, dtype=bool)
        return found

    def has(self, tile: Tile) -> bool:
        """Whether a tile is there in its full size."""
        if not self._is_folder:
            return bool(self.finished()[tile.place])
        try:
            sizes = {name: os.stat(self._chunk(name, tile)).st_size for name in _NAMES}
        except (FileNotFoundError, NotADirectoryError):
            return False
        return all(size == self._chunk_bytes(name) for name, size in sizes.items())

    def read(self, tile: Tile, name: str) -> Array:
        """One array's part of a finished tile, for reading only; an error if it is damaged."""
        if not self._is_folder:
            return self._read_by_zarr(tile, name)
        with open(self._chunk(name, tile), "rb") as file:
            raw = file.read()
        content, checksum = raw[:-_CHECKSUM], raw[-_CHECKSUM:]
        whole = len(raw) == self._chunk_bytes(name)
        if not whole or google_crc32c.value(content) != int.from_bytes(checksum, "little"):
            raise self._damage(tile)
        dtype = self.dtype_of(name).newbyteorder("<")
        rows, columns = tile.shape
        square = (self.tiling.side, self.tiling.side)
        return np.frombuffer(content, dtype).reshape(square)[:rows, :columns]

    def read_block(self, tile: Tile) -> TileResult | None:
        """A finished tile; None, and nothing of it is left, if it is torn, damaged or missing."""
        try:
            error, status, values = (self.read(tile, name) for name in _NAMES)
            if status.min(initial=0) > _NOT_COMPUTED:
                return TileResult(values, status, error)
        except (StoreError, FileNotFoundError):
            pass
        if self._is_folder:
            for name in _NAMES:
                Path(self._chunk(name, tile)).unlink(missing_ok=True)
        return None

    def note_version(self, version: str) -> None:
        """Note a version of the package that writes here, if it is another one."""
        if version not in self.about["versions"]:
            self.about = {**self.about, "versions": [*self.about["versions"], version]}
            self._group.attrs[description.ATTRIBUTE] = self.about

    def _chunk(self, name: str, tile: Tile) -> str:
        """The file of a chunk."""
        i, j = tile.place
        return f"{self.path}/{name}/c/{i}/{j}"

    def _chunk_bytes(self, name: str) -> int:
        """The size of a whole chunk; those at the edges are filled up to it."""
        return self.tiling.side**2 * self._dtypes[name].itemsize + _CHECKSUM

    def _read_by_zarr(self, tile: Tile, name: str) -> Array:
        """The way for stores that are not folders."""
        try:
            return np.asarray(self._arrays[name][tile.rows, tile.columns])
        except ValueError as error:  # a checksum or a size that is wrong
            raise self._damage(tile) from error

    def _damage(self, tile: Tile) -> StoreError:
        """The sentence about a damaged tile."""
        return StoreError(
            f"Rows {tile.rows.start} to {tile.rows.stop - 1} against columns {tile.columns.start} "
            f"to {tile.columns.stop - 1} of {self.name!r} are damaged: their checksum is wrong. "
            "Run the call that made it once more: it computes them again, and only them."
        )


def open_store(path: Any, mode: Literal["r", "r+"] = "r") -> Store:
    """An existing store; ``"r+"`` for one who writes tiles while another holds the lock."""
    name = folder.name_of(path)
    if not folder.contents(name):
        raise InputError(f"There is no matrix at {name!r}.")
    if not _is_ours(name):
        raise InputError(f"{name!r} is not a matrix stored by sinkdist.")
    try:
        return _opened(name, mode)
    except StoreError as error:
        if _has_chunks(name):
            raise
        raise InputError(
            f"There is no matrix at {name!r} yet: what began it was stopped before it had made its "
            "files. Run it again."
        ) from error


@contextlib.contextmanager
def open_or_create(
    path: Any, about: dict[str, Any], tiling: Tiling, dtype: np.dtype[Any], *, overwrite: bool
) -> Iterator[Store]:
    """A store for writing: a new one, or the one that the same call has begun.

    Parameters
    ----------
    path : str or path
        A folder, or the address of an object store.
    about : dict
        What a store says of itself; its ``facts`` decide the values, and a store with others is an
        error.
    tiling : Tiling
        For a new store; one that exists keeps its own.
    dtype : numpy.dtype
        Of the distances.
    overwrite : bool
        Replace a store with other facts.
    """
    name = folder.name_of(path)
    _refuse_foreign(name)
    with folder.locked(name):
        found = _usable(name, about, tiling, dtype, overwrite=overwrite)
        if found is None:
            yield _created(name, about, tiling, dtype)
        else:
            folder.tidy(name)
            yield found


def _usable(
    name: str, about: dict[str, Any], tiling: Tiling, dtype: np.dtype[Any], *, overwrite: bool
) -> Store | None:
    """The store at a place if it can be continued; None if a new one is to be made there."""
    try:
        found = _opened(name, "r+")
        differences = description.differences(found.about["facts"], about["facts"])
        if not differences:
            _check_agreement(found, tiling, dtype)
    except StoreError:  # damaged, or not made to the end
        if _has_chunks(name) and not overwrite:
            raise
        return None
    if differences and not overwrite:
        raise InputError(
            "{!r} holds another matrix: {}. Nothing was changed: pass {} to replace it, or another "
            "{}.",
            name,
            "; ".join(differences),
            setting("overwrite", True),
            option("out"),
        )
    return None if differences else found


def _check_agreement(found: Store, tiling: Tiling, dtype: np.dtype[Any]) -> None:
    """Raise if a store of the same facts says what does not follow from them."""
    here, there = tiling, found.tiling
    if (here.shape, here.upper) != (there.shape, there.upper):
        what = "contradicts its own facts: 'shape' or 'symmetric' is wrong"
        raise description.damaged(found.name, description.FILE, what)
    if dtype != found.dtype_of("distance"):
        what = f"has another data type than {dtype}"
        raise description.damaged(found.name, f"distance/{description.FILE}", what)


def _created(name: str, about: dict[str, Any], tiling: Tiling, dtype: np.dtype[Any]) -> Store:
    """An empty store in place of one of ours."""
    folder.mark(name)
    folder.remove(name, _ENTRIES)
    folder.tidy(name)
    try:
        return _made(name, about, tiling, dtype)
    except OSError as error:
        raise StoreError(f"{name!r} could not be made: {error}.") from error


def _made(name: str, about: dict[str, Any], tiling: Tiling, dtype: np.dtype[Any]) -> Store:
    """An empty store; the attribute comes last."""
    group = zarr.open_group(_place(name), mode="a")
    kinds = {
        "distance": (dtype, np.nan),
        "status": (np.dtype(np.int8), _NOT_COMPUTED),
        "marginal_error": (np.dtype(np.float32), np.nan),
    }
    for array, (kind, fill) in kinds.items():
        group.create_array(
            array,
            shape=tiling.shape,
            chunks=(tiling.side, tiling.side),
            dtype=kind,
            fill_value=fill,
            compressors=[Crc32cCodec()],
            dimension_names=("row", "column"),
        )
    about = {
        "format": description.FORMAT,
        "shape": list(tiling.shape),
        "symmetric": tiling.upper,
        "tile": tiling.side,
        **about,
    }
    group.attrs[description.ATTRIBUTE] = about
    return Store(name, group, about)


def _opened(name: str, mode: Literal["r", "r+"]) -> Store:
    """The store at a place; an error that names the file if a description of it is damaged."""
    about = description.read(name)
    wrong = [array for array in _NAMES if not description.check_array(name, array, about)]
    if wrong:  # where all of them disagree with the group, it is the group that is wrong
        file = description.FILE if len(wrong) == len(_NAMES) else f"{wrong[0]}/{description.FILE}"
        raise description.damaged(name, file, "has another shape or other tiles than the rest")
    file = description.FILE
    try:
        group = zarr.open_group(_place(name), mode=mode, use_consolidated=False)
        for array in _NAMES:
            file = f"{array}/{description.FILE}"
            _check_fill(cast(Any, group[array]))
    except OSError as error:
        raise InputError(f"{name!r} cannot be read: {error}.") from error
    except Exception as error:  # whatever else Zarr finds wrong
        raise description.damaged(name, file, f"cannot be read by Zarr ({error})") from error
    return Store(name, group, about)


def _check_fill(array: Any) -> None:
    """Raise unless what is not there reads as not computed."""
    fill = array.fill_value
    if fill != _NOT_COMPUTED and not np.isnan(fill):
        raise ValueError(f"its fill value is {fill}")


def _place(name: str) -> str | Path:
    """A place for Zarr, which takes some folders' names for addresses unless they are paths."""
    return name if folder.is_url(name) else Path(name)


def _is_ours(name: str) -> bool:
    """Whether one of our runs has begun what lies at a place."""
    return folder.is_marked(name) or description.is_claimed(name)


def _refuse_foreign(name: str) -> None:
    """Raise if there is anything at a place that we have not put there."""
    there = {entry for entry in folder.contents(name) if not entry.endswith(".partial")}
    if there - _TOP or (there and not _is_ours(name)):
        raise folder.foreign(name)


def _has_chunks(name: str) -> bool:
    """Whether a tile was finished here."""
    return any(True for _ in folder.chunk_sizes(name, _NAMES[-1]))
