import threading
import time

import numpy as np
import pytest

from sinkdist.kernels.waiting import wait_for_change


@pytest.mark.nojit
def test_what_has_changed_already_is_not_waited_for():
    flags = np.array([3, 0, 7])
    assert wait_for_change(flags, 2, 6, 1, 0) == 7
    assert wait_for_change(flags, 0, 3, 5, 0) == 3  # as it is, after some looks


def test_a_change_ends_the_wait():
    flags, found = np.zeros(16, np.int64), []
    wait_for_change(flags, 8, 1, 1, 0)  # compiles
    other = threading.Thread(target=lambda: found.append(wait_for_change(flags, 8, 0, 10**9, 10)))
    other.start()
    time.sleep(0.05)
    flags[8] = 5
    other.join(60.0)
    assert found == [5]
