"""Writing named columns, one line for each row: for results that are lists, not matrices.

Like a matrix, a file is written under a temporary name and takes its own when it is complete.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

__all__ = ["COLUMNS", "as_csv", "write_columns"]

Array = npt.NDArray[Any]

COLUMNS = (".csv", ".parquet")  #: endings of files that can be written


def as_csv(columns: Mapping[str, Array]) -> str:
    r"""A table in text, with the names in its first line.

    Examples
    --------
    >>> import numpy as np
    >>> as_csv({"row": np.array([0, 1]), "name": np.array(["a", "b, c"])})
    'row,name\n0,a\n1,"b, c"\n'
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()


def write_columns(path: str, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length as .csv or .parquet; a file of that name is replaced."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.part")
    try:
        if os.path.splitext(path)[1].lower() == ".parquet":
            from sinkdist.files.parquet import write_named

            write_named(temporary, columns)
        else:
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                file.write(as_csv(columns))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
