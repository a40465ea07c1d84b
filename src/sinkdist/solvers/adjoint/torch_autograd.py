"""The solver as a function that torch can differentiate; the only file here that imports torch.

`_Transport` and `_Adjoint` are ``autograd.Function`` with rules for ``torch.func.vmap``: more pairs
are a larger block, and what needs costs of its own is solved one after another. Sweeps look at
their errors, so ``torch.compile`` leaves them as they are; see `frameworks.no_compile`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat.torch as xp
import torch

from sinkdist.solvers.adjoint.differentiate import gradients
from sinkdist.solvers.adjoint.on_host import HostFunction
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.operators import Potentials
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.transport import (
    Answer,
    BlockSpec,
    Domain,
    Parameters,
    answer,
    resolve_domain,
)

__all__ = ["on_host", "transport"]

_LOOPS = Control()


def transport(asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array) -> Answer:
    """Solve a block of pairs; differentiable with respect to histograms and costs."""
    return Answer(*_Transport.apply(asked, numbers, R, C, M))


def on_host(function: HostFunction, *arrays: Array) -> tuple[Array, ...]:
    """A function of the host; differentiable."""
    found: tuple[Array, ...] = _OnHost.apply(function, *arrays)
    return found


class _OnHost(torch.autograd.Function):
    """Forward and backward: numbers go to the host and come back."""

    @staticmethod
    def forward(function: HostFunction, *arrays: Array) -> Any:
        found = function.outputs(*_fetched(arrays))
        return tuple(torch.from_numpy(x).to(arrays[0].device) for x in found)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.function, *arrays = inputs
        ctx.save_for_backward(*arrays, *output)
        ctx.mark_non_differentiable(*output[ctx.function.moving :])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *by: Any) -> Any:
        ctx.function.check()
        saved = ctx.saved_tensors
        found = ctx.function.gradients(*_fetched([*saved, *by[: ctx.function.moving]]))
        given = zip(found, saved, strict=False)
        return None, *(torch.from_numpy(x).to(like.device) for x, like in given)


def _fetched(arrays: Any) -> list[Any]:
    """Numbers on the host."""
    return [x.detach().cpu().numpy() for x in arrays]


class _Transport(torch.autograd.Function):
    """Forward: sweeps, without a graph. Backward: one linear system."""

    @staticmethod
    def forward(asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array) -> Any:
        asked = resolve_domain(asked, numbers, lambda: float(torch.max(M)), M.dtype)
        return tuple(answer(xp, _LOOPS, asked, numbers, R, C, M))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.asked, ctx.numbers, *arrays = inputs
        found = Answer(*output)
        ctx.save_for_backward(*arrays, found.F, found.G, found.lam)
        alone = not ctx.asked.keep or ctx.asked.domain is Domain.CONSTRAINED
        ctx.mark_non_differentiable(*output[1 if alone else 2 :])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, by_value: Any, by_objective: Any, *others: Any) -> Any:
        if by_value is None and by_objective is None:
            return None, None, None, None, None
        *arrays, lam = ctx.saved_tensors
        by_value = torch.zeros_like(lam) if by_value is None else by_value
        by_objective = torch.zeros_like(lam) if by_objective is None else by_objective
        asked = replace(ctx.asked, learns=ctx.needs_input_grad[4])
        found = _Adjoint.apply(asked, ctx.numbers, *arrays, lam, by_value, by_objective)
        return None, None, found[0], found[1], found[2] if asked.learns else None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        if in_dims[4] is not None:
            return _one_by_one(_Transport, info.batch_size, in_dims, inputs)
        asked, numbers, R, C, M = inputs
        rows = _rows(C, in_dims[3])
        R, C = (
            _merged(x, dim, info.batch_size, rows) for x, dim in ((R, in_dims[2]), (C, in_dims[3]))
        )
        out = _Transport.apply(asked, numbers, R, C, M)
        return tuple(_split(x, info.batch_size) for x in out), (0,) * len(out)


class _Adjoint(torch.autograd.Function):
    """The backward pass as a function of its own, so that it can be mapped over as well."""

    @staticmethod
    def forward(asked: BlockSpec, numbers: Parameters, *arrays: Array) -> Any:
        R, C, M, F, G, lam, by_value, by_objective = arrays
        asked = resolve_domain(asked, numbers, lambda: float(torch.max(M)), M.dtype)
        found = gradients(
            xp, _LOOPS, asked, numbers, R, C, M, Potentials(F, G), lam, by_value,
            by_objective if asked.keep else None,
        )  # fmt: skip
        return found.R, found.C, M.new_zeros(()) if found.M is None else found.M

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *by: Any) -> Any:
        if all(gradient is None for gradient in by):
            return (None,) * 10
        raise NotImplementedError(
            "Distances can be differentiated once, not twice: take differences of their gradients."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        asked, numbers, R, C, M, *others = inputs
        size, rows = info.batch_size, _rows(C, in_dims[3])
        if asked.learns or in_dims[4] is not None:
            return _one_by_one(_Adjoint, size, in_dims, inputs)
        R, C = (_merged(x, dim, size, rows) for x, dim in ((R, in_dims[2]), (C, in_dims[3])))
        others = [_merged(x, dim, size, rows) for x, dim in zip(others, in_dims[5:], strict=True)]
        by_R, by_C, by_M = _Adjoint.apply(asked, numbers, R, C, M, *others)
        by_R, by_C = _split(by_R, size), _split(by_C, size)
        if _rows(inputs[2], in_dims[2]) == 1:
            by_R = by_R.sum(dim=1, keepdim=True)
        return (by_R, by_C, by_M), (0, 0, None)


def _rows(x: Array, dim: int | None) -> int:
    """Rows of an array apart from the axis that is mapped over."""
    return int(x.shape[0] if dim is None else x.movedim(dim, 0).shape[1])


def _merged(x: Array, dim: int | None, size: int, rows: int) -> Array:
    """All entries of a batch as one block of pairs."""
    x = x.movedim(dim, 0) if dim is not None else x.expand(size, *x.shape)
    return x.expand(size, rows, *x.shape[2:]).reshape(size * rows, *x.shape[2:])


def _split(x: Array, size: int) -> Array:
    """A block of pairs as the entries of a batch again."""
    return x.reshape(size, x.shape[0] // size, *x.shape[1:])


def _one_by_one(function: Any, size: int, in_dims: Any, inputs: Any) -> Any:
    """One call for each entry of a batch."""

    def entry(x: Any, dim: Any, k: int) -> Any:
        return x.select(dim, k) if isinstance(dim, int) else x

    out = [
        function.apply(*(entry(x, dim, k) for x, dim in zip(inputs, in_dims, strict=True)))
        for k in range(size)
    ]
    return tuple(torch.stack(parts) for parts in zip(*out, strict=True)), (0,) * len(out[0])
