"""Grounds: what is accepted, what each refusal says, and that operators are shared and right."""

import copy
import itertools
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground import Ground

pytestmark = pytest.mark.filterwarnings("error")

SQUARE = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])


def with_entry(value):
    matrix = np.ones((4, 9))
    matrix[3, 7] = value
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        SQUARE.tolist(),
        tuple(map(tuple, SQUARE)),
        SQUARE.astype(np.float32),
        SQUARE.astype(np.uint8),
        SQUARE.astype(">f8"),
        SQUARE.astype(np.longdouble),
        np.asfortranarray(SQUARE),
        SQUARE[::-1, ::-1][::-1, ::-1],
        np.repeat(SQUARE, 2, axis=1)[:, ::2],
        pd.DataFrame(SQUARE),
        pd.DataFrame(SQUARE, dtype="Float64"),
        np.asmatrix(SQUARE),
    ],
    ids=lambda matrix: type(matrix).__name__,
)
def test_any_matrix_of_real_numbers(matrix):
    ground = Ground(matrix)
    np.testing.assert_array_equal(ground.matrix, SQUARE)
    assert ground.matrix.dtype == np.float64
    assert ground.matrix.flags.c_contiguous
    assert type(ground.matrix) is np.ndarray


def test_the_callers_matrix_is_neither_changed_nor_aliased():
    mine = SQUARE.copy()
    ground = Ground(mine)
    mine[0, 1] = 99.0
    assert ground.matrix[0, 1] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        ground.matrix[0, 1] = 5.0
    with pytest.raises(AttributeError):
        ground.matrix = mine
    assert mine.flags.writeable


def test_of_returns_a_ground_itself_and_reads_a_matrix():
    ground = Ground(SQUARE)
    assert Ground.of(ground) is ground
    np.testing.assert_array_equal(Ground.of(SQUARE).matrix, SQUARE)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (with_entry(np.nan), "Cost (3, 7) of the ground matrix is nan; costs must be finite"),
        (with_entry(-0.5), "Cost (3, 7) of the ground matrix is -0.5; costs must be non-negative"),
        (
            with_entry(np.inf),
            "Cost (3, 7) of the ground matrix is inf; infinite costs are not accepted",
        ),
        (with_entry(-np.inf), "Cost (3, 7) of the ground matrix is -inf; costs must be non-neg"),
        (np.full((2, 2), np.inf), "Cost (0, 0) of the ground matrix is inf"),
        (np.ones(3), "The ground matrix must be 2-dimensional. Got shape (3,) instead."),
        (1.0, "The ground matrix must be 2-dimensional. Got shape () instead."),
        (np.ones((2, 2, 2)), "Got shape (2, 2, 2) instead."),
        (np.ones((0, 0)), "The ground matrix is empty: its shape is (0, 0)."),
        (np.ones((3, 0)), "The ground matrix is empty: its shape is (3, 0)."),
    ],
)
def test_bad_costs(matrix, message):
    with pytest.raises(InputError) as caught:
        Ground(matrix)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sparse.csr_array(SQUARE), "The ground matrix must be dense"),
        (sparse.coo_matrix(SQUARE), "Ground.graph(...) if it holds the edges"),
        (SQUARE + 0j, "Got dtype complex128 instead: pass its .real part"),
        (SQUARE.astype(object), "Got dtype object instead"),
        (SQUARE.astype(str), "The ground matrix must hold real numbers. Got dtype <U"),
        (None, "The ground matrix must be an array of real numbers. Got None instead."),
        ("euclidean", "Got an object of type str instead."),
        ({"a": 1}, "Got an object of type dict instead."),
        ([[0, 1], [1]], "The ground matrix is a ragged nested list"),
        (np.ma.masked_equal(SQUARE, 4.0), "The ground matrix is a masked array"),
    ],
)
def test_bad_kinds(matrix, message):
    with pytest.raises(InputTypeError) as caught:
        Ground(matrix)
    assert message in str(caught.value)


def test_facts_of_a_matrix():
    ground = Ground([[0, 1, 2], [3, 4, 50]])
    assert (ground.shape, ground.min, ground.max, ground.median) == ((2, 3), 0.0, 50.0, 2.5)
    assert not ground.is_symmetric
    assert Ground(SQUARE).is_symmetric
    assert Ground([[7.0]]).is_symmetric
    assert Ground(np.zeros((5, 5))).median == 0.0


