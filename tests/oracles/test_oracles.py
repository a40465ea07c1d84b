"""The oracles of the fuzzer against closed forms, against each other and against HiGHS."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from tests.oracles import extended, linear_program, log_domain
from tests.oracles.exact import Enclosure, mean_cost, normalised, on_support

M2 = np.array([[0.1, 1.0], [0.6, 0.3]])


def pair(d1, d2, seed, weight=1.0):
    rng = np.random.default_rng(seed)
    r, c = rng.dirichlet(np.full(d1, weight)), rng.dirichlet(np.full(d2, weight))
    return normalised(r, 1e-100), normalised(c, 1e-100), rng.random((d1, d2))


def two_bins(a, b, M, lam):
    """The distance of (a, 1-a) and (b, 1-b) at lam, and its plan's first entry, in 60 digits."""
    with mpmath.workdps(60):
        a, b = (mpmath.mpf(x.numerator) / x.denominator for x in (a, b))
        ((m, n), (o, p)) = [[mpmath.mpf(x) for x in row] for row in M.tolist()]
        e = mpmath.exp(-mpmath.mpf(lam) * (n + o - m - p))
        B = a + b + e * (1 - a - b)
        x = 2 * a * b / (B + mpmath.sqrt(B * B - 4 * (1 - e) * a * b))
        value = x * m + (a - x) * n + (b - x) * o + (1 - a - b + x) * p
        return Fraction(*mpmath.libmp.to_rational(value._mpf_)), x


def holds(enclosure, value, digits=25):
    """Whether an enclosure holds a value known to many digits, and is narrow."""
    tiny = abs(value) / 10**digits
    return enclosure.lower - tiny <= value <= enclosure.upper + tiny and enclosure.width <= abs(
        value
    ) / 10 ** (digits - 10)


# ------------------------------------------------------------------------------ exact distance


def test_masses_are_normalised_exactly():
    r = normalised([0.1, 0.2, 0.3, 1e-200], 1e-100)
    assert sum(r) == 1 and r[3] == 0 and r[0] / r[1] == Fraction(0.1) / Fraction(0.2)


def test_exact_distance_of_two_bins_diracs_and_a_line():
    a, b = normalised([0.3, 0.7]), normalised([0.45, 0.55])
    flip = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert linear_program.emd(a, b, flip) == 2 * abs(a[0] - b[0])
    e = normalised([0.0, 1.0, 0.0])
    M = np.random.default_rng(0).random((3, 3))
    assert linear_program.emd(e, normalised([0.0, 0.0, 1.0]), M) == Fraction(M[1, 2])
    r, c, _ = pair(9, 9, 1)
    line = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    ahead = [abs(sum(r[: k + 1]) - sum(c[: k + 1])) for k in range(8)]
    assert linear_program.emd(r, c, line) == sum(ahead)


@pytest.mark.parametrize(
    ("d1", "d2", "weight"),
    [(2, 5, 1), (6, 6, 0.1), (12, 9, 0.02), (25, 30, 1), (9, 2, 1), (30, 4, 1)],
)
def test_an_optimal_plan_is_feasible_and_its_potentials_prove_it(d1, d2, weight):
    r, c, M = on_support(*pair(d1, d2, d1, weight))
    plan, f, g = linear_program.optimal(r, c, M)
    assert all(mass >= 0 for mass in plan.values())
    for axis, side in ((0, r), (1, c)):
        sums = [sum(x for cell, x in plan.items() if cell[axis] == k) for k in range(len(side))]
        assert sums == side
    assert all(f[i] + g[j] <= Fraction(M[i, j]) for i in range(len(r)) for j in range(len(c)))
    dual = sum(x * y for x, y in zip(f, r, strict=True)) + sum(
        x * y for x, y in zip(g, c, strict=True)
    )
    assert dual == linear_program.emd(r, c, M)


def test_exact_distance_agrees_with_highs():
    r, c, M = pair(7, 8, 3)
    sums = np.vstack([np.kron(np.eye(7), np.ones(8)), np.kron(np.ones(7), np.eye(8))])
    found = linprog(M.ravel(), A_eq=sums, b_eq=np.array(r + c, float), method="highs")
    assert float(linear_program.emd(r, c, M)) == pytest.approx(found.fun, rel=1e-9)


