"""Scaling of many pairs at once: matrix products over a block that stays in cache.

The same sweeps and the same policy as for one pair; converged pairs are retired and the block is
closed up, so that slow pairs do not make quick ones wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.block import column_error, column_step, row_step
from sinkdist.kernels.compiled import Array, compiled
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
from sinkdist.solvers.policy import CROWDED


@compiled
def _begin_all(state: Array) -> None:
    """Fresh pairs."""
    for k in range(state.shape[0]):
        begin(state[k])


@compiled
def _decide_all(state: Array, error: Array, tol: float, limit: float, act: Array) -> int:
    """Every pair's next step; how many are still at work."""
    going = 0
    for k in range(state.shape[0]):
        if act[k] == RUNNING:
            act[k] = decide(state[k], error[k], tol, limit) if error[k] < 1e30 else OVERFLOW
        going += act[k] == RUNNING
    return going


def scale_block(
    K: Array, R: Array, C: Array, tol: float, limit: float, sweeps: int, stop: Stop
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Scale the pairs ``(R, C)`` together; ``R`` has one row, shared, or one per pair.

    Returns U, V, error, n_iter, act and relaxed, one row or entry per pair; as for one pair, the
    rows of a pair that is CONVERGED or RUNNING are exact.
    """
    ended = _Ended(C.shape[0], K.shape[0], K.shape[1], K.dtype)
    index = np.arange(C.shape[0])
    U, V = np.zeros((index.size, K.shape[0]), K.dtype), (C > 0).astype(K.dtype)
    state, error = np.empty((index.size, FIELDS)), np.empty(index.size)
    act = np.full(index.size, RUNNING)
    _begin_all(state)
    for _ in range(sweeps):
        if stop.is_set():  # nobody waits for it
            break
        omega = state[:, OMEGA].copy()
        row_step(V @ K.T, R, U, omega, error)
        A = U @ K
        column_error(A, C, V, error)
        going = _decide_all(state, error, tol, limit, act)
        if going < CROWDED * index.size:
            ended.take(np.flatnonzero(act != RUNNING), index, U, V, error, act, state)
            stay = np.flatnonzero(act == RUNNING)
            U, V, C, A, R = U[stay], V[stay], C[stay], A[stay], R if len(R) == 1 else R[stay]
            state, error, act, omega = state[stay], error[stay], act[stay], omega[stay]
            index = index[stay]
        if going == 0:
            break
        column_step(A, C, V, np.where(act == RUNNING, omega, 0.0))
    else:
        row_step(V @ K.T, R, U, np.ones(index.size), error)
        column_error(U @ K, C, V, error)
        ended.take(np.arange(index.size), index, U, V, error, act, state)
    return ended.U, ended.V, ended.error, ended.n_iter, ended.act, ended.relaxed


class _Ended:
    """Where retired pairs are put, in the order of the block they came from."""

    def __init__(self, pairs: int, m: int, n: int, dtype: np.dtype[Any]) -> None:
        self.U, self.V = np.zeros((pairs, m), dtype), np.zeros((pairs, n), dtype)
        self.error, self.act = np.full(pairs, np.inf), np.full(pairs, RUNNING)
        self.n_iter, self.relaxed = np.zeros(pairs, np.int64), np.zeros(pairs, bool)

    def take(
        self, chosen: Array, index: Array,
        U: Array, V: Array, error: Array, act: Array, state: Array,
    ) -> None:  # fmt: skip
        """Keep the chosen rows of a block whose pairs have the given indices."""
        where = index[chosen]
        self.U[where], self.V[where] = U[chosen], V[chosen]
        self.error[where], self.act[where] = error[chosen], act[chosen]
        self.n_iter[where] = state[chosen, SWEEPS]
        self.relaxed[where] = state[chosen, THETA2] > 0.0
