"""Recursions on scalings, against sums over all sources and plain powers."""

import math

import numpy as np
import pytest

from sinkdist.kernels.grid.recursions import (
    CHUNK,
    STRIP,
    relax,
    sums_of_columns,
    sums_of_rows,
)


def kernel(n, sharp):
    x = np.arange(n)
    return np.exp(-sharp * np.abs(x[:, None] - x))


@pytest.mark.parametrize("sharp", [1e-7, 0.2, 30.0])
@pytest.mark.parametrize(("lines", "n"), [(1, 30), (8, 1), (13, 30), (2, 5)])
def test_sums_of_rows(lines, n, sharp):
    v = np.random.default_rng(lines).random((lines, n))
    q, gain, out = math.exp(-sharp), -math.expm1(-2 * sharp), np.empty((lines, n))
    sums_of_rows(v, q, gain, 0, lines, out)
    np.testing.assert_allclose(out, v @ kernel(n, sharp), rtol=1e-13)
    again = np.full_like(v, np.nan)
    for start in range(0, lines, 8):
        sums_of_rows(v, q, gain, start, min(start + 8, lines), again)
    np.testing.assert_array_equal(again, out)  # whoever makes which rows


@pytest.mark.parametrize("sharp", [1e-7, 0.2, 30.0])
@pytest.mark.parametrize("shape", [(1, 30, 1), (3, 7, 5), (2, 1, 40), (2, 20, 70)])
def test_sums_of_columns_also_in_place(shape, sharp):
    v = np.random.default_rng(0).random(shape)
    q, gain, out = math.exp(-sharp), -math.expm1(-2 * sharp), np.empty(shape)
    strips = shape[0] * -(-shape[2] // STRIP)
    for strip in range(strips):
        sums_of_columns(v, q, gain, strip, strip + 1, out)
    np.testing.assert_allclose(out, kernel(shape[1], sharp) @ v, rtol=1e-13)
    sums_of_columns(v, q, gain, 0, strips, v)
    np.testing.assert_array_equal(v, out)


@pytest.mark.parametrize("spread", [1e-3, 0.5, 30.0])
@pytest.mark.parametrize("omega", [1.0, 1.2, 1.97])
def test_relaxed_updates(omega, spread):
    rng = np.random.default_rng(1)
    size = CHUNK + 100
    scaling, sums = rng.random((2, size)) + 0.01
    mass = scaling * sums * np.exp(spread * rng.uniform(-1, 1, size))
    mass[::7] = scaling[::7] = 0.0
    wanted, some = np.zeros(size), mass > 0
    wanted[some] = scaling[some] * (mass[some] / (scaling[some] * sums[some])) ** omega
    off = np.abs(scaling * sums - mass)
    moved, found = np.empty(2), scaling.copy()
    relax(sums, mass, omega, 0, 2, found, moved)
    np.testing.assert_allclose(found, wanted, rtol=1e-13 * max(1, spread))
    np.testing.assert_allclose(moved, [off[:CHUNK].sum(), off[CHUNK:].sum()], rtol=1e-12)


@pytest.mark.parametrize("omega", [1.0, 1.5])
@pytest.mark.parametrize("sums", [1e-300, 1e300, np.inf, np.nan])
def test_scalings_that_are_not_safe_are_told(sums, omega):
    moved = np.empty(1)
    relax(np.full(9, sums), np.ones(9), omega, 0, 1, np.ones(9), moved)
    assert not np.isfinite(moved[0]) or moved[0] > 1e290
