"""Large pairs by accelerated sweeps: at one lam on a ladder, or along a path of them.

At a large lam the sweeps climb the ladder of `ladder`, each rung on a kernel around the potentials
of the last one. Pairs on which they are slow are handed over, with the potentials reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost
from sinkdist.scale import threads
from sinkdist.solution.plans import is_blurred
from sinkdist.solvers.compiled.from_exact import is_nearly_exact
from sinkdist.solvers.compiled.ladder import RATIO, extrapolated, rungs_to
from sinkdist.solvers.compiled.large_pair import FINEST, WITHIN, Finished, LargePair
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.outcome import ACCELERATED, STATUS_OF, Outcome
from sinkdist.solvers.policy import ACCELERATED_ENTRIES, LOOSE_START, NEAR, SHARED_ENTRIES
from sinkdist.solvers.prepared import Prepared

__all__ = [
    "STEEPEST",
    "Reached",
    "accelerated",
    "accelerated_path",
    "climbed",
    "is_accelerated",
    "may_be_accelerated",
]

ATTEMPTS = 3  #: kernels around better and better potentials at one lam
FEWEST = 100  #: allowed reads below which nothing is tried that needs several kernels
STEEPEST = 3e3  #: lam times the mean cost beyond which float32 is not tried
WILDEST = 10.0  #: sum of the shares of known potentials in extrapolated ones
GENTLE = 10.0  #: lam times the largest cost below which the mean is not asked for


class Reached(NamedTuple):
    """Where sweeps stood when they were given up: potentials, the error there, reads made."""

    f: Array
    g: Array
    error: float
    n_iter: int

    @property
    def start(self) -> tuple[Array, Array] | None:
        """The potentials, where they are near enough to begin Newton's method with."""
        return (self.f, self.g) if self.error < NEAR else None


def is_accelerated(task: Prepared, entries: int | Array) -> bool | Array:
    """Whether pairs with so many entries between bins with mass are solved here first."""
    wanted = task.solver.accelerated and task.iterations is None
    return wanted & may_be_accelerated(entries, task.max_iter)


def may_be_accelerated(entries: int | Array, max_iter: int) -> bool | Array:
    """The same where no solver is asked for by name."""
    return (max_iter >= FEWEST) & (np.asarray(entries) >= ACCELERATED_ENTRIES)


def accelerated(
    task: Prepared, costs: Array, r: Array, c: Array, whole: bool
) -> Outcome | Reached | None:
    """One pair on bins with mass; None where lam is not one for float32, or another way is short.

    ``whole`` says that these are all bins of the ground, whose kernel may be there already.
    """
    lam, rungs = task.member.lam, 0
    if lam * task.ground.max > GENTLE:
        mean = mean_cost(costs, r, c)
        if not lam * mean <= STEEPEST or is_nearly_exact(lam * mean, costs.size, task.max_iter):
            return None
        rungs = rungs_to(lam * mean)
    # A kernel that the ground keeps would lie beside that of Newton's method, which follows.
    shared = whole and rungs == 0 and task.tol >= FINEST
    K = _shared_kernel(task) if shared else None
    pair = LargePair(costs, r, c, task.max_iter, task.stop, task.workers, K)
    with pair.helped() as helpers:
        is_there = climbed(pair, lam, rungs, task.tol)
        known = K is not None
        end = _to_tolerance(pair, lam, task.tol, known=known) if is_there else _given_up(pair)
    if isinstance(end, Reached):
        helpers.wait()  # Newton's method takes the room of this kernel
        return end
    return _outcome(end, lam, task.tol, pair.made, keep_potentials=task.keep_potentials)