@pytest.mark.parametrize("where", [(0, 1), (300, 2), (2, 300), (299, 300)])
def test_symmetry_is_judged_entry_by_entry(where):
    rng = np.random.default_rng(0)
    matrix = rng.random((301, 301))
    matrix += matrix.T
    matrix[where] = matrix[where[::-1]] = 1e-9  # small beside the others
    assert Ground(matrix).is_symmetric
    matrix[where] *= 1 + 1e-14
    assert Ground(matrix).is_symmetric
    matrix[where] *= 1 + 1e-10
    assert not Ground(matrix).is_symmetric


@pytest.mark.parametrize(("by", "unit"), [("median", 1.0), ("max", 4.0), (2, 2.0), (0.5, 0.5)])
def test_scaled_divides_and_leaves_the_original(by, unit):
    ground = Ground(SQUARE)
    np.testing.assert_array_equal(ground.scaled(by).matrix, SQUARE / unit)
    np.testing.assert_array_equal(ground.matrix, SQUARE)


@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e-300, 1e300])
def test_scaling_by_the_median_undoes_any_unit(factor):
    grid = Ground.grid(5, 5)
    scaled = Ground(grid.matrix * factor).scaled()
    assert scaled.median == pytest.approx(1.0, rel=1e-15)
    np.testing.assert_allclose(scaled.matrix, grid.scaled().matrix, rtol=1e-14)


@pytest.mark.parametrize(
    ("matrix", "by", "error", "message"),
    [
        (np.eye(5), "median", InputError, "The median of the ground matrix is 0, which is no unit"),
        (np.eye(5), "median", InputError, "scale by a number or by='max'."),
        (np.zeros((3, 3)), "median", InputError, "scale by a number."),
        (np.zeros((3, 3)), "max", InputError, "The max of the ground matrix is 0"),
        (SQUARE, "mean", InputError, "must be 'median', 'max' or a number. Got 'mean' instead."),
        (SQUARE, None, InputTypeError, "Got an object of type NoneType instead."),
        (SQUARE, True, InputTypeError, "Got an object of type bool instead."),
        (SQUARE, 0, InputError, "must be positive and finite. Got 0 instead."),
        (SQUARE, -2.0, InputError, "must be positive and finite. Got -2.0 instead."),
        (SQUARE, np.nan, InputError, "must be positive and finite. Got nan instead."),
        (SQUARE, 1e-320, InputError, "makes costs overflow"),
    ],
)
def test_bad_scales(matrix, by, error, message):
    with pytest.raises(error) as caught:
        Ground(matrix).scaled(by)
    assert message in str(caught.value)


GRID = {
    "euclidean": lambda a, b: np.sqrt(np.sum((a - b) ** 2)),
    "sqeuclidean": lambda a, b: np.sum((a - b) ** 2),
    "cityblock": lambda a, b: np.sum(np.abs(a - b)),
}


@pytest.mark.parametrize("metric", GRID)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 3, 2), (1, 5)])
def test_grids_follow_their_definition(shape, metric):
    pixels = [np.array(p) for p in itertools.product(*map(range, shape))]
    expected = [[GRID[metric](a, b) for b in pixels] for a in pixels]
    ground = Ground.grid(*shape, metric=metric)
    np.testing.assert_array_equal(ground.matrix, expected)
    assert ground.is_symmetric


@pytest.mark.parametrize(
    ("shape", "metric", "error", "message"),
    [
        ((), "euclidean", InputError, "A grid needs at least one side"),
        (((20, 20),), "euclidean", InputTypeError, "must be integers, as in Ground.grid(20, 20)"),
        ((2.0, 3), "euclidean", InputTypeError, "Got 2.0 instead."),
        ((True, 3), "euclidean", InputTypeError, "Got True instead."),
        ((3, 0), "euclidean", InputError, "must be positive. Got 0 instead."),
        ((3, 3), "cosine", InputError, "one of 'euclidean', 'sqeuclidean', 'cityblock'. Got 'cos"),
        ((10**6, 10**6), "euclidean", InputError, "A grid of 1000000 x 1000000 needs histograms"),
    ],
)
def test_bad_grids(shape, metric, error, message):
    with pytest.raises(error) as caught:
        Ground.grid(*shape, metric=metric)
    assert message in str(caught.value)


def test_points_on_a_line_in_the_plane_and_in_two_sets():
    line = Ground.points([3, 0, 1])
    np.testing.assert_array_equal(line.matrix, [[0, 3, 2], [3, 0, 1], [2, 1, 0]])
    plane = Ground.points([[0, 0], [3, 4]], metric="cityblock")
    np.testing.assert_array_equal(plane.matrix, [[0, 7], [7, 0]])
    two = Ground.points([0.0, 1.0], [5.0, 6.0, 7.0])
    np.testing.assert_array_equal(two.matrix, [[5, 6, 7], [4, 5, 6]])
    own = Ground.points([0.0, 2.0], metric=lambda a, b: max(a[0] - b[0], 0.0))
    np.testing.assert_array_equal(own.matrix, [[0, 0], [2, 0]])  # asymmetric, and kept so


