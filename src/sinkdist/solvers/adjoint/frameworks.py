"""Which function solves a block of pairs: that of the library which the arrays belong to.

torch and JAX bring functions that differentiate; arrays of other libraries are solved as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sinkdist.inputs.array_context import ArrayContext
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.transport import Answer, BlockSpec, Parameters, answer

__all__ = ["no_compile", "transport"]

_LOOPS = Control()

_P = ParamSpec("_P")
_T = TypeVar("_T")


def no_compile(verb: Callable[_P, _T]) -> Callable[_P, _T]:
    """Keep ``torch.compile`` from looking into a verb, which is no graph: it looks at numbers.

    What comes before and after it is compiled.
    """

    @wraps(verb)
    def run(*args: _P.args, **options: _P.kwargs) -> _T:
        torch = sys.modules.get("torch")
        if torch is not None and torch.compiler.is_compiling():
            result: _T = torch.compiler.disable(verb)(*args, **options)
            return result
        return verb(*args, **options)

    return run


def transport(
    context: ArrayContext, asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array
) -> Answer:
    """Solve a block of pairs; ``R`` has one row, shared, or one per pair."""
    if context.kind == "torch":
        from sinkdist.solvers.adjoint import torch_autograd

        found: Answer = torch_autograd.transport(asked, numbers, R, C, M)
        return found
    if context.kind == "jax":
        from sinkdist.solvers.adjoint import jax_vjp

        return jax_vjp.transport(asked, numbers, R, C, M)
    return answer(context.xp, _LOOPS, asked, numbers, R, C, M)
