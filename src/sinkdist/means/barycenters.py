"""From histograms and weights to barycentres: stages, relaxation, who has converged.

Barycentres of one call are swept together and leave as they converge, so that none depends on the
others. Where products are large a first stage is swept in single precision, which takes half the
time; double precision goes on from there. At a lam whose kernel floats cannot hold, potentials are
brought there in stages from a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import SAFE_EXPONENT
from sinkdist.interrupts import Stop
from sinkdist.means.grid_smoothing import worth_axes
from sinkdist.means.pairing import Pairing, pairing_of
from sinkdist.means.self_transport import self_objectives
from sinkdist.means.smoothing import columns_of, smoothing_of
from sinkdist.means.sweeps import Sweeps
from sinkdist.problem.stopping import Stopping
from sinkdist.scale.crew import Crew
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled import relaxation
from sinkdist.solvers.policy import LOOSE_START

__all__ = ["Found", "Kept", "Request", "find"]

Array: TypeAlias = npt.NDArray[Any]

_FLOAT32, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_FAILURES = 2.0  #: windows without progress after which a first stage ends
_GENTLE = 300.0  #: lam times the largest cost from which lam is doubled where the last is too large
_STAGE = 200  #: sweeps of a stage at most, but for the last
_SINGLE = 3e-4  #: marginal error to which sweeps in single precision are of use
_LARGE = 1 << 22  #: multiplications in a product from which they are
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
    keep: bool = False  #: whether the scalings of all plans are wanted


class Kept(NamedTuple):
    """Scalings of the plans of one barycentre."""

    histogram: npt.NDArray[np.intp]  #: of each plan
    log_u: Array
    log_v: Array
    columns: npt.NDArray[np.intp] | None  #: bins of ``log_v``; None for all


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Barycentres and what is known of them, each with a leading axis of m."""

    histogram: Array
    error: Array  #: (m, n); 0 for histograms of weight 0
    self_error: Array
    status: npt.NDArray[np.int8]
    n_iter: npt.NDArray[np.int64]
    objective: Array
    kept: dict[int, Kept]  #: by barycentre, where that was asked for


def find(request: Request, stop: Stop) -> Found:
    """Every barycentre of a request."""
    m, n = request.weights.shape
    bins, unknown = request.ground.shape[0], int(Status.STALLED)
    found = Found(
        np.full((m, bins), 1.0 / bins), np.zeros((m, n)), np.full(m, 2.0),
        np.full(m, unknown, np.int8), np.zeros(m, np.int64), np.zeros(m), {},
    )  # fmt: skip
    pairs, places = pairing_of(request.weights), np.arange(m)
    if request.debiased:
        same = _all_equal(request.histograms, pairs)
        found.status[same], found.self_error[same] = Status.CONVERGED, 0.0
        found.histogram[same] = request.histograms[pairs.histogram[pairs.starts[same]]]
        pairs, places = pairs.chosen(~same)[0], places[~same]
    if places.size:
        with Crew(request.workers) as crew:
            _Search(request, pairs, places, found, crew, stop).run()
    return found


class _Stage(NamedTuple):
    """Sweeps at one lam, in one precision, to some error."""

    lam: float
    dtype: np.dtype[Any]
    tol: float
    most: int  #: sweeps


