"""Other views of a work space, for compiled code: Numba's `reshape` and `view` compile slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.core import imputils as untyped_imputils
from numba.extending import intrinsic
from numba.np import arrayobj as untyped_arrayobj

from sinkdist.kernels.compiled import INTERPRETED, Array

__all__ = ["bits_of", "matrix_in"]

cgutils, imputils, arrayobj = (
    cast("Any", module) for module in (untyped_cgutils, untyped_imputils, untyped_arrayobj)
)


def _matrix_in(typing_context: Any, buffer: Any, m: Any, n: Any) -> Any:
    """Numba's description of `matrix_in`."""
    result = cast("Any", types).Array(buffer.dtype, 2, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _view(context, builder, signature, arguments[0], list(arguments[1:]))

    return result(buffer, types.intp, types.intp), generate


def _bits_of(typing_context: Any, x: Any) -> Any:
    """Numba's description of `bits_of`."""
    result = cast("Any", types).Array(types.int64, x.ndim, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        shape = cgutils.unpack_tuple(builder, source.shape)
        return _view(context, builder, signature, arguments[0], shape)

    return result(x), generate


def _view(context: Any, builder: Any, signature: Any, buffer: Any, shape: list[Any]) -> Any:
    """An array of another type and shape on the memory of an array with entries as large."""
    source = arrayobj.make_array(signature.args[0])(context, builder, buffer)
    view = arrayobj.make_array(signature.return_type)(context, builder)
    strides = [source.itemsize]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0]))
    data_type = context.get_data_type(signature.return_type.dtype).as_pointer()
    arrayobj.populate_array(
        view,
        data=builder.bitcast(source.data, data_type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=source.itemsize,
        meminfo=source.meminfo,
        parent=source.parent,
    )
    return imputils.impl_ret_borrowed(context, builder, signature.return_type, view._getvalue())


def _matrix_in_interpreted(buffer: Array, m: int, n: int) -> Array:
    return buffer[: m * n].reshape(m, n)


def _bits_of_interpreted(x: Array) -> Array:
    return x.view(np.int64)


#: The first ``m n`` numbers of a vector as an ``m x n`` matrix.
matrix_in: Callable[[Array, int, int], Array] = (
    _matrix_in_interpreted if INTERPRETED else cast("Any", intrinsic(_matrix_in))
)
#: The bits of an array of float64, as int64.
bits_of: Callable[[Array], Array] = (
    _bits_of_interpreted if INTERPRETED else cast("Any", intrinsic(_bits_of))
)
