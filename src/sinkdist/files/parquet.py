"""Tables in Parquet: the one file that imports pyarrow, for reading and for writing.

Columns are bins; a table whose only column is one of lists has a histogram in each of them. The
columns in which pandas keeps its row names are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, needs_extra
from sinkdist.files.claims import check_memory
from sinkdist.files.labels import NONE, Labels, chosen_columns, hint_for, joined
from sinkdist.files.table import Table
from sinkdist.inputs.messages import count

with needs_extra("parquet", "A file in Parquet"):
    import pyarrow as pa
    from pyarrow import compute, parquet

__all__ = ["read_parquet", "read_parquet_table", "write_named", "write_parquet"]

Array = npt.NDArray[Any]

_INDEX = "__index_level_0__"  # what pandas calls an index without a name


def read_parquet(path: str) -> Array:
    """The table in a .parquet file as (n, d) numbers."""
    return read_parquet_table(path).values


def read_parquet_table(path: str, label_columns: str | None = None) -> Table:
    """The same with labels: pandas' row names, or the columns that ``label_columns`` names."""
    try:
        file = parquet.ParquetFile(path)  # never a whole folder
        found = file.metadata
        groups = (found.row_group(k).total_byte_size for k in range(found.num_row_groups))
        size = max(found.num_rows * sum(map(_width, file.schema_arrow.types)), sum(groups))
        check_memory(path, size, "Save it as .npy, of which only what is needed is read.")
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"'{path}' is damaged or not a Parquet file.") from error
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    names = table.column_names
    chosen = [names[k] for k in chosen_columns(path, label_columns, names)]
    holding = chosen or [name for name in index if name in names]
    labels = joined([list(map(str, table.column(x).to_pylist())) for x in holding])
    table = table.drop_columns([x for x in names if x in chosen or x in index])
    if table.num_columns == 1 and _is_list(table.schema.field(0).type):
        values = _lists(path, table.column(0).combine_chunks())
        return Table(values, labels if holding else None, "")
    for name in table.column_names:
        _require_numbers(path, name, table.column(name))
    columns = [table.column(name).to_numpy() for name in table.column_names]
    values = np.stack(columns, axis=1) if columns else np.empty((table.num_rows, 0))
    return Table(values, labels if holding else None, next(iter(table.column_names), ""))


def write_parquet(
    path: str, blocks: Iterable[Array], shape: tuple[int, int], dtype: Any, labels: Labels = NONE
) -> None:
    """Write blocks of rows as row groups; columns without labels are called 0, 1, 2 and so on.

    Labels of rows are a column of their own, which pandas reads as the index.
    """
    numbers = pa.from_numpy_dtype(np.dtype(dtype))
    names = labels.columns or range(shape[1])
    schema = pa.schema([(str(name), numbers) for name in names])
    if labels.rows is not None:
        known = {"name": None, "field_name": _INDEX, "pandas_type": "unicode", "metadata": None}
        about = {
            "index_columns": [_INDEX], "column_indexes": [],
            "columns": [{**known, "numpy_type": "object"}],
        }  # fmt: skip
        index = pa.field(_INDEX, pa.string())
        schema = schema.append(index).with_metadata({"pandas": json.dumps(about)})
    start = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for block in blocks:
            columns = [pa.array(np.ascontiguousarray(column)) for column in block.T]
            if labels.rows is not None:
                columns.append(pa.array(labels.rows[start : start + len(block)]))
            start += len(block)
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def write_named(path: str, columns: Mapping[str, Array]) -> None:
    """Write named columns of equal length."""
    parquet.write_table(pa.table({name: pa.array(x) for name, x in columns.items()}), path)


def _width(kind: Any) -> int:
    """Bytes of an entry of this type; 0 where entries differ."""
    try:
        return int(kind.bit_width + 7) // 8
    except ValueError:
        return 0


def _is_list(kind: Any) -> bool:
    """Whether entries of this type are lists."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _lists(path: str, column: Any) -> Array:
    """Lists of one length as the rows of an array."""
    if column.null_count:
        raise InputError(f"'{path}' has {column.null_count} rows without a list.")
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if (lengths != lengths[:1]).any():
        odd = int((lengths != lengths[0]).argmax())
        raise InputError(
            f"Row {odd} of '{path}' has {count(int(lengths[odd]), 'number')}, but the first has "
            f"{lengths[0]}."
        )
    numbers = column.flatten()
    _require_numbers(path, "of lists", numbers)
    array: Array = numbers.to_numpy(zero_copy_only=False)
    return array.reshape(len(lengths), -1) if len(lengths) else np.empty((0, 0))


def _require_numbers(path: str, name: str, column: Any) -> None:
    """Raise unless a column holds numbers, all of them present."""
    types, kind = pa.types, column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        hint = hint_for(name) if types.is_string(kind) or types.is_large_string(kind) else ""
        raise InputError(
            f"Column '{name}' of '{path}' holds values of type {kind}, not numbers{hint}."
        )
    if column.null_count:
        raise InputError(
            f"Column '{name}' of '{path}' has {column.null_count} missing "
            f"value{'s' * (column.null_count > 1)}."
        )