class _Search:
    """One run of `find`: the sweeps, and the policy of each barycentre."""

    def __init__(
        self, request: Request, pairs: Pairing, places: Array, found: Found, crew: Crew, stop: Stop
    ) -> None:
        self.request, self.pairs, self.places = request, pairs, places
        self.found, self.crew, self.stop = found, crew, stop
        used = request.histograms[np.unique(pairs.histogram)]
        self.stages = _stages(request, pairs.size)
        self.columns = columns_of(request.ground, self.stages[0].lam, used)
        B = request.histograms
        self.B = B if self.columns is None else B[:, self.columns]
        self.made = np.zeros(pairs.count, np.int64)
        self.policy = np.zeros((pairs.count, relaxation.FIELDS))
        self.patience = relaxation.FOREVER
        # Where lam is so large that it is climbed to, kernels are narrow and hide no details.
        self.has_momentum = self.stages[0].lam == self.stages[-1].lam

    def run(self) -> None:
        """Through all stages."""
        start: tuple[Array, Array] | None = None
        lam = self.stages[0].lam
        for stage in self.stages:
            if start is None or stage.lam != lam:
                for state in self.policy:
                    relaxation.begin(state)
            if start is not None and stage.lam != lam:
                start = start[0] * (stage.lam / lam), start[1] * (stage.lam / lam)
            lam, last = stage.lam, stage is self.stages[-1]
            smoothing = smoothing_of(self.request.ground, lam, stage.dtype, self.columns)
            self.sweeps = Sweeps(
                smoothing, self.B, self.request.ground.shape[0], self.pairs,
                debiased=self.request.debiased, crew=self.crew, stop=self.stop, start=start,
            )  # fmt: skip
            self.sweeps.has_momentum = self.has_momentum
            if last:
                self._finish(stage)
            else:
                start = self._begin(stage)

    def _begin(self, stage: _Stage) -> tuple[Array, Array] | None:
        """Sweep until each barycentre is good enough for the next stage; what that starts from.

        None where sweeps have diverged.
        """
        sweeps, pairs = self.sweeps, self.pairs
        log_u = np.empty((pairs.size, sweeps.log_u.shape[1]))
        log_z = np.empty((pairs.count, log_u.shape[1]))
        at_work, policy = np.arange(pairs.count), self.policy.copy()
        sweeps.columns()
        for k in range(1, stage.most + 1):
            last = k == stage.most
            sweeps.sweep(np.ones(len(policy)) if last else policy[:, relaxation.OMEGA])
            error = sweeps.columns()
            if not np.isfinite(error).all():
                self.made[at_work] += k
                return None
            done = self._decide(policy, sweeps.pairs.largest(error), stage.tol) | last
            done |= policy[:, relaxation.FAILURES] > _FAILURES
            if not done.any():
                continue
            ended = np.zeros(pairs.count, bool)
            ended[at_work[done]] = True
            log_u[ended[pairs.barycenter]] = sweeps.log_u[done[sweeps.pairs.barycenter]]
            log_z[ended], self.policy[ended] = sweeps.log_z[done], policy[done]
            self.made[ended] += k
            at_work, policy = at_work[~done], policy[~done]
            if not at_work.size:
                break
            sweeps.take(~done)
        # The next sweep is a plain one; after it, sweeps are relaxed as they were.
        omega, resume = self.policy[:, relaxation.OMEGA], self.policy[:, relaxation.RESUME]
        resume[:] = np.maximum(omega, resume)
        omega[:] = 1.0
        return log_u, log_z

    def _finish(self, stage: _Stage) -> None:
        """Sweep until all barycentres have converged, or so many times."""
        sweeps, policy = self.sweeps, self.policy
        sweeps.columns()
        left = np.maximum(self.request.stopping.max_iter - self.made, 1)
        while True:
            # Only a plain sweep leaves exact rows, so the last one is.
            sweeps.sweep(np.where(left > 1, policy[:, relaxation.OMEGA], 1.0))
            error = sweeps.columns()
            self.made, left = self.made + 1, left - 1
            if not np.isfinite(error).all():
                if self.patience == relaxation.PLAIN:  # plain sweeps have diverged as well
                    return
                self._restart(policy)
                continue
            done = self._decide(policy, sweeps.pairs.largest(error), stage.tol)
            over = done | (left <= 0)
            if over.any():
                self._record(done, error, over)
                if over.all():
                    return
                policy, self.places = policy[~over], self.places[~over]
                self.made, left = self.made[~over], left[~over]
                sweeps.take(~over)

    def _restart(self, policy: Array) -> None:
        """Begin again with plain sweeps, which cannot diverge: relaxed ones have."""
        self.patience = relaxation.PLAIN
        self.sweeps.has_momentum = self.has_momentum = False
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
        found.n_iter[places] = self.made[chosen]
        short = Status.STALLED if self._rounding() > self.request.stopping.tol else Status.MAX_ITER
        found.status[places] = np.where(done[chosen], Status.CONVERGED, short)
        for place, number in zip(places, np.flatnonzero(chosen), strict=True):
            if self.request.keep:
                mine = sweeps.pairs.barycenter == number
                log_u, log_v = (x[mine].astype(np.float64) for x in (sweeps.log_u, sweeps.log_v))
                found.kept[int(place)] = Kept(
                    sweeps.pairs.histogram[mine], log_u, log_v, self.columns
                )
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


def _stages(request: Request, pairs: int) -> list[_Stage]:
    """What to go through; the last is what was asked for."""
    lam, largest, asked = request.lam, request.ground.max, request.stopping
    last = _Stage(lam, request.dtype, asked.tol, asked.max_iter)
    by_axes = worth_axes(request.ground.pixels, lam)
    if lam * largest > SAFE_EXPONENT[_DOUBLE] and not by_axes:
        lams = [0.5 * lam]
        while lams[0] * largest > _GENTLE:
            lams.insert(0, 0.5 * lams[0])
        tol = max(asked.tol, LOOSE_START)
        most = max(1, min(_STAGE, asked.max_iter // (2 * len(lams))))
        return [*(_Stage(lam, request.dtype, tol, most) for lam in lams), last]
    size = pairs * request.ground.shape[0] * request.ground.shape[1]
    single = last.dtype == _DOUBLE and lam * largest <= SAFE_EXPONENT[_FLOAT32] and size > _LARGE
    if single and asked.max_iter > 1:
        tol = max(asked.tol, _SINGLE)
        return [_Stage(lam, _FLOAT32, tol, min(_STAGE, asked.max_iter - 1)), last]
    return [last]


def _all_equal(B: Array, pairs: Pairing) -> npt.NDArray[np.bool_]:
    """Which barycentres are of one histogram, or of several that are the same."""
    first = pairs.histogram[pairs.starts][pairs.barycenter]
    different = first != pairs.histogram
    different[different] = (B[first[different]] != B[pairs.histogram[different]]).any(axis=1)
    return np.asarray(~np.logical_or.reduceat(different, pairs.starts))
