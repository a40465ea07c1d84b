"""Reading what people hand over as an array of real numbers, or refusing its kind.

Shared by histograms and ground costs, which check the numbers; here only the kind of object counts.
Optional packages are consulted in ``sys.modules`` and never imported: an object of a package that
was not imported cannot exist.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError

__all__ = ["for_kernels", "is_sparse", "pandas_labels", "real_array", "require_real"]

_REAL_KINDS = "fiub"  # floats, signed and unsigned integers, booleans
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def real_array(value: Any, subject: str) -> npt.NDArray[Any]:
    """`value` as a plain array of real numbers, not copied if it is one.

    `subject` is what messages call it, as the beginning of a sentence.
    """
    if type(value) is not np.ndarray:
        _refuse_masked(value, subject)
        value = _converted(value, subject)
    require_real(value, subject)
    array: npt.NDArray[Any] = value
    return array


def require_real(array: Any, subject: str) -> None:
    """Raise unless the dtype of `array` (dense or sparse) is one of real numbers."""
    dtype = array.dtype
    if dtype.kind in _REAL_KINDS:
        return
    if dtype.kind == "c":
        raise InputTypeError(
            f"{subject} must hold real numbers. Got dtype {dtype} instead: "
            "pass its .real part if the imaginary part carries no meaning."
        )
    if dtype.kind == "O" and array.ndim == 0:
        raise _not_an_array(subject, array.item())
    if dtype.kind == "O":
        entries = array.ravel() if isinstance(array, np.ndarray) else ()
        odd = [_a(entry) for entry in entries if not isinstance(entry, _NUMBERS)][:1]
        raise InputTypeError(
            f"{subject} must hold real numbers. Got dtype object instead"
            + (f", with {odd[0]} among its entries." if odd else ": pass .astype(float).")
        )
    if array.ndim == 0:
        raise _not_an_array(subject, array.item())
    raise InputTypeError(f"{subject} must hold real numbers. Got dtype {dtype} instead.")


def for_kernels(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """`array` as compiled kernels take it: plain, float64, C-contiguous and flagged writeable.

    Kernels are compiled for that flag, though they write to no input. So memory that must not be
    written to, such as the maps of files that worker processes receive, is not copied for it: the
    same memory is looked at through an array without the flag. Only for arrays that nobody writes
    to.
    """
    array = np.require(np.asarray(array), np.float64, ["C", "A"])
    return array if array.flags.writeable else np.asarray(_Unflagged(array))


class _Unflagged:
    """Keeps an array, and shows its memory to NumPy as if it could be written to."""

    __slots__ = ("__array_interface__", "keeps")

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.keeps = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def is_sparse(value: Any) -> bool:
    """Whether `value` is a scipy.sparse array or matrix of any format."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))


def pandas_labels(value: Any) -> Any:
    """The labels of the last axis of a pandas object (columns, or a Series' index), else None."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if isinstance(value, pandas.DataFrame):
            return value.columns
        if isinstance(value, pandas.Series):
            return value.index
    return None


def _converted(value: Any, subject: str) -> npt.NDArray[Any]:
    """`value` through ``numpy.asarray``, with our own messages for its failures."""
    if value is None or isinstance(value, (str, bytes)) or is_sparse(value):
        raise _not_an_array(subject, value)
    if hasattr(value, "todense") and not isinstance(value, np.ndarray):
        raise InputTypeError(
            f"{subject} is a sparse array of type {type(value).__name__}: pass its .todense()."
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        if isinstance(value, (list, tuple)):
            raise InputTypeError(
                f"{subject} is a ragged nested list: its rows have different lengths."
            ) from error
        raise InputTypeError(f"{subject} cannot be read as an array: {error}") from error
    except (TypeError, RuntimeError) as error:  # arrays on another device, or that need a gradient
        raise InputTypeError(f"{subject} cannot be read as an array: {error}") from error
    if array.dtype.kind == "O" and pandas_labels(value) is not None:
        return _nullable(value, array)
    return array


def _nullable(value: Any, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A frame of pandas' own number types (which NumPy sees as objects) as float64, NA as NaN."""
    dtypes = [value.dtype] if value.ndim == 1 else list(value.dtypes)
    if all(getattr(dtype, "kind", "O") in _REAL_KINDS for dtype in dtypes):
        numbers: npt.NDArray[Any] = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    return array


def _refuse_masked(value: Any, subject: str) -> None:
    """Raise for masked arrays, alone or as the rows of a list: NumPy would drop the mask."""
    masked = sys.modules.get("numpy.ma")
    if masked is None:
        return
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(part, masked.MaskedArray) for part in parts):
        raise InputTypeError(
            f"{subject} is a masked array, whose mask would be ignored: "
            "pass .filled(value), which says what the masked entries are."
        )


def _not_an_array(subject: str, value: Any) -> InputTypeError:
    """The error for an object that is no array at all."""
    return InputTypeError(f"{subject} must be an array of real numbers. Got {_a(value)} instead.")


def _a(value: Any) -> str:
    """How a message names an object of an unwanted type."""
    return "None" if value is None else f"an object of type {type(value).__name__}"
