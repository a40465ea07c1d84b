"""Passes shared by threads: the same to the bit for any number of them, whatever they do."""

import _thread
import time

import numpy as np
import pytest

from sinkdist.kernels.atomics import CAN_YIELD
from sinkdist.kernels.chunks import ACC, FILL, FINISH, SQUARED, SQUARES, SWEEP, C, F, G, R, U, V
from sinkdist.solvers.compiled import team
from sinkdist.solvers.compiled.team import LAM, arrays_for, helped, lead
from tests.small_pairs import small_pair

threads_help = pytest.mark.skipif(not CAN_YIELD, reason="threads do not help here")


def prepared(workers, m=400, n=700, seed=0):
    p = small_pair(m, n, seed)
    arrays = arrays_for(p.M, np.zeros((m, n), np.float32), workers)
    rng = np.random.default_rng(seed)
    arrays.strength[LAM] = p.lam
    arrays.rows[R], arrays.columns[C] = p.r, p.c
    arrays.rows[F], arrays.columns[G] = rng.normal(size=m) / 9, rng.normal(size=n) / 9
    arrays.columns[V] = rng.random(n)
    return p, arrays


def passes(arrays, turns=3):
    """Some rounds of all passes; everything that they made."""
    made = []
    for _ in range(turns):
        for what in (FILL, SWEEP, SQUARES, FINISH):
            made.append(np.array([lead(what, *arrays)]))
            made += [arrays.K.copy(), arrays.rows[U].copy(), arrays.columns[[ACC, SQUARED]].copy()]
            arrays.columns[V] += 1.0
            arrays.rows[F] *= 0.9
    return made


def test_one_thread_alone_makes_all_rows():
    p, arrays = prepared(1)
    lead(FILL, *arrays)
    K = np.exp(p.lam * (arrays.rows[F][:, None] + arrays.columns[G] - p.M))
    np.testing.assert_allclose(arrays.K, K, rtol=3e-7)
    lead(SWEEP, *arrays)
    K = arrays.K.astype(float)
    u = p.r / (K @ arrays.columns[V])
    np.testing.assert_allclose(arrays.rows[U], u, rtol=1e-13)
    np.testing.assert_allclose(arrays.columns[ACC], u @ K, rtol=1e-13)
    lead(SQUARES, *arrays)
    np.testing.assert_allclose(arrays.columns[SQUARED], (u**2 / p.r) @ K**2, rtol=1e-13)


@threads_help
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_any_number_of_threads_makes_the_same_bits(workers):
    _, alone = prepared(1)
    _, arrays = prepared(workers)
    expected = passes(alone)
    with helped(arrays):
        time.sleep(0.01)
        found = passes(arrays)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True))


@threads_help
def test_threads_do_take_part():
    """Chunks that a helper made are marked as its own."""
    _, arrays = prepared(2, 1600, 1600)
    owners, end = set(), time.monotonic() + 60.0
    with helped(arrays):
        while len(owners) < 2 and time.monotonic() < end:
            lead(FILL, *arrays)
            owners |= set((arrays.team[team.OWNERS :] & 0xFFFF).tolist())
    assert owners == {0xFFFF, 0xFFFE}


@threads_help
@pytest.mark.parametrize("what", [SWEEP, SQUARES, FINISH, FILL])
def test_a_chunk_that_nobody_finishes_is_made_by_the_leader(what):
    """A helper that took a chunk and sleeps for ever: the pass ends all the same, and is right."""
    _, alone = prepared(1)
    _, arrays = prepared(2)
    for each in (alone, arrays):
        lead(FILL, *each)
        lead(SWEEP, *each)
    lead(what, *alone)

    stolen = []

    def take_one_and_sleep():
        state = arrays.team
        while not stolen:
            if state[team.TICKET] & 0xFFFF < state[team.CHUNKS]:
                before = np.zeros(1, np.int64)
                grab(state, before)
                stolen.append(int(before[0]) & 0xFFFF)

    grab = _grabber()
    grab(np.full(1, 0xFFFF), np.zeros(1, np.int64))  # compiled before
    end = time.monotonic() + 60.0
    while not (stolen and stolen[0] < arrays.team[team.CHUNKS]) and time.monotonic() < end:
        stolen.clear()
        _thread.start_new_thread(take_one_and_sleep, ())
        for _ in range(50):
            lead(what, *arrays)
    assert stolen
    for a, b in ((alone.rows[U], arrays.rows[U]), (alone.columns[ACC], arrays.columns[ACC])):
        assert np.array_equal(a, b)
    assert np.array_equal(alone.K, arrays.K)


def _grabber():
    from sinkdist.kernels.atomics import fetch_add
    from sinkdist.kernels.compiled import compiled

    @compiled
    def grab(state, out):
        out[0] = fetch_add(state, 0, 1)

    return grab


def test_helpers_end_with_the_pair():
    _, arrays = prepared(3)
    before = _thread._count()
    with helped(arrays):
        lead(FILL, *arrays)
    end = time.monotonic() + 30.0
    while _thread._count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert _thread._count() <= before
    assert arrays.team[team.QUIT] == 1


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 90_000), (5, 200), (1001, 997), (4000, 300)])
def test_every_row_belongs_to_one_chunk(m, n):
    rng = np.random.default_rng(0)
    arrays = arrays_for(rng.random((m, n)), np.zeros((m, n), np.float32), 1)
    arrays.strength[LAM] = 1.0
    arrays.rows[R], arrays.columns[V] = 1.0, 1.0
    lead(FILL, *arrays)
    lead(SWEEP, *arrays)
    assert (arrays.K > 0.0).all()
    np.testing.assert_allclose(arrays.rows[U] * arrays.K.sum(axis=1, dtype=float), 1.0, rtol=1e-12)
