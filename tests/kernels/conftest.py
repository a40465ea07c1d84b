"""The array libraries that twins are called with."""

import array_api_strict
import numpy as np
import pytest


@pytest.fixture(params=[np, array_api_strict], ids=["numpy", "strict"])
def xp(request):
    """A library of the array API standard for the twin."""
    return request.param
