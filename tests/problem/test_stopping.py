"""When to stop: defaults, what excludes what, and each refusal in its sentence."""

import numpy as np
import pytest

from sinkdist.errors import InputError, InputTypeError
from sinkdist.problem.stopping import Stopping, read

DOUBLE = np.dtype(float)


def asked(dtype=DOUBLE, **options):
    given = {"tol": None, "max_iter": None, "iterations": None, "solver": "auto"}
    return read(dtype, **{**given, **options})


def test_defaults_depend_on_the_precision():
    assert asked() == Stopping(1e-6, 10_000, None)
    assert asked(np.dtype(np.float32)) == Stopping(1e-4, 10_000, None)


def test_what_is_given_is_taken():
    assert asked(tol=1e-3, max_iter=np.int32(5)) == Stopping(1e-3, 5, None)
    assert asked(iterations=7).iterations == 7
    assert type(asked(iterations=np.int64(7)).iterations) is int


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tol": 1e-3}, "leave out 'tol'."), ({"max_iter": 3}, "leave out 'max_iter'."),
        ({"tol": 1e-3, "max_iter": 3}, "leave out 'tol' and 'max_iter'."),
        ({"solver": "newton"}, "leave out solver='newton'."),
    ],
)  # fmt: skip
def test_a_fixed_number_of_steps_excludes_the_others(options, sentence):
    with pytest.raises(InputError) as caught:
        asked(iterations=5, **options)
    assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize("name", ["max_iter", "iterations"])
def test_whole_numbers(name):
    for value in (1.0, True, "3", np.float64(2)):
        with pytest.raises(InputTypeError, match=f"The '{name}' option must be a whole number"):
            asked(**{name: value})
    for value in (0, -1):
        with pytest.raises(
            InputError, match=f"The '{name}' option must be at least 1. Got {value}"
        ):
            asked(**{name: value})


def test_tolerances():
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="The 'tol' option must be positive and finite"):
            asked(tol=value)
    for value in ("1e-3", True, 1j):
        with pytest.raises(InputTypeError, match="The 'tol' option must be a number"):
            asked(tol=value)
