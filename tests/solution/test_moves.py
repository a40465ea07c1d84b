"""The table of the largest moves: what is in it, in which order, and how it reads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sinkdist as sd
from sinkdist.solution.moves import Move, MoveTable, largest_moves
from sinkdist.solution.plans import SparsePlan
from tests.problems import grid_costs, simplex

INF = float("inf")
LINE = sd.Ground.grid(4)
R, C = np.array([0.5, 0.5, 0, 0]), np.array([0.125, 0.25, 0.375, 0.25])
M = grid_costs(3, 4)


@pytest.mark.parametrize(
    "options", [{"lam": INF}, {"lam": 7.0}, {"alpha": 0.3}, {"lam": 0}], ids=str
)
@pytest.mark.parametrize("top", [1, 5, 20, None])
def test_the_largest_first(options, top):
    r, c = simplex(2, 12, 0)
    s = sd.solve(r, c, M, **options)
    P = s.plan.copy()
    np.fill_diagonal(P, 0.0)
    order = np.argsort(-P, axis=None, kind="stable")[: np.count_nonzero(P)][:top]
    expected = [
        (i, j, P[i, j], M[i, j]) for i, j in zip(*np.unravel_index(order, P.shape), strict=True)
    ]
    table = s.moves(top=top)
    assert [tuple(move) for move in table] == expected
    assert table.n_moves == np.count_nonzero(P)
    assert table.moved_mass == pytest.approx(P.sum(), rel=1e-14)


def test_moves_and_names():
    s = sd.solve(R, C, LINE, lam=INF)
    table = s.moves()
    assert isinstance(table, MoveTable) and isinstance(table[0], Move)
    assert table[0] == (0, 1, 0.25, 1.0)
    assert [m[:2] for m in table] == [(0, 1), (1, 2), (1, 3), (0, 2)]
    assert {m.cost for m in table} == {1.0, 2.0} and len(table) == 4
    named = s.moves(top=2, names=list("abcd"))
    assert named[1] == ("b", "c", 0.25, 1.0) and len(named) == 2 and len(named[:1]) == 1
    assert repr(s.moves(top=1, names=["here", "there", "far away", "nowhere"])).splitlines() == [
        "from  to     mass  cost",
        "here  there  0.25  1",
        "1 of 4 moves, with 29% of the mass 0.875",
    ]


def test_names_from_pandas_and_the_table_as_a_frame():
    pd = pytest.importorskip("pandas")
    s = sd.solve(R, C, LINE, lam=INF)
    frame = s.moves(names=pd.Index(["a", "b", "c", "d"])).to_frame()
    assert list(frame.columns) == ["from", "to", "mass", "cost"] and len(frame) == 4
    assert tuple(frame.iloc[1]) == ("b", "c", 0.25, 1.0)
    assert len(sd.solve(R, R, LINE, lam=INF).moves().to_frame()) == 0


def test_rectangular_grounds_have_two_lists_of_names():
    costs = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]])
    s = sd.solve([0.25, 0.75], [0.25, 0.5, 0.25], costs, lam=INF)
    assert [m[:2] for m in s.moves(names=(["mill", "pit"], ["a", "b", "c"]))] == [
        ("pit", "b"), ("mill", "a"), ("pit", "c"),
    ]  # fmt: skip
    assert s.moves()[0] == (1, 1, 0.5, 0.0)  # not the same bin, though the same index
    for names in (["mill", "pit"], ["a", "b", "c"], (["mill"], ["a", "b", "c"])):
        with pytest.raises(sd.InputError, match=r"pair of sequences .* with 2 and 3 names"):
            s.moves(names=names)


def test_square_grounds_may_have_two_lists_too():
    s = sd.solve(R, C, LINE, lam=INF)
    assert s.moves(top=1, names=(list("abcd"), list("wxyz")))[0][:2] == ("a", "x")


def test_staying_is_a_move_where_it_costs():
    s = sd.solve([0.5, 0.5], [0.5, 0.5], [[0.0, 9.0], [9.0, 1.0]], lam=INF)
    assert list(s.moves()) == [(1, 1, 0.5, 1.0)]
    assert sd.solve(R, R, LINE, lam=INF).moves().moved_mass == 0.0
    assert "0 moves of mass 0" in repr(sd.solve(R, R, LINE, lam=INF).moves())


def test_many_pairs_have_a_table_each():
    tables = sd.solve(R, np.stack([C, R]), LINE, lam=INF).moves(top=3)
    assert [len(table) for table in tables] == [3, 0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"top": 0}, sd.InputError, "'top' option must be at least 1"),
        ({"top": 2.5}, sd.InputTypeError, "'top' option must be an integer"),
        ({"top": True}, sd.InputTypeError, "'top' option must be an integer"),
        ({"names": list("abc")}, sd.InputError, "one name per bin, 4 in all. Got 3"),
        ({"names": "abcd"}, sd.InputTypeError, "sequence with one name per bin"),
        ({"names": 3}, sd.InputTypeError, "sequence with one name per bin"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        sd.solve(R, C, LINE, lam=INF).moves(**options)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), top=st.integers(1, 12), cuts=st.integers(1, 5))
def test_ties_go_by_index_however_the_plan_is_cut(seed, top, cuts):
    rng = np.random.default_rng(seed)
    P = rng.integers(0, 4, (6, 6)) / 64.0
    pieces = [
        SparsePlan.of(P[rows]).placed(rows, None, P.shape)
        for rows in np.array_split(np.arange(6), cuts)
    ]
    M = np.ones((6, 6))
    table = largest_moves(pieces, lambda i, j: M[i, j], top, (None, None), square=True)
    order = np.argsort(-P, axis=None, kind="stable")[: np.count_nonzero(P)][:top]
    assert [m[:2] for m in table] == list(zip(*np.unravel_index(order, P.shape), strict=True))
