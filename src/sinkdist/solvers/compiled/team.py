"""Threads that share the passes over one large pair, inside compiled code.

Rows are cut into chunks that depend on the shape alone. One thread leads: it hands out a pass as a
ticket, from which every thread takes the next chunk, and adds up what they made, in their order. So
results are the same to the bit for any number of threads, and a thread that sleeps costs nothing.
One that falls asleep over a chunk is waited for about as long as a chunk takes: then the leader
makes the chunk itself, and what comes late is not taken, because the chunk has an owner by then.
Only `FILL` writes where others read: late comers write the same numbers once more, from inputs that
are kept apart, and the next `FILL` begins when none is at work. Threads live as long as the solve
of one pair.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from sinkdist.kernels.atomics import CAN_YIELD, fetch_add, load, replace, store, yield_core
from sinkdist.kernels.chunks import (
    ACC,
    COLUMNS,
    COST,
    FILL,
    FILLED_F,
    FILLED_G,
    FINISH,
    GOOD,
    MADE,
    ROWS,
    SINGLE_MATRIX,
    SQUARED,
    SQUARES,
    F,
    G,
    U,
    chunk_of_rows,
    width_of,
)
from sinkdist.kernels.compiled import (
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    part,
    shared,
)

__all__ = ["LAM", "Arrays", "Helpers", "arrays_for", "assist", "helped", "lead"]

# Places in the vector of the team, a cache line apart; from OWNERS on one for each chunk. FILLING
# counts those who may be writing to the kernel.
TICKET, QUIT, CHUNKS, WORKERS, FILLING, OWNERS = 0, 8, 16, 17, 24, 32

LAM, FILLED_LAM = range(2)  #: places in the vector of strengths: now, and of the kernel

_ENTRIES = 1 << 16  #: of the kernel in a chunk, unless there would be too many chunks
_MOST_CHUNKS = 16
_SHIFT = 16  #: a ticket is a generation, then what to do, then the next chunk
_KIND = 3  #: bits of what to do
_MASK = (1 << _SHIFT) - 1
_SPINS = 4000  #: looks of an idle thread before it yields its core
_IDLE = 5000  #: yields after which it goes to sleep
_NAP = 2e-4  #: seconds
_LAST_WAIT = 0.5  #: seconds for threads to end
#: Looks before a chunk is made again: about as long as a chunk of a sweep, or of exponentials.
_PATIENCE, _PATIENCE_EXP = 20_000, 100_000


class Arrays(NamedTuple):
    """What a team works on."""

    strength: Array
    M: Array
    K: Array
    rows: Array
    columns: Array
    parts: Array
    team: Array


def arrays_for(M: Array, K: Array, workers: int) -> Arrays:
    """Vectors and work space for one pair, and the state of a team."""
    m, n = M.shape
    chunks = max(1, min(_MOST_CHUNKS, m * n // _ENTRIES, m // 4))
    workers = min(workers, chunks) if CAN_YIELD else 1
    team = np.zeros(OWNERS + chunks, np.int64)
    team[CHUNKS], team[WORKERS], team[TICKET] = chunks, workers, chunks
    parts = np.empty((workers * chunks, width_of(m // chunks + 8, n)))
    return Arrays(np.empty(2), M, K, np.zeros((ROWS, m)), np.zeros((COLUMNS, n)), parts, team)


class Helpers:
    """Threads that help; those that have ended let the arrays go."""

    def __init__(self, count: int) -> None:
        self._count, self._ended = count, threading.Semaphore(0)

    def start(self, arrays: Arrays) -> None:
        """Begin to help."""
        for worker in range(1, self._count + 1):
            # No `threading.Thread`: its start waits until the thread runs, which may take long.
            _thread.start_new_thread(self._help, (worker, [arrays]))

    def wait(self) -> None:
        """Until all have ended, for a little: for callers who need the room of the arrays."""
        end = time.monotonic() + _LAST_WAIT
        for _ in range(self._count):
            self._ended.acquire(timeout=max(0.0, end - time.monotonic()))

    def _help(self, worker: int, given: list[Arrays]) -> None:
        """The life of a thread; ``given`` is emptied, for arguments stay to its end."""
        arrays = given.pop()
        while not arrays.team[QUIT]:
            assist(worker, *arrays)
            time.sleep(_NAP)
        del arrays
        self._ended.release()


@contextmanager
def helped(arrays: Arrays) -> Iterator[Helpers]:
    """While inside, threads beside the caller's help where it leads."""
    count = int(arrays.team[WORKERS]) - 1
    helpers = Helpers(count)
    if count > 0:
        arrays.team[QUIT] = 1
        assist(0, *arrays)  # does nothing: compiled here, not while others wait for a thread
        arrays.team[QUIT] = 0
        helpers.start(arrays)
    try:
        yield helpers
    finally:
        arrays.team[QUIT] = 1


