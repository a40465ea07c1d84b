"""The solver as a function that JAX can differentiate, compile and map; the only file here that
imports JAX.

The same sweeps as everywhere, in ``lax`` loops, under one ``custom_vjp``: `jit`, `grad` and `vmap`
apply to it as to any function of JAX. Blocks are not closed up, because shapes are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from sinkdist.solvers.adjoint.differentiate import gradients
from sinkdist.solvers.adjoint.on_host import HostFunction
from sinkdist.solvers.arrays.control import Control, Step
from sinkdist.solvers.arrays.operators import Potentials
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.transport import Answer, BlockSpec, Domain, Parameters, answer
from sinkdist.solvers.policy import safe_exponent

__all__ = ["differentiable_on_host", "on_host", "transport"]


def transport(asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array) -> Answer:
    """Solve a block of pairs; differentiable with respect to histograms and costs."""
    found: Answer = _transport(asked, Parameters(*map(float, numbers)), R, C, M)
    return found


class _LaxLoops(Control):
    """Loops that JAX compiles."""

    def repeat(self, count: Any, body: Callable[[Any], Any], state: Any) -> Any:
        return lax.fori_loop(0, count, lambda _, s: body(s), state)

    def when(self, condition: Array, body: Callable[[Any], Any], state: Any) -> Any:
        return lax.cond(condition, body, lambda state: state, state)

    def until_done(
        self, xp: Any, step: Step, pairs: Any, state: Any, every: int, limit: Any,
        retire: bool = True,
    ) -> tuple[Any, Any]:  # fmt: skip
        limit = jnp.asarray(limit, jnp.int32)

        def body(loop: Any) -> Any:
            state, made = loop
            count = jnp.minimum(every, limit - made)
            return step(pairs, state, count), made + count

        result: tuple[Any, Any] = lax.while_loop(
            lambda loop: jnp.any(loop[0].going) & (loop[1] < limit), body, (state, jnp.int32(0))
        )
        return result


_LOOPS = _LaxLoops()


@partial(jax.jit, static_argnums=0)
def _transport(asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array) -> Answer:
    """Compiled once for each `BlockSpec` and shape."""
    found: Answer = _differentiable(asked, numbers, R, C, M)
    return found


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _differentiable(asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array) -> Answer:
    """Forward: sweeps."""
    found: Answer = _either(
        asked, numbers, M, lambda asked: answer(jnp, _LOOPS, asked, numbers, R, C, M)
    )
    return found


def _forward(
    asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array
) -> tuple[Answer, Any]:
    """The same, and what the backward pass needs of it."""
    found = _differentiable(asked, numbers, R, C, M)
    return found, (numbers, R, C, M, found.F, found.G, found.lam)


def _backward(asked: BlockSpec, kept: Any, by: Answer) -> Any:
    """Backward: one linear system."""
    numbers, R, C, M, F, G, lam = kept

    def pull(asked: BlockSpec) -> Any:
        found = gradients(
            jnp, _LOOPS, asked, numbers, R, C, M, Potentials(F, G), lam, by.value,
            by.objective if asked.keep else None,
        )  # fmt: skip
        return found.R, found.C, jnp.zeros_like(M) if found.M is None else found.M

    return None, *_either(asked, numbers, M, pull)


_differentiable.defvjp(_forward, _backward)


def _either(
    asked: BlockSpec, numbers: Parameters, M: Array, run: Callable[[BlockSpec], Any]
) -> Any:
    """Run in the domain that was chosen, or in the one that costs ask for when they are known."""
    if asked.domain is not Domain.AUTO:
        return run(asked)
    return lax.cond(
        numbers.strength * jnp.max(M) <= safe_exponent(M.dtype),
        lambda: run(replace(asked, domain=Domain.SCALING)),
        lambda: run(replace(asked, domain=Domain.LOG)),
    )


def on_host(solve: Callable[..., Any], shapes: Any, arrays: list[Array]) -> Any:
    """Call a function of NumPy arrays, also from compiled code."""
    kinds = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes)
    return jax.pure_callback(solve, kinds, *arrays, vmap_method="sequential")


def differentiable_on_host(function: HostFunction, *arrays: Array) -> Any:
    """A function of the host under a rule of its own, also in compiled code."""

    @jax.custom_vjp
    def call(*arrays: Array) -> Any:
        return on_host(function.outputs, function.shapes, list(arrays))

    def forward(*arrays: Array) -> Any:
        found = call(*arrays)
        return found, (arrays, found)

    def backward(kept: Any, by: Any) -> Any:
        function.check()
        arrays, found = kept
        numbers = [*arrays, *found, *by[: function.moving]]
        return on_host(function.gradients, [(x.shape, x.dtype) for x in arrays], numbers)

    call.defvjp(forward, backward)
    return call(*arrays)