def test_exact_distance_with_many_rows_few_columns_and_ties():
    """The third column is reached at a cost of 3 at least, and the rest is free."""
    M = np.array([[5, 0, 8], [0, 8, 3], [0, 0, 8], [3, 5, 3], [8, 0, 8], [3, 0, 8]], float)
    r, c = [Fraction(1, 6)] * 6, [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    assert linear_program.emd(r, c, M) == linear_program.emd(c, r, M.T) == Fraction(3, 4)


def test_exact_distance_with_ties_and_huge_ranges():
    uniform = [Fraction(1, 6)] * 6
    assert linear_program.emd(uniform, uniform, 1.0 - np.eye(6)) == 0
    r, c = normalised([1.0, 1e-90]), normalised([1.0, 3e-90])
    M = np.array([[0.0, 1e200], [1e-200, 0.0]])
    assert linear_program.emd(r, c, M) == (c[1] - r[1]) * Fraction(1e200)


# --------------------------------------------------------------------------- entropic distances


@pytest.mark.parametrize("lam", [1e-18, 1e-3, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("a", [0.3, 1e-40])
def test_two_bins_in_extended_precision(lam, a):
    r, c = normalised([a, 1.0 - a]), normalised([0.55, 0.45])
    distance, _ = extended.penalised(r, c, M2, lam)
    assert holds(distance, two_bins(r[0], c[0], M2, lam)[0])


@pytest.mark.parametrize("lam", [1e6, 1e12])
def test_extended_precision_at_a_large_lam_lies_just_above_the_exact_distance(lam):
    r, c, M = pair(3, 4, 5)
    distance, _ = extended.penalised(r, c, M, lam)
    emd = linear_program.emd(r, c, M)
    assert Enclosure(emd, emd + Fraction(2.0 / lam)).meets(distance)
    assert distance.width <= Fraction(1e-15)


def test_plain_sweeps_agree_with_extended_precision():
    for seed in range(5):
        r, c, M = pair(5, 4, seed)
        distance, _ = extended.penalised(r, c, M, 20.0)
        plain = log_domain.penalised(r, c, M, 20.0)
        assert plain.meets(distance) and plain.width < Fraction(1e-5)


def test_the_least_objective():
    """Equal costs leave the entropy: 2 log(2) for two bins of equal mass each."""
    half = normalised([1.0, 1.0])
    _, objective = extended.penalised(half, half, np.ones((2, 2)), 5.0)
    assert float(objective.lower) == pytest.approx(1.0 - 2.0 * math.log(2.0) / 5.0, abs=1e-15)
    assert objective.width < Fraction(1e-30)


@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 0.05])
def test_the_constraint_for_two_bins(alpha):
    """The lam whose plan has the information alpha is found by bisection on the closed form."""
    r, c = normalised([0.3, 0.7]), normalised([0.55, 0.45])

    def information(lam):
        _, x = two_bins(r[0], c[0], M2, lam)
        a, b = (mpmath.mpf(y.numerator) / y.denominator for y in (r[0], c[0]))
        cells = [(x, a * b), (a - x, a * (1 - b)), (b - x, (1 - a) * b)]
        cells.append((1 - a - b + x, (1 - a) * (1 - b)))
        return sum(p * mpmath.log(p / q) for p, q in cells)

    low, high = mpmath.mpf("1e-9"), mpmath.mpf(100)
    with mpmath.workdps(40):
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if information(middle) < alpha else (low, middle)
        value, _ = two_bins(r[0], c[0], M2, low)
    found = extended.constrained(r, c, M2, alpha, linear_program.emd(r, c, M2))
    assert holds(found, value, digits=18)


def test_algorithm1_in_its_first_step():
    """One update by hand, for uniform histograms and a symmetric cost."""
    half = normalised([1.0, 1.0])
    M = np.array([[0.0, 1.0], [1.0, 0.0]])
    off = math.exp(-2.0)
    value, error = log_domain.algorithm1(half, half, M, 2.0, 1)
    assert value == pytest.approx(off / (1 + off), rel=1e-14) and error < 1e-12
    assert mean_cost(half, half, M) == Fraction(1, 2)
