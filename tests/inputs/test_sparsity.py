"""Sparse structures that can be trusted pass in every format; each damage has its sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sinkdist.errors import InputError
from sinkdist.inputs.sparsity import check_structure

FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


@given(st.integers(0, 10**6), st.sampled_from(FORMATS))
def test_what_scipy_makes_passes(seed, kind):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array(tuple(rng.integers(1, 8, 2)), density=0.4, rng=rng, format="coo")
    check_structure(matrix.asformat(kind), "'X'")


def csr(**parts):
    """Two rows and three columns, with one part replaced by another."""
    matrix = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    for name, value in parts.items():
        setattr(matrix, name, np.array(value))
    return matrix


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"indices": [0, 9, 1]}, "Row 0 of 'X' has an entry in column 9, but there are 3 columns"),
        ({"indices": [0, 2, -1]}, "Row 1 of 'X' has an entry in column -1"),
        ({"indptr": [0, 2]}, "The indptr of 'X' has 2 entries, but 2 rows need 3"),
        ({"indptr": [1, 2, 3]}, "The indptr of 'X' begins with 1"),
        ({"indptr": [0, 3, 2]}, "The indptr of 'X' runs backwards at row 1, from 3 to 2"),
        ({"indptr": [0, 2, 8]}, "ends row 1 at entry 8, but there are only 3 entries"),
        ({"data": [1.0, 2.0]}, "Stored in 'X' are 2 entries, but 3 indices"),
        ({"data": [[1.0, 2.0, 3.0]]}, "The data of 'X' must be 1-dimensional. Got shape"),
        ({"indices": [0.0, 2.0, 1.0]}, "The indices of 'X' must be integers. Got dtype float64"),
        ({"indptr": [[0, 2, 3]]}, "The indptr of 'X' must be 1-dimensional"),
    ],
)
def test_damaged_rows(parts, sentence):
    with pytest.raises(InputError) as caught:
        check_structure(csr(**parts), "'X'")
    assert sentence in str(caught.value)


def test_other_formats_name_what_is_theirs():
    csc = sparse.csc_array(np.eye(3))
    csc.indices = np.array([0, 7, 2])
    coo = sparse.coo_array(np.eye(3))
    coo.coords = (np.array([0, 1, 5]), np.array([0, 1, 2]))
    lil = sparse.lil_array(np.eye(3))
    lil.rows[1] = [8]
    lonely = sparse.lil_array(np.eye(3))
    lonely.rows[1] = []
    short, shorter = sparse.lil_array(np.eye(3)), sparse.lil_array(np.eye(3))
    short.data, shorter.rows = short.data[:2], shorter.rows[:2]
    bsr = sparse.bsr_array(np.eye(4), blocksize=(2, 2))
    bsr.indices = np.array([0, 2])
    dia = sparse.dia_array(np.eye(3))
    dia.offsets = np.array([0, 1])
    for matrix, sentence in (
        (csc, "Column 1 of 'X' has an entry in row 7, but there are 3 rows"),
        (coo, "Column 2 of 'X' has an entry in row 5"),
        (lil, "Row 1 of 'X' has an entry in column 8"),
        (lonely, "Row 1 of 'X' has 1 entries, but 0 indices"),
        (short, "lists for 3 rows of indices and 2 rows of entries"),
        (shorter, "lists for 2 rows of indices and 3 rows of entries"),
        (bsr, "Block row 1 of 'X' has an entry in block column 2, but there are 2 block columns"),
        (dia, "2 diagonals of 'X' have an offset, but its data is of shape (1, 3)"),
    ):
        with pytest.raises(InputError) as caught:
            check_structure(matrix, "'X'")
        assert sentence in str(caught.value)


def test_unsorted_and_doubled_entries_are_no_mistake():
    check_structure(csr(indices=[2, 0, 1]), "'X'")
    check_structure(csr(indices=[2, 2, 1]), "'X'")
