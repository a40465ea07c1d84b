import base64

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.explore import packing


def unpacked(part):
    return np.frombuffer(base64.b64decode(part["data"]), f"<{part['type']}")


def test_numbers_come_back():
    assert unpacked(packing.floats([[0.5, 1.5]])).tolist() == [0.5, 1.5]
    for largest in (65_535, 65_536):
        assert unpacked(packing.integers([0, largest])).tolist() == [0, largest]


def test_rows_come_back():
    rows = csr_array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]])
    part = packing.packed_rows(rows)
    found = csr_array(tuple(unpacked(part[name]) for name in ("mass", "bins", "start")))
    assert found.toarray().tolist() == rows.toarray().tolist()


def test_a_page_too_large_is_refused():
    packing.check_size(packing.LARGEST, 3)
    with pytest.raises(sd.InputError, match=r"would take 10\.5 MB, more than 10 MB"):
        packing.check_size(10_500_000, 3)
