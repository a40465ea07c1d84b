"""How accurate an answer is, and the loosest tolerance at which a peer is accurate enough.

Tolerances mean different things to different packages, so none is believed: a peer is run at its
own tolerance, its plan's marginals are summed, and the tolerance is moved by factors of three
until it is the loosest that meets the bound. A trial runs in a process of its own, because a
compiled solver that does not end can only be stopped from outside.
"""

from __future__ import annotations

import multiprocessing as mp
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import PEERS, Peer
from benchmarks.problems import Array, Pair, PairKey, pair
from benchmarks.timing import CORES

BOUND = 1e-6
RATIO = 3.0
LOOSEST, TIGHTEST = 1e-2, 1e-13
READY = "ready"


@dataclass(frozen=True)
class Setting:
    """A peer's tolerance on a problem and the error it leaves, or the reason why there is none."""

    tol: float | None
    error: float | None = None
    reason: str = ""


def marginal_error(plan: Array, problem: Pair) -> float:
    """Return |P1 - r|_1 + |P^T1 - c|_1, infinite where the plan is not finite."""
    rows, columns = plan.sum(axis=1), plan.sum(axis=0)
    error = np.abs(rows - problem.r).sum() + np.abs(columns - problem.c).sum()
    return float(error) if np.isfinite(error) else float("inf")


def form_error(plan: Array, problem: Pair) -> float:
    """How far log P + lam M is from a sum f_i + g_j, the form that only the right answer has.

    The marginals alone would also be met by r c^T, or by any plan rounded onto them.
    """
    i, j = int(problem.r.argmax()), int(problem.c.argmax())
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(plan) + problem.lam * problem.M
        off = inside - inside[:, [j]] - inside[[i], :] + inside[i, j]
    seen = plan > np.finfo(float).tiny  # below that, digits are lost to underflow
    both = seen & seen[:, [j]] & seen[[i], :]
    return float(np.abs(off[both]).max(initial=0.0)) if both.any() else float("inf")


def _serve(pipe: Connection) -> None:
    """Answer trials until the pipe closes; the body of the trial process."""
    peers = {peer.name: peer for peer in PEERS}
    while True:
        try:
            name, key, tol, threads = pipe.recv()
        except EOFError:
            return
        try:
            problem = pair(key)
            run = peers[name].prepare(problem, tol)
            pipe.send(READY)
            with threadpool_limits(threads, user_api="blas"):
                result = run.call(run.fresh())
            pipe.send(marginal_error(run.plan(result), problem))
        except Exception as failure:  # a peer's failure is a finding, not the end of the run
            pipe.send(f"{type(failure).__name__}: {failure}"[:80])


class TrialProcess:
    """A process that runs trials and is replaced when one takes longer than ``budget`` seconds."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self._start()

    def _start(self) -> None:
        context = mp.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def __call__(self, peer: Peer, key: PairKey, tol: float, threads: int) -> float | str:
        """Return the error of the peer's plan, or the sentence that says why there is none."""
        self._pipe.send((peer.name, key, tol, threads))
        # Preparing is not on the peer's account, but must end too: OTT's caps are tried out there.
        answer = self._answer(2 * self.budget + 60)
        return self._answer(self.budget) if answer == READY else answer

    def _answer(self, patience: float) -> float | str:
        """What the process says within its time."""
        try:
            if self._pipe.poll(patience):
                answer: float | str = self._pipe.recv()
                return answer
        except (EOFError, OSError):
            self._replace()
            return "crashed"
        self._replace()
        return f"gave up after {self.budget:.0f} s"

    def _replace(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def loosest(run: TrialProcess, peer: Peer, key: PairKey) -> Setting:
    """Find the loosest tolerance whose result meets the bound, by factors of ``RATIO``."""
    tol = BOUND * RATIO / key.d**0.5  # the L2 norm of an even error of L1 norm about BOUND
    threads = CORES if key.d > 1024 else 1  # the better choice for those who lean on BLAS
    met: Setting | None = None
    last = 0.0
    while TIGHTEST <= tol <= LOOSEST:
        found = run(peer, key, tol, threads)
        if isinstance(found, str):
            return met or Setting(None, reason=found)
        before, last = last, found
        if last <= BOUND:
            met = Setting(tol, last)
            if before > BOUND:  # on the way down: the next looser one has just failed
                return met
            tol *= RATIO
        elif met is not None:
            return met
        elif last == before or not np.isfinite(last):  # a tighter tolerance changes nothing
            break
        else:
            tol /= RATIO
    return met or Setting(None, reason=f"fails: error {last:.0e}")
