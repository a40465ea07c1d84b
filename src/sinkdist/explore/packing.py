"""Arrays as text that a page can hold: little-endian numbers in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["LARGEST", "check_size", "floats", "integers", "packed_rows"]

Array = npt.NDArray[Any]
Packed = dict[str, str]

LARGEST = 10_000_000  #: bytes of a page


def floats(values: Any) -> Packed:
    """Numbers in single precision.

    Examples
    --------
    >>> floats([1.0])
    {'type': 'f4', 'data': 'AACAPw=='}
    """
    return _packed(np.asarray(values), "<f4")


def integers(values: Any) -> Packed:
    """Non-negative integers, in two bytes where they fit, else in four.

    Examples
    --------
    >>> integers([1, 2])["type"], integers([70_000])["type"]
    ('u2', 'u4')
    """
    array = np.asarray(values)
    return _packed(array, "<u2" if array.size == 0 or int(array.max()) < 1 << 16 else "<u4")


def packed_rows(rows: Any) -> dict[str, Any]:
    """Rows of a CSR array: where each begins, its bins and their masses."""
    return {
        "start": integers(rows.indptr),
        "bins": integers(rows.indices),
        "mass": floats(rows.data),
    }


def check_size(size: int, rows: int) -> None:
    """Raise if a page would be larger than a browser should be given."""
    if size > LARGEST:
        raise InputError(
            f"The page would take {size / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f} MB: pass "
            f"fewer than these {rows:,} histograms, or coarser ones."
        )


def _packed(array: Array, kind: str) -> Packed:
    """Numbers of one kind, in base64."""
    raw = np.ascontiguousarray(array, dtype=kind).tobytes()
    return {"type": kind[1:], "data": base64.b64encode(raw).decode("ascii")}
