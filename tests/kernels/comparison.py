"""Calls a readable twin with the arguments of a compiled pass."""

import numpy as np

from tests import twins


def twin(xp, name, *arguments):
    """What the twin returns for NumPy arguments, as NumPy arrays; the arguments are not changed."""
    before = [np.copy(a) for a in arguments]
    returned = getattr(twins, name)(
        *(xp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments)
    )
    for old, new in zip(before, arguments, strict=True):
        np.testing.assert_array_equal(old, new)
    return tuple(map(np.asarray, returned)) if isinstance(returned, tuple) else np.asarray(returned)
