"""The package's exceptions are the built-in ones that callers already catch."""

import pickle

import pytest

from sinkdist import errors


@pytest.mark.parametrize(
    ("own", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.InputTypeError, TypeError),
        (errors.MissingExtraError, ImportError),
        (errors.ConvergenceWarning, UserWarning),
    ],
)
def test_each_is_caught_as_its_builtin(own, builtin):
    assert issubclass(own, builtin)


def test_a_missing_extra_names_the_command_even_after_pickling():
    error = errors.MissingExtraError("matplotlib", "plot")
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert 'pip install "sinkdist[plot]"' in str(one)
        assert one.name == "matplotlib"
