"""From histograms and weights to barycentres: stages of lam, relaxation, who has converged.

Barycentres of one call are swept together and leave as they converge. At a lam whose kernel floats
cannot hold, potentials are brought there in stages from a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import SAFE_EXPONENT
from sinkdist.interrupts import Stop
from sinkdist.means.grid_smoothing import worth_axes
from sinkdist.means.pairing import Pairing, pairing_of
from sinkdist.means.self_transport import self_objectives
from sinkdist.means.smoothing import Smoothing, columns_of, smoothing_of
from sinkdist.means.sweeps import Sweeps
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled import relaxation
from sinkdist.solvers.policy import LOOSE_START

__all__ = ["Found", "Request", "find"]

Array: TypeAlias = npt.NDArray[Any]

_GENTLE = 300.0  #: lam times the largest cost from which lam is doubled where the last is too large
_STAGE = 200  #: sweeps of a stage at most, but for the last
_ROUNDING = 64.0  #: units of rounding of the potentials that an error may consist of


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked for, checked."""

    ground: Ground  #: rows are bins of the barycentres, columns those of the histograms
    histograms: Array  #: (n, d'), dense
    weights: Array  #: (m, n), rows sum to 1
    lam: float
    dtype: np.dtype[Any]
    debiased: bool
    stopping: Stopping
    workers: int
    need_objective: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Barycentres and what is known of them, each with a leading axis of m."""

    histogram: Array
    error: Array  #: (m, n); 0 for histograms of weight 0
    self_error: Array
    status: npt.NDArray[np.int8]
    n_iter: npt.NDArray[np.int64]
    objective: Array


def find(request: Request, stop: Stop) -> Found:
    """Every barycentre of a request."""
    m, n = request.weights.shape
    bins, unknown = request.ground.shape[0], int(Status.STALLED)
    found = Found(
        np.full((m, bins), 1.0 / bins), np.zeros((m, n)), np.full(m, 2.0),
        np.full(m, unknown, np.int8), np.zeros(m, np.int64), np.zeros(m),
    )  # fmt: skip
    pairs, places = pairing_of(request.weights), np.arange(m)
    if request.debiased:
        same = _all_equal(request.histograms, pairs)
        found.status[same], found.self_error[same] = Status.CONVERGED, 0.0
        found.histogram[same] = request.histograms[pairs.histogram[pairs.starts[same]]]
        pairs, places = pairs.chosen(~same)[0], places[~same]
    for some in _together(request, places.size):
        _Search(request, pairs.chosen(some)[0], places[some], found, stop).run()
    return found


def _together(request: Request, count: int) -> list[npt.NDArray[np.bool_]]:
    """Which barycentres are swept together: all, or one by one where there are stages.

    A stage ends when the last of them is good enough, and none shall depend on the others.
    """
    if len(_stages(request)) > 1:
        return list(np.eye(count, dtype=bool))
    return [np.ones(count, bool)] if count else []


class _Search:
    """One run of `find`: the sweeps, and the policy of each barycentre."""

    def __init__(
        self, request: Request, pairs: Pairing, places: Array, found: Found, stop: Stop
    ) -> None:
        self.request, self.places, self.found, self.stop = request, places, found, stop
        self.lams = _stages(request)
        used = request.histograms[np.unique(pairs.histogram)]
        self.columns = columns_of(request.ground, self.lams[0], used)
        B = request.histograms if self.columns is None else request.histograms[:, self.columns]
        self.sweeps = Sweeps(
            self._smoothing(self.lams[0]), B, request.ground.shape[0], pairs,
            debiased=request.debiased, workers=request.workers, stop=stop,
        )  # fmt: skip
        self.made = 0
        self.patience = relaxation.FOREVER

    def run(self) -> None:
        """Through all stages."""
        asked = self.request.stopping
        for k, lam in enumerate(self.lams):
            if k:
                self.sweeps.continue_at(self._smoothing(lam), lam / self.lams[k - 1])
            last = lam == self.lams[-1]
            tol = asked.tol if last else max(asked.tol, LOOSE_START)
            left = asked.max_iter - self.made
            self._stage(tol, left if last else min(_STAGE, left // 2), last)

    def _smoothing(self, lam: float) -> Smoothing:
        """Products at a lam."""
        return smoothing_of(self.request.ground, lam, self.request.dtype, self.columns)

    def _stage(self, tol: float, most: int, last: bool) -> None:
        """Sweep at one lam until all barycentres have converged, or so many times."""
        sweeps = self.sweeps
        policy = np.zeros((sweeps.pairs.count, relaxation.FIELDS))
        for state in policy:
            relaxation.begin(state)
        sweeps.columns()
        for k in range(1, most + 1):
            # Only a plain sweep leaves exact rows, so the last one is.
            sweeps.sweep(policy[:, relaxation.OMEGA] if k < most else np.ones(len(policy)))
            error = sweeps.columns()
            self.made += 1
            if not np.isfinite(error).all():
                self._restart(policy)
                continue
            done = self._decide(policy, sweeps.pairs.largest(error), tol)
            if last and (done.any() or k == most):
                self._record(done, error, np.ones_like(done) if k == most else done)
                if k == most or done.all():
                    return
                policy, self.places = policy[~done], self.places[~done]
                sweeps.take(~done)
            elif done.all():
                return

    def _restart(self, policy: Array) -> None:
        """Begin again with plain sweeps, which cannot diverge: relaxed ones have."""
        self.patience = relaxation.PLAIN
        self.sweeps.restart()
        for state in policy:
            relaxation.begin(state)
        self.sweeps.columns()

    def _decide(self, policy: Array, of_columns: Array, tol: float) -> npt.NDArray[np.bool_]:
        """Set the factors of the next sweep, and say which barycentres have converged."""
        of_self = self.sweeps.self_error
        worst = np.maximum(of_columns, of_self)
        acts = [
            relaxation.decide(state, float(x), tol, self.patience)
            for state, x in zip(policy, worst, strict=True)
        ]
        if self.request.debiased:
            # The slower of the two sets the pace: columns want a large factor, z a small one.
            share = of_columns / np.maximum(of_columns + of_self, tol)
            omega = policy[:, relaxation.OMEGA]
            np.minimum(omega, 1.5 + 0.5 * share, out=omega)
        return np.asarray(np.array(acts) == relaxation.CONVERGED)

    def _record(self, done: Array, error: Array, chosen: npt.NDArray[np.bool_]) -> None:
        """Write some barycentres down, which have converged or have not."""
        sweeps, found = self.sweeps, self.found
        pairs, rows = sweeps.pairs.chosen(chosen)
        places, a = self.places[chosen], sweeps.a[chosen]
        found.histogram[places] = a / a.sum(axis=1, keepdims=True, dtype=np.float64)
        found.error[places[pairs.barycenter], pairs.histogram] = error[rows]
        found.self_error[places] = sweeps.self_error[chosen]
        found.n_iter[places] = self.made
        short = Status.STALLED if self._rounding() > self.request.stopping.tol else Status.MAX_ITER
        found.status[places] = np.where(done[chosen], Status.CONVERGED, short)
        if self.request.need_objective:
            found.objective[places] = self._objective(pairs, rows, a)

    def _rounding(self) -> float:
        """What the rounding of logarithms may add to the errors."""
        logs = self.sweeps.column_log
        return float(_ROUNDING * np.finfo(logs.dtype).eps * np.abs(logs).max(initial=1.0))

    def _objective(self, pairs: Pairing, rows: Array, a: Array) -> Array:
        """The weighted mean of what each plan costs, less what transport to itself does."""
        sweeps, request = self.sweeps, self.request
        lam, smoothing = request.lam, sweeps.smoothing
        columns = np.exp(sweeps.log_v[rows] + sweeps.column_log[rows])
        value = np.einsum("ki,ki->k", sweeps.log_u[rows], a[pairs.barycenter], dtype=np.float64)
        value += np.einsum("kj,kj->k", sweeps.log_v[rows], columns, dtype=np.float64)
        value /= lam
        if not request.debiased:
            return np.bincount(pairs.barycenter, pairs.weight * value, pairs.count)
        used, place = np.unique(pairs.histogram, return_inverse=True)
        tol = request.stopping.tol
        of_inputs = self_objectives(smoothing, request.histograms[used], lam, tol, self.stop)
        value -= 0.5 * of_inputs[place]
        mean = np.bincount(pairs.barycenter, pairs.weight * value, pairs.count)
        return np.asarray(mean - 0.5 * self_objectives(smoothing, a, lam, tol, self.stop))


def _stages(request: Request) -> list[float]:
    """Values of lam, the last of which is the one asked for."""
    lams, largest = [request.lam], request.ground.max
    by_axes = worth_axes(request.ground.pixels, request.lam)
    if not by_axes and request.lam * largest > SAFE_EXPONENT[np.dtype(np.float64)]:
        while lams[0] * largest > _GENTLE:
            lams.insert(0, 0.5 * lams[0])
    return lams


def _all_equal(B: Array, pairs: Pairing) -> npt.NDArray[np.bool_]:
    """Which barycentres are of one histogram, or of several that are the same."""
    first = pairs.histogram[pairs.starts][pairs.barycenter]
    different = first != pairs.histogram
    different[different] = (B[first[different]] != B[pairs.histogram[different]]).any(axis=1)
    return np.asarray(~np.logical_or.reduceat(different, pairs.starts))
