"""The dual of the exact distance at a potential, against its readable twin and the distance."""

import numpy as np
import pytest
from hypothesis import given

from sinkdist.kernels.dual import dual_value
from sinkdist.solution import host_arrays
from sinkdist.solution.certificates import many_pairs
from sinkdist.solution.certificates.one_pair import emd_below
from tests.small_pairs import highs, shapes, small_pair


def compiled(p, f, unit):
    m, n = p.M.shape
    return dual_value(p.M, f, p.r, p.c, unit, np.empty(m), np.empty(n))


@given(shapes)
def test_the_twin(shape):
    p, unit = small_pair(*shape), 1e-10
    for size in (0.0, 1.0, 1e3):
        f = size * np.random.default_rng(shape[2]).normal(size=p.r.size)
        right = many_pairs.dual_value(host_arrays, p.M, f[None], p.r[None], p.c[None], unit)
        assert compiled(p, f, unit) == pytest.approx(right[0], rel=1e-12, abs=1e-13 * (1 + size))


def test_a_potential_of_the_optimum_proves_the_distance():
    p = small_pair(6, 5, 1)
    exact = highs(p.M, p.r, p.c)
    _, _, f, g = type(p)(p.M, p.r, p.c, 300.0).truth
    assert compiled(p, f, 0.0) == pytest.approx(exact, rel=1e-2)
    assert emd_below(p.M, 300.0, f, g, p.r, p.c) == pytest.approx(exact, rel=1e-2)
    assert compiled(p, f, 0.0) <= exact * (1 + 1e-9)


def test_what_is_taken_off_grows_with_the_unit():
    p = small_pair(6, 5, 1)
    f = np.arange(6.0)
    assert compiled(p, f, 1e-3) < compiled(p, f, 1e-6) < compiled(p, f, 0.0)


def test_potentials_that_are_no_numbers_prove_nothing():
    p = small_pair(6, 5, 1)
    nowhere = np.full(6, -np.inf), np.full(5, np.nan)
    zero = compiled(p, np.zeros(6), many_pairs.rounding_of(11))
    assert emd_below(p.M, np.inf, *nowhere, p.r, p.c) == max(0.0, zero)