@pytest.mark.parametrize("metric", ["jensenshannon", "cosine", "correlation", "mahalanobis"])
def test_named_metrics_are_exactly_symmetric_despite_rounding(metric):
    ground = Ground.points(np.random.default_rng(1).random((40, 7)), metric=metric)
    np.testing.assert_array_equal(ground.matrix, ground.matrix.T)


@pytest.mark.parametrize(
    ("points", "others", "metric", "error", "message"),
    [
        (
            [[0.0, np.nan]],
            None,
            "euclidean",
            InputError,
            "Coordinate 1 of point 0 of 'points' is n",
        ),
        (
            [0.0, np.inf],
            None,
            "euclidean",
            InputError,
            "Coordinate 0 of point 1 of 'points' is inf",
        ),
        ([0.0], [np.nan], "euclidean", InputError, "of 'others' is nan, but points must be finite"),
        (np.ones((2, 2, 2)), None, "euclidean", InputError, "Got shape (2, 2, 2) instead."),
        ([], None, "euclidean", InputError, "Got shape (0,) instead."),
        ([[1, 2]], [1.0], "euclidean", InputError, "'points' are of dimension 2, but 'others' of"),
        ([1.0, 2.0], None, "nonsense", InputError, "cdist cannot use metric='nonsense'"),
        (
            [[0, 0], [1, 1]],
            None,
            "cosine",
            InputError,
            "of the ground matrix is nan; costs must be",
        ),
        (["a", "b"], None, "euclidean", InputTypeError, "'points' must hold real numbers."),
        (sparse.eye_array(3), None, "euclidean", InputTypeError, "'points' must be dense"),
    ],
)
def test_bad_points(points, others, metric, error, message):
    with pytest.raises(error) as caught:
        Ground.points(points, others, metric=metric)
    assert message in str(caught.value)


PATHS = [[0, 1, 3, 2], [1, 0, 2, 3], [3, 2, 0, 5], [2, 3, 5, 0]]


@pytest.mark.parametrize(
    "adjacency",
    [
        [[0, 1, 9, 2], [0, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]],  # one triangle is enough
        [[0, 1, np.inf, 2], [5, 0, 2, np.inf], [0, 0, 0, 0], [0, 0, 0, 0]],  # the shorter counts
        sparse.csr_matrix([[0, 1, 0, 2], [1, 0, 2, 0], [0, 2, 0, 0], [2, 0, 0, 0]]),
        sparse.lil_array([[0, 1, 0, 2], [0, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.uint8),
    ],
    ids=["triangle", "inf", "csr", "lil-uint8"],
)
def test_graphs_are_undirected_shortest_paths(adjacency):
    np.testing.assert_array_equal(Ground.graph(adjacency).matrix, PATHS)


def test_a_stored_zero_is_an_edge_of_length_zero():
    edges = sparse.coo_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    np.testing.assert_array_equal(Ground.graph(edges).matrix, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_graph_distances_are_exactly_symmetric():
    rng = np.random.default_rng(2)
    weights = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.1), 1)
    weights[np.arange(59), np.arange(1, 60)] = 0.1 + rng.random(59)
    matrix = Ground.graph(weights).matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (matrix <= matrix[:, :1] + matrix[:1, :] + 1e-12).all()


@pytest.mark.parametrize(
    ("adjacency", "error", "message"),
    [
        (
            np.kron(np.diag([1, 1, 0]), np.ones((2, 2)))[:5, :5],
            InputError,
            "it has 3 components, of 2 nodes (such as 0), 2 nodes (such as 2), 1 node (such as 4).",
        ),
        ([[0, np.inf], [np.inf, 0]], InputError, "The graph is not connected: it has 2 components"),
        (np.zeros((9, 9)), InputError, "9 components, of 1 node (such as 0), 1 node (such as 1)"),
        (np.ones((2, 3)), InputError, "must be square and not empty. Got shape (2, 3) instead."),
        (np.ones((0, 0)), InputError, "must be square and not empty. Got shape (0, 0) instead."),
        ([[0, -1.0], [1, 0]], InputError, "Weight (0, 1) of the adjacency matrix is -1.0"),
        (sparse.csr_array([[0, 1], [np.nan, 0]]), InputError, "Weight (1, 0) of the adjacency"),
        (
            sparse.csr_array([[0, 1j], [1, 0]]),
            InputTypeError,
            "The adjacency matrix must hold real",
        ),
        ("graph", InputTypeError, "The adjacency matrix must be an array of real numbers."),
    ],
)
def test_bad_graphs(adjacency, error, message):
    with pytest.raises(error) as caught:
        Ground.graph(adjacency)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("ground", "line"),
    [
        (Ground.grid(20, 20), "Ground(400 x 400, euclidean grid 20 x 20, median 10.2)"),
        (Ground.grid(4).scaled("max"), "Ground(4 x 4, euclidean grid 4 / max, median 0.3333)"),
        (Ground.points([0.0, 1.0], metric="cityblock"), "Ground(2 x 2, cityblock points, median"),
        (Ground([[1, 2, 3]]), "Ground(1 x 3, cost matrix, median 2)"),
    ],
)
def test_the_repr_is_one_line(ground, line):
    assert repr(ground).startswith(line)
    assert "\n" not in repr(ground)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_copies_keep_the_costs_and_drop_the_operators(copied):
    ground = Ground.grid(3, 3)
    operator = ground.gibbs(2.0, np.float64)
    operator.kernel  # noqa: B018
    twin = copied(ground)
    np.testing.assert_array_equal(twin.matrix, ground.matrix)
    assert repr(twin) == repr(ground)
    assert not twin.matrix.flags.writeable
    assert twin.gibbs(2.0, np.float64) is not operator


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-15), ("float32", 6e-8)])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 9.0])
def test_kernels_are_exact_to_the_rounding_of_their_dtype(dtype, rtol, lam):
    ground = Ground(np.random.default_rng(3).random((300, 500)) * 8)
    operator = ground.gibbs(lam, dtype)
    kernel = np.exp(-lam * ground.matrix)
    assert operator.fits
    for array, expected in [
        (operator.kernel, kernel),
        (operator.kernel_cost, kernel * (lam * ground.matrix)),
    ]:
        np.testing.assert_allclose(array, expected, rtol=rtol)
        assert array.dtype == dtype
        assert array.flags.c_contiguous


