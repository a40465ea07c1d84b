"""Labels of rows: carried from pandas frames to the results of the verbs.

pandas is never imported here: a frame can only come from one that is.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["as_frame", "as_series", "row_labels"]


def row_labels(value: Any) -> Any:
    """The index of a pandas DataFrame; None for anything else."""
    pandas = sys.modules.get("pandas")
    return value.index if pandas is not None and isinstance(value, pandas.DataFrame) else None


def as_frame(matrix: Any, rows: Any, columns: Any) -> Any:
    """A matrix as a DataFrame, where its rows or its columns have labels.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> as_frame(np.eye(2), pd.Index(["a", "b"]), None).loc["b"].tolist()
    [0.0, 1.0]
    """
    if (rows is None and columns is None) or not isinstance(matrix, np.ndarray):
        return matrix
    return sys.modules["pandas"].DataFrame(matrix, index=rows, columns=columns)


def as_series(values: npt.NDArray[Any], *families: Any) -> Any:
    """Distances of matched rows as a Series, where a family of so many rows has labels."""
    for family in families:
        labels = row_labels(family)
        if labels is not None and len(labels) == len(values):
            return sys.modules["pandas"].Series(values, index=labels)
    return values
