"""The memory option: sizes as people write them, and what a process may still take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.errors import InputError, InputTypeError
from sinkdist.scale import memory


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ("2GB", 2 * 10**9), ("2 gb", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("500MB", 5 * 10**8),
        ("12", 12), ("12b", 12), ("1k", 1000), ("1Ki", 1024), (".5TB", 5 * 10**11), ("1e3 B", 1000),
        (10**6, 10**6), (2.5e6, 2_500_000), (np.int64(7), 7), (10**400, 2**62),
    ],
)  # fmt: skip
def test_sizes(asked, size):
    assert memory.read(asked) == size


@pytest.mark.parametrize(
    "asked", ["", "GB", "2XB", "-2GB", "2GB4", "nan", "0GB", 0, -1, np.inf, np.nan]
)
def test_sizes_that_cannot_be(asked):
    with pytest.raises(InputError, match="The 'memory' option must be"):
        memory.read(asked)


@pytest.mark.parametrize("asked", [True, [], 1j])
def test_what_is_no_size(asked):
    with pytest.raises(InputTypeError, match="must be a size such as '2GB', or a number of bytes"):
        memory.read(asked)


@given(st.floats(1.0, 9.9), st.integers(0, 14))
def test_a_size_is_written_so_that_it_can_be_read(digits, zeros):
    size = digits * 10**zeros
    text = memory.text(size)
    assert memory.read(text.replace("bytes", "")) == pytest.approx(size, rel=6e-3, abs=0.5)


@pytest.mark.parametrize(("size", "text"), [(999_900, "1 MB"), (999_600_000, "1 GB")])
def test_a_size_just_below_a_unit(size, text):
    assert memory.text(size) == text


def test_what_is_held_grows_with_what_is_taken():
    before = memory.held()
    block = np.ones(2**22)  # 32 MiB, written to
    assert memory.held() - before > 2**24
    del block


def test_the_default_is_most_of_what_is_free():
    assert memory.held() < memory.read(None) < memory.held() + memory.available() + 2**30
