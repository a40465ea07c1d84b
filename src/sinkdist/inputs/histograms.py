"""Reading histograms: the only place that checks them, so that solvers never have to.

Whatever the caller holds (arrays, nested lists, counts, pandas, scipy.sparse) becomes `Histograms`:
rows that are finite, non-negative and sum to 1, or to anything where the call allows that. Input is
never written to; rows that already fit are not copied. Negligible masses, below 1e-100 in float64,
count as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, InputTypeError
from sinkdist.inputs.arrays import is_sparse, pandas_labels, real_array, require_real
from sinkdist.inputs.flags import flag
from sinkdist.inputs.messages import Argument, check_shape, unknown_dtype
from sinkdist.inputs.rows import (
    Rows,
    flushed,
    masses,
    per_row,
    position,
    promoted,
    spread,
    sums,
    with_masses,
)
from sinkdist.inputs.sparsity import check_structure
from sinkdist.inputs.thresholds import NEGLIGIBLE, TOTALS, negative_rounding, slack
from sinkdist.wording import argument, option

__all__ = ["Histograms", "check_on_empty", "check_same_bins", "read", "working_dtype"]

Array: TypeAlias = npt.NDArray[Any]

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_NAMES = {dtype: dtype.name for dtype in (_FLOAT32, _FLOAT64)}  # NumPy makes one up each time
_NEGLIGIBLE = {dtype: NEGLIGIBLE[name] for dtype, name in _NAMES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """n checked histograms over d bins: finite, non-negative rows that sum to 1 up to rounding.

    Attributes
    ----------
    rows : ndarray or csr_array, shape (n, d)
        float32 or float64; C-contiguous if dense, canonical without stored zeros if sparse.
        May be the caller's own memory: never write to it.
    is_vector : bool
        Whether the caller gave one 1-D histogram.
    empty : ndarray of bool, shape (n,), or None
        Rows without mass (stored as zeros), where there are any and ``on_empty="nan"`` allows it.
    """

    rows: Rows
    is_vector: bool = False
    empty: npt.NDArray[np.bool_] | None = None

    @property
    def n(self) -> int:
        """Number of histograms."""
        return int(self.rows.shape[0])

    @property
    def d(self) -> int:
        """Number of bins."""
        return int(self.rows.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        dtype: np.dtype[Any] = self.rows.dtype
        return dtype

    def dense(self, index: slice | npt.NDArray[np.integer]) -> Array:
        """Dense (k, d) rows for a slice (a view where storage is dense) or an array of integers."""
        chosen = self.rows[index]
        return chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen.toarray())

    def copy(self) -> Histograms:
        """The same in memory of its own, for what outlives the call."""
        return Histograms(self.rows.copy(), self.is_vector, self.empty)

    def support(self, i: int) -> npt.NDArray[np.intp]:
        """Sorted indices of the positive bins of row `i`."""
        if isinstance(self.rows, np.ndarray):
            return np.flatnonzero(self.rows[i])
        i = range(self.n)[i]
        bins = self.rows.indices[self.rows.indptr[i] : self.rows.indptr[i + 1]]
        return np.asarray(bins, dtype=np.intp)


def working_dtype(*values: Any, dtype: Any = None) -> np.dtype[Any]:
    """The dtype to compute in: `dtype` if given, float32 if every input is float32 or half.

    Counts have no precision of their own, but are exact: beside float32 they call for float64.
    None stands for an absent input.
    """
    if dtype is not None:
        try:
            chosen = np.dtype(dtype).type
        except (TypeError, ValueError, SyntaxError):
            chosen = None
        if chosen is np.float64 or chosen is np.float32:
            return _FLOAT64 if chosen is np.float64 else _FLOAT32
        raise unknown_dtype(dtype)
    present = [value for value in values if value is not None]
    return _FLOAT32 if present and all(map(_is_single, present)) else _FLOAT64


def check_on_empty(on_empty: Any) -> None:
    """Raise unless the option is one of its two words."""
    if type(on_empty) is str and (on_empty == "raise" or on_empty == "nan"):
        return
    wrong = InputError if isinstance(on_empty, str) else InputTypeError
    raise wrong(
        "The {} option must be 'raise' or 'nan'. Got {!r} instead.", option("on_empty"), on_empty
    )


def check_same_bins(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Raise if two pandas inputs of equal length label their bins differently.

    Inputs of different lengths are left to the ground metric, which may be rectangular.
    """
    labels, others = pandas_labels(first), pandas_labels(second)
    if labels is None or others is None or len(labels) != len(others) or labels.equals(others):
        return
    k = next((k for k in range(len(labels)) if labels[k] != others[k]), 0)
    raise InputError(
        "{0} and {1} label their bins differently: bin {2} is {3!r} in {0} and {4!r} in {1}. "
        "Reindex one like the other, or pass .to_numpy() to match bins by position.",
        argument(first_name), argument(second_name), k, labels[k], others[k],
    )  # fmt: skip


