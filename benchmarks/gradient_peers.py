"""The peers with gradients: a batch of matched pairs, <P, M> summed, derived for both histograms.

Each is prepared at a tolerance of its own and offers three calls: forward alone, forward with
backward, and the worst marginal error of its plans, by which the tolerance is chosen.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.batch_peers import Floats
from benchmarks.timing import CORES

MOST_ITERATIONS = 20_000


@dataclass(frozen=True)
class Batch:
    """Matched rows R and C, their cost and lam."""

    R: Floats
    C: Floats
    M: Floats
    lam: float

    def part(self, pairs: int) -> Batch:
        """The first pairs."""
        return replace(self, R=self.R[:pairs], C=self.C[:pairs])

    def error(self, plans: Floats) -> float:
        """The largest L1 marginal error of the plans of all pairs."""
        rows = np.abs(plans.sum(axis=2) - self.R).sum(axis=1)
        columns = np.abs(plans.sum(axis=1) - self.C).sum(axis=1)
        worst = float((rows + columns).max())
        return worst if np.isfinite(worst) else np.inf

    def plans(self, f: Any, g: Any) -> Floats:
        """Plans by their potentials."""
        f, g = np.asarray(f), np.asarray(g)
        return np.asarray(np.exp((f[:, :, None] + g[:, None, :] - self.M) * self.lam))


@dataclass(frozen=True)
class Derived:
    """Forward alone, and both ways: the values and the derivatives for R and for C."""

    forward: Callable[[object], Any]
    both: Callable[[object], tuple[Any, Any, Any]]


@dataclass(frozen=True)
class Peer:
    """How to prepare a peer at a tolerance, and the error of its plans at that tolerance."""

    module: str
    prepare: Callable[[Batch, float], Derived]
    error: Callable[[Batch, float], float]


def exact_gradients(batch: Batch, pairs: int) -> tuple[Floats, Floats]:
    """Derivatives of <P, M> for the first pairs, by sweeps to rounding and a dense solve.

    With ``P = diag(u) K diag(v)`` they solve the system
    ``[diag r, P; P^T, diag c] (x, y) = ((P*M) 1, (P*M)^T 1)``, whose null space is a constant that
    x gains and y loses.
    """
    K = np.exp(-batch.lam * batch.M)
    first, second = [], []
    for r, c in zip(batch.R[:pairs], batch.C[:pairs], strict=True):
        v = np.ones_like(c)
        for _ in range(MOST_ITERATIONS):
            u = r / (K @ v)
            before, v = v, c / (K.T @ u)
            if np.abs(v / before - 1.0).max() < 1e-14:
                break
        P = u[:, None] * K * v
        system = np.block([[np.diag(P.sum(1)), P], [P.T, np.diag(P.sum(0))]])
        costs = P * batch.M
        x = np.linalg.lstsq(system, np.concatenate([costs.sum(1), costs.sum(0)]), rcond=1e-13)[0]
        first.append(x[: len(r)])
        second.append(x[len(r) :])
    return np.array(first), np.array(second)


def gradient_error(found: tuple[Any, Any, Any], exact: tuple[Floats, Floats]) -> float:
    """The largest difference of derivatives along the simplex, over the largest derivative."""
    worst = 0.0
    for mine, truth in zip(found[1:], exact, strict=True):
        mine = np.asarray(mine, np.float64)[: len(truth)]
        mine = mine - mine.mean(axis=1, keepdims=True)
        truth = truth - truth.mean(axis=1, keepdims=True)
        worst = max(worst, float(np.abs(mine - truth).max() / np.abs(truth).max()))
    return worst


# -------------------------------------------------------------------------------------- OTT-JAX


def _ott(tol: float, lam: float, most: int) -> tuple[Any, Callable[..., Any]]:
    """JAX, and OTT's solve of one pair with its implicit differentiation.

    In its log mode, which is three times as fast as its kernel mode here. With OTT's own tolerance
    for the linear system (1e-6, absolute) the derivatives are wrong in their first digit on 400
    bins; 1e-10 costs hardly more and leaves three digits.
    """
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    from ott.geometry.geometry import Geometry
    from ott.solvers import linear
    from ott.solvers.linear.implicit_differentiation import ImplicitDiff

    def solve(cost: Any, a: Any, b: Any) -> Any:
        epsilon: Any = jax.numpy.asarray(1.0 / lam, cost.dtype)
        return linear.solve(
            Geometry(cost_matrix=cost, epsilon=epsilon), a=a, b=b, threshold=tol,
            max_iterations=most,
            implicit_diff=ImplicitDiff(solver_kwargs={"rtol": 1e-6, "atol": 1e-10}),
        )  # fmt: skip

    return jax, solve


def ott_error(batch: Batch, tol: float) -> float:
    """The error of OTT's plans, from its potentials."""
    jax, solve = _ott(tol, batch.lam, MOST_ITERATIONS)

    def potentials(cost: Any, a: Any, b: Any) -> Any:
        out = solve(cost, a, b)
        return out.f, out.g

    found = jax.jit(jax.vmap(potentials, (None, 0, 0)))
    return batch.error(batch.plans(*found(batch.M, batch.R, batch.C)))


