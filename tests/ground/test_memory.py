"""Sizes in words, and what does not fit is refused before it is allocated."""

import pytest

from sinkdist.errors import InputError
from sinkdist.ground.memory import require_memory, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "999 bytes"), (1500, "1.5 kB"), (8 * 4097**2, "134 MB"), (8 * 10**12, "8 TB")],
)
def test_sizes(size, text):
    assert size_text(size) == text


def test_what_no_machine_holds_is_refused():
    require_memory(10, 10, "A small matrix")
    with pytest.raises(InputError, match=r"A large one needs a cost matrix of .* GiB, but this"):
        require_memory(10**9, 10**9, "A large one")
