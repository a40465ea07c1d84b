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
    error = errors.MissingExtraError("matplotlib", "plot", "A picture")
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one) == (
            'A picture needs matplotlib: run pip install "sinkdist[plot]" '
            '(in a clone: pip install ".[plot]").'
        )
        assert one.name == "matplotlib"


def test_a_missing_extra_names_the_package_as_pip_does():
    sentence = "^It needs scikit-learn: run pip install"
    with (
        pytest.raises(errors.MissingExtraError, match=sentence),
        errors.needs_extra("learn", "It"),
    ):
        raise ModuleNotFoundError(name="sklearn.svm")


def test_a_broken_package_is_not_taken_for_a_missing_one():
    with pytest.raises(ImportError, match="libfoo") as caught, errors.needs_extra("learn", "It"):
        raise ImportError("libfoo.so: cannot open shared object file")
    assert not isinstance(caught.value, errors.MissingExtraError)