def ott_implicit(batch: Batch, tol: float) -> Derived:
    """OTT's vmap with implicit differentiation, compiled before."""
    jax, solve = _ott(tol, batch.lam, 2_000)

    def values(cost: Any, R: Any, C: Any) -> Any:
        return jax.vmap(lambda a, b: solve(cost, a, b).primal_cost)(R, C)

    def total(cost: Any, R: Any, C: Any) -> Any:
        found = values(cost, R, C)
        return found.sum(), found

    inputs = tuple(map(jax.device_put, (batch.M, batch.R, batch.C)))
    forward = jax.jit(values).lower(*inputs).compile()
    derive = jax.value_and_grad(total, argnums=(1, 2), has_aux=True)
    derived = jax.jit(derive).lower(*inputs).compile()

    def both(_: object) -> tuple[Any, Any, Any]:
        (_, found), (first, second) = jax.block_until_ready(derived(*inputs))
        return found, first, second

    return Derived(lambda _: jax.block_until_ready(forward(*inputs)), both)


# ------------------------------------------------------------------------------ POT under torch


def pot_loop(threads: int) -> Callable[[Batch, float], Derived]:
    """Torch's autograd through all iterations of a loop over ``ot.sinkhorn2``.

    POT's batched solver (``ot.batch``) takes several times as long on such a batch.
    """

    def prepare(batch: Batch, tol: float) -> Derived:
        import ot
        import torch

        cost = torch.tensor(batch.M)

        def solve(R: Any, C: Any) -> Any:
            options = {"stopThr": tol, "numItermax": MOST_ITERATIONS, "warn": False}
            pairs = zip(R, C, strict=True)
            return torch.stack(
                [ot.sinkhorn2(r, c, cost, 1.0 / batch.lam, **options) for r, c in pairs]
            )

        def both(_: object) -> tuple[Any, Any, Any]:
            with torch_threads(threads), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                R, C = (torch.tensor(rows, requires_grad=True) for rows in (batch.R, batch.C))
                values = solve(R, C)
                values.sum().backward()
                return values.detach(), R.grad, C.grad

        def forward(_: object) -> Any:
            with torch_threads(threads), warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                return solve(torch.tensor(batch.R), torch.tensor(batch.C))

        return Derived(forward, both)

    return prepare


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Hold torch to some threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def pot_loop_error(batch: Batch, tol: float) -> float:
    """The error of POT's plans."""
    import ot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plans = [
            ot.sinkhorn(r, c, batch.M, 1.0 / batch.lam, stopThr=tol, numItermax=MOST_ITERATIONS)
            for r, c in zip(batch.R, batch.C, strict=True)
        ]
    return batch.error(np.array(plans))


OTT, POT = "OTT-JAX, implicit", "POT, autograd"
#: Contestants that share a name share the better time.
PEERS: tuple[tuple[str, Peer], ...] = (
    (OTT, Peer("ott", ott_implicit, ott_error)),
    (POT, Peer("torch", pot_loop(1), pot_loop_error)),
    (POT, Peer("torch", pot_loop(CORES), pot_loop_error)),
)