@part
def _bound(chunk: int, chunks: int, m: int) -> int:
    """Where a chunk of rows begins: at a multiple of four."""
    return m if chunk == chunks else 4 * (chunk * (m // 4) // chunks)


@part
def _make(
    what: int, chunk: int, worker: int, strength: Any, M: Any, K: Any, rows: Any, columns: Any,
    parts: Any, team: Any,
) -> None:  # fmt: skip
    """One chunk, in the memory of a worker."""
    chunks, m = int(team[CHUNKS]), M.shape[0]
    first, last = _bound(chunk, chunks, m), _bound(chunk + 1, chunks, m)
    lam = strength[FILLED_LAM] if what == FILL else strength[LAM]
    chunk_of_rows(what, lam, first, last, M, K, rows, columns, parts[worker * chunks + chunk])


@compiled
def assist(
    worker: int, strength: Array, M: Array, K: Array, rows: Array, columns: Array, parts: Array,
    team: Array,
) -> None:  # fmt: skip
    """Take chunks of whatever the leader hands out, until it quits or is idle for long."""
    chunks, waited = int(team[CHUNKS]), 0
    while load(team, QUIT) == 0 and waited < _SPINS + _IDLE:
        waited += 1
        if load(team, TICKET) & _MASK >= chunks:
            if waited > _SPINS:
                yield_core()
            continue
        ticket = fetch_add(team, TICKET, 1)
        generation, chunk = ticket >> _SHIFT, ticket & _MASK
        if chunk >= chunks:
            continue
        waited, what = 0, generation & ((1 << _KIND) - 1)
        if what == FILL:
            fetch_add(team, FILLING, 1)
        if what != FILL or load(team, TICKET) >> _SHIFT == generation:  # else it is too late
            _make(what, chunk, worker, strength, M, K, rows, columns, parts, team)
            replace(team, OWNERS + chunk, generation << _SHIFT, (ticket | _MASK) - worker)
        if what == FILL:
            fetch_add(team, FILLING, -1)


@shared(INT, VECTOR, MATRIX, SINGLE_MATRIX, MATRIX, MATRIX, MATRIX, INTEGERS)
def lead(
    what: Any, strength: Array, M: Array, K: Array, rows: Array, columns: Array, parts: Array,
    team: Array,
) -> float:  # fmt: skip
    """One pass by all who help; ``<P, M>`` of `FINISH`, NaN where a sum is not representable."""
    one_version()
    chunks = int(team[CHUNKS])
    generation = (load(team, TICKET) >> (_SHIFT + _KIND)) + 1
    ticket = ((generation << _KIND) | what) << _SHIFT
    for chunk in range(chunks):
        store(team, OWNERS + chunk, ticket)
    if what == FILL:
        _set_apart(ticket, strength, rows, columns, team)
    store(team, TICKET, ticket)
    chunk = fetch_add(team, TICKET, 1) & _MASK
    while chunk < chunks:
        _make(what, chunk, 0, strength, M, K, rows, columns, parts, team)
        replace(team, OWNERS + chunk, ticket, ticket | _MASK)
        chunk = fetch_add(team, TICKET, 1) & _MASK
    patience = _PATIENCE_EXP if what in (FILL, FINISH) else _PATIENCE
    for chunk in range(chunks):
        waited = 0
        while load(team, OWNERS + chunk) == ticket:
            waited += 1
            if waited > patience:
                _make(what, chunk, 0, strength, M, K, rows, columns, parts, team)
                replace(team, OWNERS + chunk, ticket, ticket | _MASK)
    return _added(what, rows, columns, parts, team) if what != FILL else 0.0


@part
def _set_apart(ticket: int, strength: Any, rows: Any, columns: Any, team: Any) -> None:
    """Copy what the kernel will be made of, once nobody is at work on the last one."""
    store(team, TICKET, ticket | _MASK)  # of this generation, with nothing to take
    while load(team, FILLING) > 0:
        yield_core()
    strength[FILLED_LAM] = strength[LAM]
    for i in range(rows.shape[1]):
        rows[FILLED_F, i] = rows[F, i]
    for j in range(columns.shape[1]):
        columns[FILLED_G, j] = columns[G, j]


@part
def _added(what: int, rows: Any, columns: Any, parts: Any, team: Any) -> float:
    """Sums over chunks in their order; see `lead`."""
    m, n, chunks = rows.shape[1], columns.shape[1], int(team[CHUNKS])
    out = columns[SQUARED] if what == SQUARES else columns[ACC]
    for j in range(n):
        out[j] = 0.0
    cost, ok = 0.0, True
    for chunk in range(chunks):
        worker = _MASK - int(load(team, OWNERS + chunk) & _MASK)
        made = parts[worker * chunks + chunk]
        first, last = _bound(chunk, chunks, m), _bound(chunk + 1, chunks, m)
        if what != SQUARES:
            cost += made[COST] if what == FINISH else 0.0  # others leave it as it was
            ok &= made[GOOD] != 0.0
            u = rows[U, first:last]
            for i in range(u.size):
                u[i] = made[MADE + i]
        sums = made[MADE + last - first : MADE + last - first + n]
        for j in range(n):
            out[j] += sums[j]
    return cost if ok else np.nan
