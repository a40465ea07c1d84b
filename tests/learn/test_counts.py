"""Whole numbers: what is refused, and how it is said."""

import pytest

pytest.importorskip("sklearn")

from sinkdist.errors import InputError, InputTypeError
from sinkdist.learn.counts import check_clusters, whole


def test_refused():
    assert whole("n_init", 3) == check_clusters(3, 3) == 3
    with pytest.raises(InputTypeError, match=r"'n_init' option must be a whole number. Got 1.5"):
        whole("n_init", 1.5)
    with pytest.raises(InputTypeError, match=r"whole number. Got True"):
        whole("n_init", True)
    with pytest.raises(InputError, match=r"'n_clusters' option must be at most .* 3 here. Got 4"):
        check_clusters(4, 3)
