"""Options that are True or False, and nothing that is merely true or false."""

import numpy as np
import pytest

from sinkdist.errors import InputTypeError
from sinkdist.inputs.flags import flag, listener


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_flags(value):
    assert flag("normalize", value) is bool(value)
    assert listener(value) is bool(value)


@pytest.mark.parametrize("value", ["no", "", 1, 0, 1.0, None, [], np.array([True])])
def test_what_is_no_flag(value):
    with pytest.raises(InputTypeError, match="The 'normalize' option must be True or False"):
        flag("normalize", value)
    with pytest.raises(InputTypeError, match="The 'progress' option must be True, False or a func"):
        listener(value)


def test_progress_may_be_a_function_but_a_flag_may_not():
    assert listener(print) is print
    with pytest.raises(InputTypeError):
        flag("normalize", print)
