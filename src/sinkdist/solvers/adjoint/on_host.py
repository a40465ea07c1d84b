"""Functions of NumPy arrays as functions of device arrays, with derivatives of their own.

For what is solved on the host, whatever array comes in. Which of the outputs have a gradient is
what ``pull`` takes: those of the first ``moving`` ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputTypeError
from sinkdist.inputs.array_context import ArrayContext

__all__ = ["HostFunction", "call_on_host"]

Array: TypeAlias = Any  #: an array of the standard
Arrays: TypeAlias = Sequence[npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class HostFunction:
    """What is computed on the host.

    Attributes
    ----------
    solve : callable
        From arrays to outputs of the ``shapes``.
    pull : callable
        From arrays, outputs and the gradients by the first ``moving`` outputs to those by arrays.
    shapes : tuple
        Shape and dtype of every output.
    moving : int
        Outputs that have a gradient.
    refusal : Exception, optional
        Raised where a gradient is asked for, instead.
    """

    solve: Callable[..., Arrays]
    pull: Callable[[Arrays, Arrays, Arrays], Arrays]
    shapes: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    moving: int
    refusal: Exception | None = None

    def check(self) -> None:
        """Raise where there is no gradient."""
        if self.refusal is not None:
            raise self.refusal

    def outputs(self, *arrays: Any) -> tuple[npt.NDArray[Any], ...]:
        """Of NumPy arrays, in the dtypes that were promised."""
        found = self.solve(*(np.asarray(x, np.float64) for x in arrays))
        return tuple(
            np.ascontiguousarray(x, dtype).reshape(shape)
            for x, (shape, dtype) in zip(found, self.shapes, strict=True)
        )

    def gradients(self, *numbers: Any) -> tuple[npt.NDArray[Any], ...]:
        """From arrays, outputs and gradients, one behind the other; as the arrays are."""
        given = len(numbers) - len(self.shapes) - self.moving
        wide = [np.asarray(x, np.float64) for x in numbers]
        split = given + len(self.shapes)
        found = self.pull(wide[:given], wide[given:split], wide[split:])
        return tuple(
            np.ascontiguousarray(x, np.asarray(like).dtype)
            for x, like in zip(found, numbers[:given], strict=True)
        )


def call_on_host(context: ArrayContext, function: HostFunction, *arrays: Array) -> list[Array]:
    """The outputs, where the arrays live; differentiable in torch and JAX."""
    if context.kind == "torch":
        from sinkdist.solvers.adjoint import torch_autograd

        return list(torch_autograd.on_host(function, *arrays))
    if context.kind == "jax":
        from sinkdist.solvers.adjoint import jax_vjp

        return list(jax_vjp.differentiable_on_host(function, *arrays))
    known = [context.host(x) for x in arrays]
    if any(x is None for x in known):
        raise InputTypeError("These numbers are solved on the host and must be known.")
    return [context.put(x) for x in function.outputs(*known)]