def accelerated_path(
    costs: Array, lams: list[float], r: Array, c: Array, tol: float, max_iter: int, stop: Stop,
    workers: int,
) -> Iterator[Outcome | Reached]:  # fmt: skip
    """One pair at each of the rising ``lams``, or where another solver may go on.

    Each starts from the potentials of the last three, extrapolated.
    """
    mean = mean_cost(costs, r, c)
    pair = LargePair(costs, r, c, max_iter, stop, workers)
    known: list[tuple[float, Array, Array]] = []
    with pair.helped():
        for lam in lams:
            pair.made, rungs = 0, 0
            if not known or lam > 2.0 * RATIO * known[-1][0]:
                rungs, known = rungs_to(lam * mean), []
                pair.potentials = np.zeros(r.size), np.zeros(c.size)
            else:
                pair.potentials = _through(known, lam)
            tried = lam * mean <= STEEPEST and climbed(pair, lam, rungs, tol)
            end = _to_tolerance(pair, lam, tol, known=False) if tried else _given_up(pair)
            if isinstance(end, Reached):
                known = []
                yield end
            else:
                known = [*known[-2:], (lam, end.f, end.g)]
                yield _outcome(end, lam, tol, pair.made, keep_potentials=True)


def _shared_kernel(task: Prepared) -> Array | None:
    """The kernel of the ground in float32, where that holds it."""
    single = task.ground.gibbs(task.member.lam, np.dtype(np.float32))
    if not single.fits:
        return None
    if task.workers > 1 and single.size >= SHARED_ENTRIES:
        single.build(lambda bands, fill: threads.run(bands, fill, task.workers))
    kernel: Array = single.kernel
    return kernel


def climbed(pair: LargePair, lam: float, rungs: int, tol: float) -> bool:
    """Potentials for a start at ``lam``, by so many rungs below it."""
    before = None
    for rung in range(rungs, 0, -1):
        here = lam / RATIO**rung
        act, _ = pair.solve_at(here, max(LOOSE_START, tol))
        if act != CONVERGED:
            return False
        f, g = pair.potentials
        pair.potentials = extrapolated(f, g, before, here, here * RATIO)
        before = f, g, here
    return True


def _to_tolerance(pair: LargePair, lam: float, tol: float, *, known: bool) -> Finished | Reached:
    """Sweeps at ``lam`` to the tolerance, as float64 measures it; the kernel may be ``known``."""
    only_one = known or tol < FINEST  # the ground's kernel is not ours to fill anew
    error = np.inf
    for _ in range(1 if only_one else ATTEMPTS):
        act, swept = pair.solve_at(lam, max(WITHIN * tol, FINEST), known=known)
        if act in (HANDED_OVER, OVERFLOW):
            return _given_up(pair, swept)
        end = pair.finish(lam)
        if not np.isfinite(end.value):  # sums that float64 does not hold
            return _given_up(pair)
        if end.error <= tol or act == RUNNING:
            return end
        error = end.error
        pair.update_columns(lam)
    return _given_up(pair, error)


def _given_up(pair: LargePair, error: float = np.inf) -> Reached:
    """Where another solver may go on."""
    f, g = pair.potentials
    return Reached(f, g, error, pair.made)


def _outcome(end: Finished, lam: float, tol: float, made: int, *, keep_potentials: bool) -> Outcome:
    """The plan that sweeps ended with; they had no more reads where it is not converged."""
    status = STATUS_OF[CONVERGED if end.error <= tol else RUNNING]
    outcome = Outcome(end.value, end.error, made, status, ACCELERATED, lam=lam)
    if keep_potentials:
        outcome.f, outcome.g = end.f, end.g
        outcome.plan = end.plan if is_blurred(lam, end.f, end.g, tol) else None
    return outcome


def _through(known: list[tuple[float, Array, Array]], lam: float) -> tuple[Array, Array]:
    """Potentials at ``lam`` by the polynomial in ``1 / lam`` through those known.

    Of a lower degree where the last ones lie too close together to show so much.
    """
    while True:
        x, at = 1.0 / lam, [1.0 / there for there, _, _ in known]
        shares = [float(np.prod([(x - b) / (a - b) for b in at if b != a])) for a in at]  # Lagrange
        if sum(map(abs, shares)) <= WILDEST:
            break
        known = known[1:]
    f = sum(share * f for share, (_, f, _) in zip(shares, known, strict=True))
    g = sum(share * g for share, (_, _, g) in zip(shares, known, strict=True))
    return np.asarray(f), np.asarray(g)
