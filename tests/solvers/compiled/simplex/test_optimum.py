import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from sinkdist.solvers.compiled.simplex import optimum
from sinkdist.solvers.compiled.simplex.tree import MARK, flows
from tests.solvers.compiled.simplex.problems import SHAPES, problem


def optimise(p, enough=np.inf):
    return optimum.optimise(
        p.C, p.coarse, p.m, p.n, p.mass, p.flow, p.potential, p.single, p.links, p.order,
        p.scratch, enough, p.stop,
    )  # fmt: skip


def with_coarse(p):
    p.coarse, p.single = p.C.astype("f4"), np.empty(p.first + p.width, np.float32)
    return p


def value_of(p, root):
    return flows(p.links, p.C, root, p.mass, np.zeros_like(p.potential))[0]


def by_linprog(M, r, c):
    m, n = M.shape
    rows, columns = np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))
    end = linprog(M.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[r, c], method="highs-ds")
    return end.fun


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_optimal_values(shape, coarse):
    p = problem(*shape, seed=3)
    root, pivots = optimise(with_coarse(p) if coarse else p)
    u, v = p.potential[: p.m], -p.potential[p.first : p.first + p.n]
    assert pivots >= 0 and (p.M - u[:, None] - v).min() >= -1e-13
    value = value_of(p, root)
    assert value == pytest.approx(u @ p.r + v @ p.c, abs=1e-13)
    assert value == pytest.approx(by_linprog(p.M, p.r, p.c), abs=1e-9)


@pytest.mark.parametrize("n", [3, 20, 120])
@pytest.mark.parametrize("kind", ["random", "0/1", "equal"])
def test_assignments_where_every_basis_is_degenerate(n, kind):
    M = np.random.default_rng(n).uniform(size=(n, n))
    M = M if kind == "random" else (M > 0.7).astype(float) if kind == "0/1" else np.ones((n, n))
    p = problem(n, n, costs=M)
    p.r[:] = p.c[:] = 1.0 / n
    root, pivots = optimise(p)
    assert pivots >= 0
    assert value_of(p, root) == pytest.approx(M[linear_sum_assignment(M)].mean(), abs=1e-14)


def test_one_cost_far_above_the_others():
    M = np.random.default_rng(0).uniform(size=(20, 20)) * 1e-12
    M[3, 4] = 1.0
    p = problem(20, 20, costs=M)
    root, _ = optimise(p)
    assert value_of(p, root) * 1e12 == pytest.approx(by_linprog(M * 1e12, p.r, p.c), rel=1e-9)


@pytest.mark.parametrize("prepare", [lambda p: p, with_coarse])
def test_it_gives_up_beyond_enough_and_not_before(prepare):
    def again():
        return prepare(problem(50, 50, seed=1))

    p = again()
    root, pivots = optimise(p)
    value = value_of(p, root)
    for share in (0.2, 0.5):
        q = again()
        assert optimise(q, share * value)[1] == -optimum.ABANDONED
        assert q.links[MARK].max() < 2 * pivots  # before the end
    assert optimise(again(), 1.001 * value)[1] >= 0


def test_it_stops_when_told_to():
    p = problem(50, 50, seed=1)
    p.stop[0] = 1
    assert optimise(p)[1] < 0
