"""Thin adapters around the peers that solve one pair: how each is called, and nothing about clocks.

A peer is prepared for a pair and a tolerance *in its own sense* of tolerance; that gives a call
to time and a way to turn what the call returned into a plan, on which its accuracy is judged.
Whatever a user pays once (imports, compilation, layout of the cost matrix) happens in the
preparation.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.problems import Array, Pair
from benchmarks.timing import nothing

MOST_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Run:
    """One solve, ready to be timed.

    ``call`` does the work on what ``fresh`` made for it, ``plan`` reads a plan off its result.
    """

    call: Callable[[Any], Any]
    plan: Callable[[Any], Array]
    fresh: Callable[[], Any] = nothing


@dataclass(frozen=True)
class Peer:
    """A contestant: its name, its package on PyPI and the module that gives, how it is prepared.

    ``blas`` marks one that leans on NumPy's BLAS: it is timed with one thread and with all of them.
    """

    name: str
    package: str
    module: str
    prepare: Callable[[Pair, float], Run]
    blas: bool = False

    @property
    def installed(self) -> bool:
        """Whether the module can be imported here."""
        return importlib.util.find_spec(self.module) is not None


def present(peers: Iterable[Peer]) -> list[Peer]:
    """The peers that are installed; the others are named and left out."""
    found = [peer for peer in peers if peer.installed]
    for peer in peers:
        if not peer.installed:
            print(f"{peer.name}: skipped, because {peer.package} is not installed.")
    return found


def pot(method: str) -> Callable[[Pair, float], Run]:
    """Prepare POT's ``ot.sinkhorn``; its stopThr is an L2 norm, looked at every 10 iterations."""

    def prepare(pair: Pair, tol: float) -> Run:
        import ot

        def call(_: object) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ot.sinkhorn(
                    pair.r, pair.c, pair.M, pair.reg,
                    method=method, stopThr=tol, numItermax=MOST_ITERATIONS,
                )  # fmt: skip

        return Run(call, np.asarray)

    return prepare


def pot_solve(pair: Pair, tol: float) -> Run:
    """Prepare ``ot.solve``, POT's newer front; entropy as in ``ot.sinkhorn``."""
    import ot

    def call(_: object) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ot.solve(
                pair.M, pair.r, pair.c, pair.reg,
                reg_type="entropy", tol=tol, max_iter=MOST_ITERATIONS, grad="detach",
            )  # fmt: skip

    return Run(call, lambda result: np.asarray(result.plan))


def pot_solve_batch(pair: Pair, tol: float) -> Run:
    """Prepare ``ot.solve_batch`` on a batch of one problem; its costs are a matrix per problem."""
    import ot

    batch = [np.ascontiguousarray(array[None]) for array in (pair.M, pair.r, pair.c)]

    def call(_: object) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ot.solve_batch(
                batch[0], pair.reg, *batch[1:],
                tol=tol, max_iter=MOST_ITERATIONS, grad="detach",
            )  # fmt: skip

    return Run(call, lambda result: np.asarray(result.plan)[0])


def regot(solver: str) -> Callable[[Pair, float], Run]:
    """Prepare one of regot's solvers; its tol is the L2 norm of the dual gradient."""

    def prepare(pair: Pair, tol: float) -> Run:
        import regot as package

        solve = getattr(package, f"sinkhorn_{solver}")
        cost = np.asfortranarray(pair.M)

        def call(_: object) -> Any:
            return solve(cost, pair.r, pair.c, pair.reg, tol=tol, max_iter=MOST_ITERATIONS)

        return Run(call, lambda result: np.asarray(result.plan))

    return prepare


def ott(log_domain: bool) -> Callable[[Pair, float], Run]:
    """Prepare OTT-JAX in float64, compiled beforehand; its threshold is an L1 norm."""

    def prepare(pair: Pair, tol: float) -> Run:
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        from ott.geometry.geometry import Geometry
        from ott.solvers import linear

        inputs = tuple(jax.device_put(array) for array in (pair.M, pair.r, pair.c))

        def compiled(most: int) -> Callable[[], Any]:
            def solve(M: Any, r: Any, c: Any) -> Any:
                out: Any = linear.solve(
                    Geometry(cost_matrix=M, epsilon=pair.reg), a=r, b=c,
                    threshold=tol, max_iterations=most, lse_mode=log_domain,
                )  # fmt: skip
                return out.f, out.g, out.converged

            ready = jax.jit(solve).lower(*inputs).compile()
            return lambda: jax.block_until_ready(ready(*inputs))

        run = compiled(most_iterations(pair, compiled))

        def plan(potentials: Any) -> Array:
            f, g = (np.asarray(p) for p in potentials[:2])
            return np.asarray(np.exp((f[:, None] + g[None, :] - pair.M) * pair.lam))

        return Run(lambda _: run(), plan)

    return prepare


def most_iterations(pair: Pair, compiled: Callable[[int], Callable[[], Any]]) -> int:
    """The least cap that lets OTT converge: it writes an array of that length at every start.

    On large problems that is nothing beside the rest, and trying is what takes long.
    """
    if pair.key.d >= 1024:
        return MOST_ITERATIONS
    caps = (2_000, 50_000, MOST_ITERATIONS)
    return next((most for most in caps if bool(compiled(most)()[2])), MOST_ITERATIONS)


def exact(pair: Pair, tol: float) -> Run:
    """Prepare POT's network simplex, which has no tolerance: the exact EMD."""
    import ot

    # ``emd`` rather than ``emd2``: it is the faster of the two, and its plan can be judged.
    return Run(lambda _: ot.emd(pair.r, pair.c, pair.M, numItermax=100_000_000), np.asarray)


EMD = Peer("POT emd (exact)", "POT", "ot", exact)
PEERS: tuple[Peer, ...] = (
    Peer("POT sinkhorn", "POT", "ot", pot("sinkhorn"), blas=True),
    Peer("POT sinkhorn_log", "POT", "ot", pot("sinkhorn_log")),
    Peer("POT solve", "POT", "ot", pot_solve, blas=True),
    Peer("POT solve_batch", "POT", "ot", pot_solve_batch),
    Peer("OTT (log)", "ott-jax", "ott", ott(log_domain=True)),
    Peer("OTT (kernel)", "ott-jax", "ott", ott(log_domain=False)),
    Peer("regot bcd", "regot", "regot", regot("bcd")),
    Peer("regot ssns", "regot", "regot", regot("ssns")),
    Peer("regot splr", "regot", "regot", regot("splr")),
)
