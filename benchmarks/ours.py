"""How sinkdist takes part: the only file here that imports it.

The clock covers what the peers' clocks cover. A peer is handed a cost matrix and computes
exp(-lam M) within its call, so each timed call here begins by making its ``Ground`` forget the
kernels it has computed. The ground is built (and its matrix checked) before the clock starts, as
OTT's arrays are placed and regot's matrix is laid out before theirs; like theirs, its matrix and
the memory of the last kernel may be in cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gradient_peers import Batch, Derived
from benchmarks.peers import Peer, Run
from benchmarks.problems import Array, Pair

NAME = "sinkdist"


@functools.cache
def package() -> Any:
    """The package, or None (said once) where it cannot be imported."""
    try:
        import sinkdist
    except ImportError as failure:
        print(f"sinkdist cannot be imported ({failure}): only its peers are timed.")
        return None
    return sinkdist


def fresh_ground(matrix: Array) -> Callable[[], Any]:
    """Hands out one ground; calls make it forget its kernels before they use it."""
    ground = package().Ground(matrix)
    return lambda: ground


def prepare(pair: Pair, tol: float) -> Run:
    """Prepare ``sd.solve``; its tol is the L1 norm by which everyone is judged here.

    It is called once beforehand, so that compilation stays outside the clock as it does for OTT.
    """
    sd = package()

    def call(ground: Any) -> Any:
        return sd.solve(pair.r, pair.c, ground.forget(), lam=pair.lam, tol=tol)

    call(sd.Ground(pair.M))
    return Run(call, lambda solution: np.asarray(solution.plan), fresh_ground(pair.M))


def exact(pair: Pair, tol: float) -> Run:
    """Prepare our own exact distance, which has no tolerance."""
    sd = package()

    def call(ground: Any) -> Any:
        return sd.solve(pair.r, pair.c, ground, lam=float("inf"))

    call(sd.Ground(pair.M))
    return Run(call, lambda solution: np.asarray(solution.plan), fresh_ground(pair.M))


EXACT = Peer("sinkdist (exact)", "sinkdist", "sinkdist", exact)


def one_to_many(
    r: Array, many: Array, lam: float, iterations: int, dtype: str
) -> Callable[[Any], Any]:
    """``sd.distance`` of one histogram to many, for a fixed number of iterations."""
    sd = package()
    return lambda ground: sd.distance(
        r, many, ground.forget(), lam=lam, iterations=iterations, dtype=dtype
    )


def all_pairs(X: Array, lam: float, iterations: int, dtype: str) -> Callable[[Any], Any]:
    """``sd.pairwise`` for a fixed number of iterations."""
    sd = package()
    return lambda ground: sd.pairwise(
        X, ground=ground.forget(), lam=lam, iterations=iterations, dtype=dtype
    )


def converged_pairs(X: Array, lam: float, tol: float) -> Callable[[Any], Any]:
    """``sd.pairwise`` until every pair has converged."""
    sd = package()
    return lambda ground: sd.pairwise(X, ground=ground.forget(), lam=lam, tol=tol)


def worst_error(R: Array, C: Array, matrix: Array, lam: float, tol: float) -> float:
    """The largest L1 marginal error among matched rows, summed from the plans themselves."""
    solution = package().solve(R, C, matrix, lam=lam, tol=tol)
    plans = np.asarray(solution.plan)
    rows = np.abs(plans.sum(axis=2) - R).sum(axis=1)
    columns = np.abs(plans.sum(axis=1) - C).sum(axis=1)
    return float((rows + columns).max())


# ----------------------------------------------------------------------------- torch and JAX


def torch_one_to_many(
    r: Array, many: Array, M: Array, lam: float, iterations: int, device: str
) -> Callable[[Any], Any]:
    """``sd.distance`` on torch tensors; costs are a tensor, so the kernel is made in the call."""
    import torch

    sd = package()
    rows, others, cost = (torch.as_tensor(np.ascontiguousarray(a)).to(device) for a in (r, many, M))
    return lambda _: sd.distance(rows, others, cost, lam=lam, iterations=iterations)


def jax_one_to_many(
    r: Array, many: Array, M: Array, lam: float, iterations: int, device: Any
) -> Callable[[Any], Any]:
    """The same on JAX arrays, compiled before."""
    import jax

    jax.config.update("jax_enable_x64", True)
    sd = package()

    def values(rows: Any, others: Any, cost: Any) -> Any:
        return sd.distance(rows, others, cost, lam=lam, iterations=iterations)

    inputs = tuple(jax.device_put(array, device) for array in (r, many, M))
    compiled = jax.jit(values).lower(*inputs).compile()
    return lambda _: jax.block_until_ready(compiled(*inputs))


def torch_derived(batch: Batch, tol: float, device: str) -> Derived:
    """``sd.distance`` of matched rows, and torch's backward pass."""
    import torch

    sd = package()
    R, C, cost = (torch.tensor(array, device=device) for array in (batch.R, batch.C, batch.M))

    def forward(_: object) -> Any:
        with torch.no_grad():
            return sd.distance(R, C, cost, lam=batch.lam, tol=tol)

    def both(_: object) -> tuple[Any, Any, Any]:
        first, second = (x.detach().requires_grad_() for x in (R, C))
        values = sd.distance(first, second, cost, lam=batch.lam, tol=tol)
        values.sum().backward()
        return values.detach(), first.grad, second.grad

    return Derived(forward, both)


def jax_derived(batch: Batch, tol: float, device: Any) -> Derived:
    """``sd.distance`` of matched rows under ``jax.value_and_grad``, compiled before."""
    import jax

    jax.config.update("jax_enable_x64", True)
    sd = package()

    def values(R: Any, C: Any, cost: Any) -> Any:
        return sd.distance(R, C, cost, lam=batch.lam, tol=tol)

    def total(R: Any, C: Any, cost: Any) -> Any:
        found = values(R, C, cost)
        return found.sum(), found

    inputs = tuple(jax.device_put(array, device) for array in (batch.R, batch.C, batch.M))
    forward = jax.jit(values).lower(*inputs).compile()
    derive = jax.value_and_grad(total, argnums=(0, 1), has_aux=True)
    derived = jax.jit(derive).lower(*inputs).compile()

    def both(_: object) -> tuple[Any, Any, Any]:
        (_, found), (first, second) = jax.block_until_ready(derived(*inputs))
        return found, first, second

    return Derived(lambda _: jax.block_until_ready(forward(*inputs)), both)


def torch_potentials(batch: Batch, tol: float) -> tuple[Array, Array]:
    """What the plans are made of, for judging them."""
    import torch

    arrays = (torch.tensor(array) for array in (batch.R, batch.C, batch.M))
    f, g = package().solve(*arrays, lam=batch.lam, tol=tol).potentials
    return np.asarray(f), np.asarray(g)
