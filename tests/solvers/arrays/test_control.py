"""Loops: steps are counted, pairs that have ended are retired, and come back in their order."""

from typing import NamedTuple

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solvers.arrays.control import Control

LOOPS = Control()


class State(NamedTuple):
    left: object
    name: object

    @property
    def going(self):
        return self.left > 0


@pytest.mark.parametrize("retire", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_pair_goes_on_until_it_has_ended(seed, retire):
    """A pair needs so many sweeps; what belongs to it must stay with it."""
    needs = np.random.default_rng(seed).integers(0, 60, 12)
    sizes = []

    def step(pairs, state, count):
        sizes.append(state.left.shape[0])
        np.testing.assert_array_equal(np.asarray(pairs[0]), np.asarray(state.name))
        assert pairs[1].shape[0] == 1  # shared by all pairs
        left = xp.where(state.left > count, state.left - count, xp.zeros_like(state.left))
        return State(left, state.name)

    names = xp.asarray(np.arange(12))
    pairs = type("Pairs", (tuple,), {"__new__": lambda cls, *a: tuple.__new__(cls, a)})(
        names, xp.asarray([[7]])
    )
    state, made = LOOPS.until_done(
        xp, step, pairs, State(xp.asarray(needs), names), 8, 1000, retire
    )
    np.testing.assert_array_equal(np.asarray(state.name), np.arange(12))
    assert not np.asarray(state.left).any()
    assert made == -(-needs.max() // 8) * 8
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[-1] < 9) == retire


def test_a_limit_is_kept_to_the_sweep():
    counts = []

    def step(pairs, state, count):
        counts.append(count)
        return state

    state = State(xp.asarray([1, 1]), xp.asarray([0, 1]))
    _, made = LOOPS.until_done(xp, step, (), state, 8, 21)
    assert made == 21 and counts == [8, 8, 5]


def test_repeat_and_when():
    assert LOOPS.repeat(5, lambda x: 2 * x, 1) == 32
    assert LOOPS.when(xp.asarray(True), lambda x: x + 1, 1) == 2
    assert LOOPS.when(xp.asarray(False), lambda x: x + 1, 1) == 1
