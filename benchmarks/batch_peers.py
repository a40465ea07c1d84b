"""The peers on many pairs: vectorised paths and the loops people write around single solves.

Histograms are rows everywhere; where a peer wants columns they are laid out before the clock
starts.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


def reference(r: Floats, C: Floats, M: Floats, lam: float, iterations: int) -> Floats:
    """Algorithm 1 of the paper for one against many, line by line, in float64."""
    r, C, M = (np.asarray(array, np.float64) for array in (r, C, M))
    support = r > 0
    r, M = r[support], M[support]
    K = np.exp(-lam * M)
    x = np.full((len(r), len(C)), 1.0 / len(r))
    for _ in range(iterations):
        x = (K / r[:, None]) @ (C.T / (K.T @ (1.0 / x)))
    u = 1.0 / x
    v = C.T / (K.T @ u)
    return np.asarray((u * ((K * M) @ v)).sum(axis=0))


def torch_lines(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int, device: str = "cpu"
) -> Callable[[object], Any]:
    """What a torch user writes for one against many."""
    import torch

    rows, many, cost = (torch.as_tensor(np.ascontiguousarray(a)).to(device) for a in (r, C, M))

    def call(_: object) -> Any:
        K = torch.exp(-lam * cost)
        u = torch.full((len(many), len(rows)), 1.0 / len(rows), dtype=many.dtype, device=device)
        for _ in range(iterations):
            v = many / (u @ K)
            u = rows / (v @ K.T)
        v = many / (u @ K)
        return (u * (v @ (K * cost).T)).sum(1)

    return call


def torch_trimmed(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int
) -> Callable[[object], Any]:
    """The same after dropping, by hand, the rows where r is zero."""
    support = r > 0
    return torch_lines(r[support], C, M[support], lam, iterations)


def products(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int
) -> Callable[[object], Any]:
    """The matrix products of these lines and nothing else."""
    K = np.ascontiguousarray(np.exp(-lam * M[r > 0]))
    short, long = np.ones((len(C), len(K)), K.dtype), np.ones((len(C), K.shape[1]), K.dtype)

    def call(_: object) -> Any:
        for _ in range(iterations + 1):
            np.matmul(short, K, out=long)
            np.matmul(long, K.T, out=short)
            short.fill(1.0)
        return short

    return call


def pot_vectorised(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int
) -> Callable[[object], Any]:
    """POT's path for a two-dimensional b: ``ot.sinkhorn`` returns one value per column."""
    import ot

    columns = np.ascontiguousarray(C.T)

    def call(_: object) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ot.sinkhorn(
                r, columns, M, 1.0 / lam, numItermax=iterations, stopThr=0.0, warn=False
            )

    return call


def pot_trimmed(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int
) -> Callable[[object], Any]:
    """The same after dropping, by hand, the rows where r is zero: it would divide by them."""
    support = r > 0
    return pot_vectorised(r[support], C, M[support], lam, iterations)


def jax_lines(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int, device: Any = None
) -> Callable[[object], Any]:
    """The same in JAX, compiled before."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def lines(rows: Any, many: Any, cost: Any) -> Any:
        K = jax.numpy.exp(-lam * cost)

        def step(_: int, u: Any) -> Any:
            return rows / ((many / (u @ K)) @ K.T)

        u = jax.lax.fori_loop(0, iterations, step, jax.numpy.full_like(many, 1.0 / many.shape[1]))
        return (u * ((many / (u @ K)) @ (K * cost).T)).sum(1)

    inputs = tuple(jax.device_put(array, device) for array in (r, C, M))
    compiled = jax.jit(lines).lower(*inputs).compile()
    return lambda _: jax.block_until_ready(compiled(*inputs))


def ott_fixed(
    r: Floats, C: Floats, M: Floats, lam: float, iterations: int, device: Any = None
) -> Callable[[object], Any]:
    """OTT's vmap over the second histogram, a fixed number of iterations, compiled before.

    In its kernel mode, which is several times faster than its log mode here.
    """
    jax, solver = _ott(log_domain=False)

    def one(cost: Any, a: Any, b: Any) -> Any:
        return solver(cost, a, b, lam, threshold=0.0, least=iterations, most=iterations).primal_cost

    inputs = tuple(jax.device_put(array, device) for array in (M, r, C))
    compiled = jax.jit(jax.vmap(one, (None, None, 0))).lower(*inputs).compile()
    return lambda _: np.asarray(jax.block_until_ready(compiled(*inputs)))


def ott_converged(
    R: Floats, C: Floats, M: Floats, lam: float, tol: float, *, log_domain: bool, most: int
) -> Callable[[object], Any]:
    """OTT's vmap over matched rows until all have converged: potentials and iteration counts.

    Under vmap an array as long as the cap on iterations is copied again and again, so the cap
    ought to be no larger than needed.
    """
    jax, solver = _ott(log_domain)

    def one(cost: Any, a: Any, b: Any) -> Any:
        out = solver(cost, a, b, lam, threshold=tol, least=0, most=most)
        return out.f, out.g, out.n_iters

    inputs = tuple(jax.device_put(array) for array in (M, R, C))
    compiled = jax.jit(jax.vmap(one, (None, 0, 0))).lower(*inputs).compile()
    return lambda _: jax.block_until_ready(compiled(*inputs))


def _ott(log_domain: bool) -> tuple[Any, Callable[..., Any]]:
    """JAX in float64, and OTT's solve in its log or its kernel mode."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    from ott.geometry.geometry import Geometry
    from ott.solvers import linear

    def solve(
        cost: Any, a: Any, b: Any, lam: float, *, threshold: float, least: int, most: int
    ) -> Any:
        epsilon: Any = jax.numpy.asarray(1.0 / lam, cost.dtype)
        return linear.solve(
            Geometry(cost_matrix=cost, epsilon=epsilon), a=a, b=b, lse_mode=log_domain,
            threshold=threshold, min_iterations=least, max_iterations=most,
        )  # fmt: skip

    return jax, solve


def pot_plan(r: Floats, c: Floats, M: Floats, lam: float, tol: float) -> Floats:
    """The plan behind one ``ot.sinkhorn2`` of the loop below, on the supports."""
    import ot

    rows, columns, cost = trimmed(r, c, M)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = ot.sinkhorn(rows, columns, cost, 1.0 / lam, stopThr=tol, numItermax=1_000_000)
    return np.asarray(plan)


def trimmed(r: Floats, c: Floats, M: Floats) -> tuple[Floats, Floats, Floats]:
    """The problem on the bins that carry mass."""
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    return r[rows], c[columns], np.ascontiguousarray(M[np.ix_(rows, columns)])


def pot_loop(R: Floats, C: Floats, M: Floats, lam: float, tol: float) -> Callable[[object], Any]:
    """The loop over ``ot.sinkhorn2`` that people write today, on matched rows."""
    import ot

    def call(_: object) -> list[float]:
        values = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for r, c in zip(R, C, strict=True):
                rows, columns, cost = trimmed(r, c, M)
                values.append(
                    float(
                        ot.sinkhorn2(
                            rows, columns, cost, 1.0 / lam, stopThr=tol, numItermax=1_000_000
                        )
                    )
                )
        return values

    return call