@pytest.mark.parametrize(("dtype", "edge"), [("float64", 600.0), ("float32", 80.0)])
def test_an_operator_says_whether_scaling_can_represent_it(dtype, edge):
    ground = Ground([[0.0, 1.0, 1.18, 5.0]])
    assert ground.gibbs(edge / 5.0, dtype).fits
    assert (ground.gibbs(edge / 5.0, dtype).kernel >= np.finfo(dtype).tiny).all()
    assert not ground.gibbs(edge / 4.999, dtype).fits


def test_operators_are_shared_and_the_oldest_is_forgotten():
    ground = Ground(SQUARE)
    first = ground.gibbs(1.0, np.float64)
    assert ground.gibbs(1, "float64") is first
    assert ground.gibbs(1.0, np.float32) is not first
    for lam in (2.0, 3.0):
        ground.gibbs(lam, np.float64)
    assert ground.gibbs(1.0, np.float64) is first  # asked for again, so now the youngest
    for lam in (4.0, 5.0, 6.0):
        ground.gibbs(lam, np.float64)
    assert ground.gibbs(1.0, np.float64) is first
    for lam in (7.0, 8.0, 9.0, 10.0):
        ground.gibbs(lam, np.float64)
    assert ground.gibbs(1.0, np.float64) is not first


def test_threads_that_ask_at_once_get_one_operator_and_one_kernel():
    ground = Ground(np.random.default_rng(4).random((400, 400)))
    start, seen = threading.Barrier(8), []

    def ask():
        start.wait()
        for lam in (1.0, 2.0, 3.0):
            operator = ground.gibbs(lam, np.float64)
            seen.append((lam, id(operator), id(operator.kernel), id(operator.kernel_cost)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 24
    assert len(set(seen)) == 3


def test_a_thread_that_comes_second_gets_the_kernel_of_the_first():
    operator = Ground(SQUARE).gibbs(1.0, np.float64)
    first = operator.kernel
    # Since Python 3.12 a cached_property may be entered twice; ours must not build twice.
    assert type(operator).kernel.func(operator) is first


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.floats(0, 1e6, allow_subnormal=False),
    ),
    st.floats(1e-6, 1e2),
)
def test_kernel_depends_on_the_product_of_lam_and_cost_only(matrix, lam):
    kernel = Ground(matrix).gibbs(lam, np.float64).kernel
    doubled = Ground(2.0 * matrix).gibbs(lam / 2.0, np.float64).kernel
    np.testing.assert_array_equal(kernel, doubled)
