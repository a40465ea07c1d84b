"""Scaling of many pairs at once where marginals are held by a penalty: products over a block.

The same sweeps and the same policy as for one pair (`solvers.compiled.unbalanced`); converged pairs
are retired and the block is closed up, so that slow pairs do not make quick ones wait.
"""

from __future__ import annotations

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.masses import (
    INVERSE1,
    INVERSE2,
    POWER1,
    POWER2,
    first_tau,
    settle,
    update,
    violation,
)
from sinkdist.solvers.compiled.relaxation import (
    FIELDS,
    OMEGA,
    OVERFLOW,
    RUNNING,
    SWEEPS,
    THETA2,
    begin,
    decide,
)
from sinkdist.solvers.compiled.unbalanced import PATIENCE, Scaled
from sinkdist.solvers.policy import CROWDED

__all__ = ["scale_block"]


@compiled
def _row_step(
    S: Array, R: Array, X: Array, E: Array, U: Array, tau: Array, law: Array, omega: Array,
    error: Array, pull: Array, work: Array, exponents: Array,
) -> None:  # fmt: skip
    """The rows of every pair, relaxed by its ``omega``; their error before, 0 where it is plain."""
    for k in range(S.shape[0]):
        r = R[k if R.shape[0] > 1 else 0]
        error[k], far = violation(S[k], r, U[k], E[k], tau[k, 0], work)
        if omega[k] == 1.0 and error[k] < np.inf:
            error[k] = 0.0
        pull[k], _ = update(
            S[k], r, X[k], E[k], U[k], law[POWER1], law[INVERSE1], tau[k, 0], omega[k], far,
            work, exponents,
        )  # fmt: skip


@compiled
def _column_error(
    A: Array, C: Array, V: Array, H: Array, tau: Array, error: Array, work: Array
) -> None:
    """Add the error of the columns."""
    for k in range(A.shape[0]):
        error[k] += violation(A[k], C[k], V[k], H[k], tau[k, 1], work)[0]


@compiled
def _column_step(
    A: Array, C: Array, Y: Array, H: Array, V: Array, tau: Array, law: Array, log_t: Array,
    omega: Array, pull: Array, work: Array, exponents: Array,
) -> None:  # fmt: skip
    """The columns of every pair, and its best constants; a pair with ``omega`` 0 stays put."""
    for k in range(A.shape[0]):
        if omega[k] > 0.0:
            _, far = violation(A[k], C[k], V[k], H[k], tau[k, 1], work)
            other, mass = update(
                A[k], C[k], Y[k], H[k], V[k], law[POWER2], law[INVERSE2], tau[k, 1], omega[k],
                far, work, exponents,
            )  # fmt: skip
            settle(law, log_t[k], pull[k], other, mass, Y[k], V[k], H[k], tau[k])


@compiled
def _begin_all(state: Array, log_t: Array, law: Array, tau: Array) -> None:
    """Fresh pairs."""
    for k in range(state.shape[0]):
        begin(state[k])
        tau[k, 0] = first_tau(law, log_t[k], 0.0)
        tau[k, 1] = tau[k, 0]


@compiled
def _decide_all(state: Array, error: Array, tol: float, limit: float, act: Array) -> int:
    """Every pair's next step; how many are still at work."""
    going = 0
    for k in range(state.shape[0]):
        if act[k] == RUNNING:
            act[k] = decide(state[k], error[k], tol, limit) if error[k] < 1e30 else OVERFLOW
        going += act[k] == RUNNING
    return going


class _Block:
    """Pairs at work together: one row of every array per pair."""

    def __init__(self, K: Array, R: Array, C: Array, log_t: Array, law: Array) -> None:
        pairs, (m, n) = len(C), K.shape
        self.index, self.shared = np.arange(pairs), R if len(R) == 1 else None
        self.R, self.C, self.log_t = R, C, log_t
        self.X, self.Y, self.V = np.zeros((pairs, m)), np.zeros((pairs, n)), C.copy()
        self.U = np.repeat(R, pairs, 0) if len(R) == 1 else R.copy()
        self.E, self.H = np.ones((pairs, m)), np.ones((pairs, n))
        self.tau, self.state = np.empty((pairs, 2)), np.empty((pairs, FIELDS))
        self.error, self.pull = np.empty(pairs), np.empty(pairs)
        self.act = np.full(pairs, RUNNING)
        self.K, self.law = K, law
        self.work, self.exponents = np.empty(max(m, n)), np.empty(max(m, n), np.int64)
        _begin_all(self.state, log_t, law, self.tau)

    def rows(self, omega: Array) -> Array:
        """Half a sweep: rows, and the columns' error; the sums of the columns."""
        m, n = self.K.shape
        S = self.V @ self.K.T
        _row_step(
            S, self.R, self.X, self.E, self.U, self.tau, self.law, omega, self.error, self.pull,
            self.work[:m], self.exponents[:m],
        )  # fmt: skip
        A: Array = self.U @ self.K
        _column_error(A, self.C, self.V, self.H, self.tau, self.error, self.work[:n])
        return A

    def columns(self, A: Array, omega: Array) -> None:
        """The other half; a pair with ``omega`` 0 stays put."""
        n = self.K.shape[1]
        _column_step(
            A, self.C, self.Y, self.H, self.V, self.tau, self.law, self.log_t, omega, self.pull,
            self.work[:n], self.exponents[:n],
        )  # fmt: skip

    def only(self, some: Array) -> None:
        """Close the block up to some of its pairs."""
        for name in ("index", "C", "log_t", "X", "Y", "U", "V", "E", "H", "tau", "state", "error",
                     "pull", "act"):  # fmt: skip
            setattr(self, name, getattr(self, name)[some])
        if self.shared is None:
            self.R = self.R[some]

    def end(self, some: Array, ended: Scaled) -> None:
        """Keep what has come of some pairs."""
        where = self.index[some]
        for name in ("X", "Y", "U", "V", "tau", "error", "act"):
            getattr(ended, name)[where] = getattr(self, name)[some]
        ended.n_iter[where] = self.state[some, SWEEPS]
        ended.relaxed[where] = self.state[some, THETA2] > 0.0


def scale_block(
    K: Array, R: Array, C: Array, log_t: Array, law: Array, tol: float, sweeps: int, stop: Stop
) -> Scaled:
    """Scale the pairs ``(R, C)`` together, two matrix products a sweep."""
    ended, block = Scaled.blank(len(C), *K.shape), _Block(K, R, C, log_t, law)
    for _ in range(sweeps):
        if stop.is_set():  # nobody waits for it
            break
        omega = block.state[:, OMEGA].copy()
        A = block.rows(omega)
        going = _decide_all(block.state, block.error, tol, PATIENCE, block.act)
        if going < CROWDED * len(block.act):
            block.end(np.flatnonzero(block.act != RUNNING), ended)
            stay = np.flatnonzero(block.act == RUNNING)
            block.only(stay)
            A, omega = A[stay], omega[stay]
        if going == 0:
            break
        block.columns(A, np.where(block.act == RUNNING, omega, 0.0))
    else:
        block.rows(np.ones(len(block.act)))
        block.end(np.arange(len(block.act)), ended)
    return ended
