"""Work space: where it begins, and when it is the same memory again."""

import threading

import numpy as np
import pytest

from sinkdist.kernels.work_space import aligned, kept


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_memory_begins_at_a_cache_line_and_is_as_kernels_take_it(size, dtype):
    for _ in range(20):  # else it might be luck
        x = aligned(size, dtype)
        assert x.ctypes.data % 64 == 0
        assert x.shape == (size,) and x.dtype == dtype
        assert x.flags.c_contiguous and x.flags.writeable and x.flags.aligned
        x[:] = 1
        assert x.sum() == size


def test_small_work_space_is_kept_for_the_same_sizes():
    space = kept(lambda m, n: (aligned(m), aligned(n)))
    first = space(3, 4)
    assert [x.size for x in first] == [3, 4]
    assert space(3, 4) is first
    assert [x.size for x in space(5, 4)] == [5, 4]
    assert space(3, 4) is not first  # only the last one is kept


def test_large_work_space_is_not_kept():
    space = kept(lambda n: (aligned(n),))
    assert space(1 << 18) is not space(1 << 18)
    small = space(10)
    space(1 << 18)
    assert space(10) is not small  # nor what was there before it


def test_threads_share_no_work_space():
    space, seen = kept(lambda n: (aligned(n),)), []
    mine = space(8)
    thread = threading.Thread(target=lambda: seen.append(space(8)))
    thread.start()
    thread.join()
    assert seen[0] is not mine and not np.shares_memory(seen[0][0], mine[0])
    assert space(8) is mine
