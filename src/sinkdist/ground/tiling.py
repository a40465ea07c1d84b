"""Products with ``exp(-lam M)`` on a grid under Euclidean distances: Fourier transforms of tiles.

Sums with a kernel that depends on differences are convolutions. A transform is accurate beside the
largest of its sums only, and these kernels decay by many orders of magnitude from one end of a grid
to the other; so the grid is cut into tiles. Between two tiles all entries of the kernel are within
``exp(-span)`` of the largest, with ``span`` twice the diagonal of a tile, and what a tile gives
and receives has a logarithm of its own as its unit (`kernels.grid.tiles`). Every sum is thus
accurate to about ``exp(span)`` roundings, whatever the potentials are: this is what the size of
tiles is chosen by. Where the kernel is wide there is one tile; where it is narrow a tile is a
pixel, and sums are direct.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_axes import Run

__all__ = ["Tiling", "tiling_of"]

Array = npt.NDArray[Any]

_EPS = 2.0**-52
_ROUNDINGS = 4.0  #: units of rounding, times exp(span), that a sum may be off by
_GROUP = 8  #: tiles along an axis that are left out together
_BAND = 1 << 20  #: entries of the kernel that are transformed together
_KEPT = 1 << 26  #: bytes of tilings that are kept for other pairs


class Tiling:
    """A grid in tiles, and the transforms of its kernel.

    Parameters
    ----------
    sides : tuple of int
        Pixels along every axis.
    sharpness : tuple of float
        ``lam`` times the distance of neighbours, along every axis.
    error : float
        The relative error that sums may have.

    Attributes
    ----------
    tile : tuple of int
        Pixels of a tile along every axis.
    """

    def __init__(self, sides: tuple[int, ...], sharpness: tuple[float, ...], error: float) -> None:
        from scipy.fft import next_fast_len

        self.sides, self.sharpness = sides, sharpness
        span = math.log(max(error, _EPS) / (_ROUNDINGS * _EPS))
        self.tile = tile_of(sides, sharpness, span)
        self.count = tuple(-(-n // t) for n, t in zip(sides, self.tile, strict=True))
        self._sizes = [next_fast_len(2 * t - 1, real=True) for t in self.tile]
        self._span = 2.0 * _diagonal(self.tile, sharpness)
        tiles, pixels = math.prod(self.count), math.prod(self.tile)
        self._cut = self._span + math.log(tiles * pixels / error)
        self._order, self._begin = _in_groups(self.count)
        self._place = np.stack(np.unravel_index(self._order, self.count), -1).astype(np.int64)
        self._low = np.minimum.reduceat(self._place, self._begin[:-1])
        self._high = np.maximum.reduceat(self._place, self._begin[:-1])
        self._strides = np.array([math.prod(self.count[a + 1 :]) for a in range(len(sides))])
        self._flips = _flipped_rows(self._sizes[:-1])
        self._reach = self._least_exponents()

    @property
    def nbytes(self) -> int:
        """Of the transforms, those of costs included."""
        return int(32 * math.prod(self.count) * math.prod(self._sizes))

    def log_sums(self, phi: Array, run: Run) -> Array:
        """``log sum_j exp(phi_j - lam M_ij)``; no sum is less than what one tile gives."""
        unit, sums = self._gathered(phi, None, self._kernel, run)
        np.maximum(sums, 0.5 * math.exp(-self._span), out=sums)
        with np.errstate(invalid="ignore"):
            return self._joined(np.log(sums, out=sums) + unit)

    def weighted(
        self, phi: Array, factor: Array, after: Array, run: Run, costs: bool = False
    ) -> Array:
        """``exp(-after_i) sum_j factor_j exp(phi_j - lam M_ij)``, or with ``lam M_ij`` in it."""
        kernel = self._costs if costs else self._kernel
        unit, sums = self._gathered(phi, factor, kernel, run)
        with np.errstate(invalid="ignore", over="ignore"):
            sums *= np.exp(unit - self._cut_up(after, np.inf))
        return self._joined(np.nan_to_num(sums, copy=False, nan=0.0, posinf=0.0, neginf=0.0))

    @cached_property
    def _kernel(self) -> Array:
        """Transforms of the kernel from one tile to another, by the offset of the two."""
        return self._transformed(lambda far, reach: np.exp(reach - far))

    @cached_property
    def _costs(self) -> Array:
        """The same of the kernel times its exponents."""
        return self._transformed(lambda far, reach: far * np.exp(reach - far))

    def _gathered(
        self, phi: Array, factor: Array | None, kernel: Array, run: Run
    ) -> tuple[Array, Array]:
        """Sums in tiles, and the logarithm of the unit of each tile."""
        from scipy.fft import irfftn, rfftn

        from sinkdist.kernels.grid.tiles import gather_tiles

        axes = tuple(range(1, len(self.sides) + 1))
        logs = self._cut_up(phi, -np.inf)
        top = logs.max(axis=axes)
        with np.errstate(invalid="ignore"):
            masses = np.nan_to_num(np.exp(logs - _outer(top, logs)), copy=False)
        if factor is not None:
            masses *= self._cut_up(factor, 0.0)
        source = _parts(rfftn(masses, s=self._sizes, axes=axes))
        unit, out = np.empty(len(top)), np.empty_like(source)
        group_top = np.maximum.reduceat(top, self._begin[:-1])
        run(
            len(top),
            lambda a, b: gather_tiles(
                self._place, top, self._begin, self._low, self._high, group_top, self._strides,
                self._reach, self._cut, self._flips, source, kernel, a, b, unit, out,
            ),
        )  # fmt: skip
        spectra = np.empty(out[:, 0].shape, np.complex128)
        spectra.real, spectra.imag = out[:, 0], out[:, 1]
        spectra = spectra.reshape(len(top), *self._sizes[:-1], -1)
        sums = irfftn(spectra, s=self._sizes, axes=axes)
        inside = sums[(slice(None), *(slice(0, t) for t in self.tile))]
        return _outer(unit, inside), np.ascontiguousarray(inside)

    def _cut_up(self, values: Array, outside: float) -> Array:
        """Tiles of (tiles, ...), in groups; pixels beyond the grid get a value."""
        padded = np.full([q * t for q, t in zip(self.count, self.tile, strict=True)], outside)
        padded[tuple(slice(0, n) for n in self.sides)] = values
        axes = len(self.sides)
        split = padded.reshape(
            [x for pair in zip(self.count, self.tile, strict=True) for x in pair]
        )
        tiles = split.transpose([*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)])
        return np.asarray(tiles.reshape(-1, *self.tile)[self._order])

    def _joined(self, tiles: Array) -> Array:
        """The grid of tiles."""
        axes, ordered = len(self.sides), np.empty_like(tiles)
        ordered[self._order] = tiles
        split = ordered.reshape(*self.count, *self.tile)
        mixed = [x for a in range(axes) for x in (a, axes + a)]
        whole = split.transpose(mixed).reshape(
            [q * t for q, t in zip(self.count, self.tile, strict=True)]
        )
        return np.ascontiguousarray(whole[tuple(slice(0, n) for n in self.sides)])

    def _least_exponents(self) -> Array:
        """``lam`` times the least distance between two tiles, by their offset."""
        total = np.zeros(self.count)
        for axis, (q, t, sharp) in enumerate(
            zip(self.count, self.tile, self.sharpness, strict=True)
        ):
            gap = sharp * np.maximum(np.arange(q) * t - (t - 1.0), 0.0)
            total = total + (gap * gap).reshape([-1 if a == axis else 1 for a in range(total.ndim)])
        return np.sqrt(total).ravel()

    def _transformed(self, entries: Any) -> Array:
        """Transforms of something of exponents and their least ones, for every offset."""
        from scipy.fft import rfftn

        axes = tuple(range(1, len(self.sides) + 1))
        offsets = np.stack(np.unravel_index(np.arange(self._reach.size), self.count), -1)
        step = max(1, _BAND // math.prod(self._sizes))
        rows, columns = math.prod(self._sizes[:-1]), self._sizes[-1] // 2 + 1
        out = np.empty((self._reach.size, 2, rows, columns))
        for start in range(0, len(offsets), step):
            some = offsets[start : start + step]
            far: Array = np.zeros([len(some)] + [1] * len(axes))
            for axis, (n, t) in enumerate(zip(self._sizes, self.tile, strict=True)):
                x = np.arange(float(n))
                x[t:] -= n  # differences from -(t - 1) to t - 1; between them none is read
                y = self.sharpness[axis] * (some[:, axis, None] * t + x)
                far = far + (y * y).reshape(
                    len(some), *(n if a == axis else 1 for a in range(len(axes)))
                )
            reach = _outer(self._reach[start : start + step], far)
            block = entries(np.sqrt(far), reach)
            for axis, (n, t) in enumerate(zip(self._sizes, self.tile, strict=True)):
                np.moveaxis(block, axis + 1, 0)[t : n - t + 1] = 0.0
            out[start : start + step] = _parts(rfftn(block, axes=axes))
        return out


_lock, _tilings = threading.Lock(), OrderedDict[Any, Tiling]()


def tiling_of(sides: tuple[int, ...], sharpness: tuple[float, ...], error: float) -> Tiling:
    """A tiling, which other pairs on the same grid share while there is room."""
    key = sides, sharpness, error
    with _lock:
        found = _tilings.get(key)
        if found is None:
            found = _tilings[key] = Tiling(*key)
        _tilings.move_to_end(key)
        while sum(t.nbytes for t in _tilings.values()) > _KEPT and len(_tilings) > 1:
            _tilings.popitem(last=False)
    return found


def tile_of(sides: tuple[int, ...], sharpness: tuple[float, ...], span: float) -> tuple[int, ...]:
    """The largest tiles whose diagonal counts at most half of ``span``.

    Examples
    --------
    >>> tile_of((64, 64), (1.0, 0.1), 14.0), tile_of((64, 64), (1.0, 1.0), 1.0)
    ((7, 32), (1, 1))
    """
    parts = [1] * len(sides)
    tile = list(sides)
    while 2.0 * _diagonal(tuple(tile), sharpness) > span and max(tile) > 1:
        axis = max(range(len(sides)), key=lambda a: sharpness[a] * (tile[a] - 1))
        while -(-sides[axis] // parts[axis]) == tile[axis]:
            parts[axis] += 1
        tile[axis] = -(-sides[axis] // parts[axis])
    return tuple(tile)


def _diagonal(tile: tuple[int, ...], sharpness: tuple[float, ...]) -> float:
    """``lam`` times the largest distance within a tile."""
    return math.sqrt(sum((s * (t - 1)) ** 2 for s, t in zip(sharpness, tile, strict=True)))


def _in_groups(count: tuple[int, ...]) -> tuple[Array, Array]:
    """The order of tiles in which groups lie one after another, and where each begins."""
    groups = [np.arange(q) // _GROUP for q in count]
    key: Array = np.zeros((), np.int64)
    for of_axis in groups:
        key = np.add.outer(key * (int(of_axis[-1]) + 1), of_axis)
    order = np.argsort(key.ravel(), kind="stable")
    begin = np.flatnonzero(np.diff(key.ravel()[order], prepend=-1, append=key.max() + 1))
    return order.astype(np.int64), begin.astype(np.int64)


def _flipped_rows(sizes: list[int]) -> Array:
    """Rows of a transform by which of the first axes are reflected, as bits."""
    rows = np.arange(math.prod(sizes)).reshape(sizes)
    found = []
    for bits in product((False, True), repeat=len(sizes)):
        flipped = rows
        for axis, flip in enumerate(reversed(bits)):
            if flip:
                flipped = np.take(flipped, -np.arange(sizes[axis]) % sizes[axis], axis=axis)
        found.append(flipped.ravel())
    return np.array(found, np.int64)


def _parts(spectra: Array) -> Array:
    """Real and imaginary parts as (tiles, 2, rows, columns)."""
    flat = spectra.reshape(len(spectra), -1, spectra.shape[-1])
    return np.ascontiguousarray(np.stack([flat.real, flat.imag], axis=1))


def _outer(numbers: Array, like: Array) -> Array:
    """One number for each tile, to be broadcast over its pixels."""
    return numbers.reshape(-1, *[1] * (like.ndim - 1))
