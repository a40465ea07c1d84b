"""What the docstrings of all classic distances have in common, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["fill_docstring"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_COMMON = {
    "<families>": """\
Parameters
----------
X : array_like, shape (n, d)
    Histograms, one per row: an array, nested lists, a pandas frame, a scipy.sparse matrix.
Y : array_like, shape (m, d), optional
    Other histograms; `X` itself by default.""",
    "<options>": """\
normalize : bool
    Divide by the row sums; without it rows must sum to 1.
on_empty : {"raise", "nan"}
    Whether rows without mass are an error or have NaN for their distances.
workers, progress, memory, out, overwrite, client
    As for `pairwise`.""",
    "<result>": """\
Returns
-------
ndarray of shape (n, m), or StoredMatrix where `out` is given
    The distances; float32 when all rows are float32, else float64. Equal rows have distance 0.""",
}


def fill_docstring(function: _Function) -> _Function:
    """Put the common parts of a docstring in their place."""
    text = inspect.cleandoc(function.__doc__ or "")  # None under python -OO
    for name, part in _COMMON.items():
        text = text.replace(name, part)
    function.__doc__ = text
    return function