def read(
    values: Any,
    name: str,
    *,
    dtype: np.dtype[Any],
    bins: int | None = None,
    normalize: bool = False,
    on_empty: str = "raise",
    against: str = "the ground metric",
    any_total: bool = False,
) -> Histograms:
    """Check one histogram (1-D) or a family of them (2-D, one per row).

    Parameters
    ----------
    values : array_like
        Masses or, with `normalize`, counts.
    name : str
        What messages call the argument.
    dtype : numpy.dtype
        The working dtype, from `working_dtype`.
    bins : int, optional
        The number of bins there must be.
    normalize : bool
        Divide by the row sums; without it rows must sum to 1 up to rounding.
    on_empty : {"raise", "nan"}
        Whether rows without mass are an error or are only marked in ``Histograms.empty``.
    against : str
        What has that many `bins`, for the message.
    any_total : bool
        Whether rows may sum to any number within `inputs.thresholds.TOTALS`; nothing is divided
        then, unless `normalize` says so.

    Returns
    -------
    Histograms

    Examples
    --------
    >>> read([[1, 3], [2, 2]], "X", dtype=np.dtype(float), normalize=True).rows
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    check_on_empty(on_empty)
    normalize = flag("normalize", normalize)
    if type(values) is not np.ndarray or values.dtype != dtype:
        if is_sparse(values):
            require_real(values, f"'{name}'")
        else:
            values = real_array(values, f"'{name}'")
    if values.ndim not in (1, 2) or values.shape[-1] != bins or bins == 0:
        check_shape(values.shape, name, bins, against)
    if not isinstance(values, np.ndarray):
        check_structure(values, f"'{name}'")
    with np.errstate(all="ignore"):  # what overflows or is not a number is found and named
        if not normalize and isinstance(values, np.ndarray) and values.dtype == dtype:
            rows = None if any_total else _as_is(values)
            if rows is not None:
                is_vector = rows.ndim == 1
                return Histograms(rows[None] if is_vector else rows, is_vector)
        place = Argument(name, values.ndim == 1)
        rules = _Rules(normalize, on_empty, any_total and not normalize)
        return _with_care(values, dtype, place, rules)


def _as_is(values: Array) -> Array | None:
    """The quick way: masses in the working dtype with nothing to repair, else None."""
    if not (values.flags.c_contiguous and values.flags.aligned):
        return None
    # NaN, negative and negligible masses are all "not zero, yet not above the bound".
    large = np.count_nonzero(values >= 2.0 * _NEGLIGIBLE[values.dtype])
    if values.ndim == 1:
        if large != np.count_nonzero(values):
            return None
        total = float(np.add.reduce(values, dtype=np.longdouble))  # as by `sums`
        if abs(total - 1.0) <= _rounding(values):
            return values
        return values / total if abs(total - 1.0) <= _slack(values) else None
    if large != np.count_nonzero(values != 0.0):  # the comparison first: three times as fast
        return None
    totals = sums(values)
    off = np.abs(totals - 1.0)
    largest = off.max(initial=0.0)
    if largest <= _rounding(values):
        return values
    if largest > _slack(values):
        return None
    totals[off <= _rounding(values)] = 1.0  # as if they had come alone
    return values / totals[:, None]


class _Rules(NamedTuple):
    """What becomes of rows that do not sum to 1, and of those without mass."""

    normalize: bool
    on_empty: str
    any_total: bool


def _with_care(values: Any, dtype: np.dtype[Any], place: Argument, rules: _Rules) -> Histograms:
    """Every other input: promoted before any sum, then checked and repaired step by step."""
    source = values.dtype.char
    rows = promoted(values, _FLOAT32 if dtype == _FLOAT32 and source in "ef" else _FLOAT64)
    rows = _non_negative(rows, place, negative_rounding(values.dtype.name))
    empty = per_row(np.maximum, rows) == 0.0
    if rules.on_empty == "raise" and empty.any():
        raise place.without_mass(np.flatnonzero(empty))
    totals = sums(rows)
    totals[empty] = 1.0
    if rules.normalize and not np.isfinite(totals).all():
        # A power of two that makes room for the sum: the division stays as exact as without it.
        room = np.where(np.isfinite(totals), 1.0, 0.5 ** rows.shape[1].bit_length())
        rows = with_masses(rows, masses(rows) * spread(room.astype(rows.dtype), rows))
        totals = np.where(empty, 1.0, sums(rows)).astype(rows.dtype)
    if rules.any_total:
        _check_totals(totals, place)
        totals[:] = 1.0  # nothing is divided
    elif not rules.normalize:
        off = np.flatnonzero(~(np.abs(totals - 1.0) <= _slack(values)))
        if off.size:
            raise place.wrong_sum(off, float(totals[off[0]]))
    totals[np.abs(totals - 1.0) <= _rounding(rows)] = 1.0
    if (totals != 1.0).any():
        rows = with_masses(rows, masses(rows) / spread(totals, rows))
    return Histograms(
        flushed(rows, dtype, _NEGLIGIBLE[dtype]),
        place.is_vector,
        empty if empty.any() else None,
    )


def _check_totals(totals: Array, place: Argument) -> None:
    """Raise for sums so large or small that masses would be lost beside the limits of floats."""
    least, most = TOTALS
    off = np.flatnonzero(~((totals >= least) & (totals <= most)))
    if off.size:
        raise place.extreme_sum(off, float(totals[off[0]]), TOTALS)


def _non_negative(rows: Rows, place: Argument, rounding: float) -> Rows:
    """`rows` with negatives that are mere rounding set to 0, or an error that names the entry."""
    numbers = masses(rows)
    infinite = ~np.isfinite(numbers)
    if infinite.any():
        raise place.bad_entry(*position(rows, infinite), negative=False)
    if not (numbers < 0.0).any():
        return rows
    # A row without a positive entry has no scale to call its negatives rounding.
    scale = np.maximum(per_row(np.maximum, rows), 0.0)
    negative = numbers < spread(-rounding * scale, rows)
    if negative.any():
        raise place.bad_entry(*position(rows, negative), negative=True)
    return with_masses(rows, np.maximum(numbers, 0.0))


def _rounding(values: Any) -> float:
    """How far the sum of a row that was divided by its own sum may be from 1: it stays as it is.

    Single precision is summed in single precision later on, so there every sum is made 1.
    """
    return float(values.shape[-1] * 2.0**-52) if values.dtype == _FLOAT64 else 0.0


def _slack(values: Any) -> float:
    """How far a sum may be from 1 and count as rounding."""
    return slack(_NAMES.get(values.dtype) or values.dtype.name, values.shape[-1])


def _is_single(value: Any) -> bool:
    """Whether float32 holds `value` exactly because it is float32 or half already."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(map(_is_single, value))
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype) and hasattr(value, "__array__"):
        try:
            dtype = np.asarray(value).dtype  # frames, and arrays of other packages
        except (TypeError, ValueError, RuntimeError):
            return False  # `read` says why it cannot be one
    return isinstance(dtype, np.dtype) and dtype.char in "ef"
