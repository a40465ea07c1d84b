"""Messages carry what they are about as fields, and read well to each kind of caller."""

import pickle

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.cli.mistakes import rename_arguments, to_cli_wording
from sinkdist.errors import ConvergenceWarning, InputError, InputTypeError, StoreError
from sinkdist.wording import Mention, argument, either, option, setting

M = np.ones((2, 2)) - np.eye(2)


@pytest.mark.parametrize("kind", [InputError, InputTypeError, StoreError, ConvergenceWarning])
def test_fields_survive_pickling(kind):
    error = kind("{} is {:.2f}: pass {}.", argument("X"), 1.5, setting("normalize", True))
    other = pickle.loads(pickle.dumps(error))
    assert str(other) == str(error) == "'X' is 1.50: pass normalize=True."
    assert other.argument == "X" and other.hint == ("normalize", True)
    assert other.option == "normalize"


def test_braces_in_a_plain_message_are_text():
    assert str(InputError("a {b} c")) == "a {b} c"


def test_words_of_the_command_line():
    words = [option("max_iter"), setting("overwrite", True), setting("on_empty", "nan"),
             argument("X"), either("call", "command"), option("client")]  # fmt: skip
    assert [to_cli_wording(word) for word in words] == [
        "--max-iter", "--overwrite", "--on-empty nan", "'X'", "command", "--scheduler"
    ]  # fmt: skip


def test_arguments_become_files():
    with (
        pytest.raises(InputError, match=r"'a\.npy' has no mass") as caught,
        rename_arguments(r="a.npy"),
    ):
        raise InputError("{} has no mass.", argument("r"))
    assert caught.value.argument == "a.npy"


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda: sd.solve([2, 2], [0.5, 0.5], M, lam=1), ("normalize", "r", ("normalize", True))),
        (lambda: sd.solve([0, 0], [0.5, 0.5], M, lam=1), ("on_empty", "r", ("on_empty", "nan"))),
        (lambda: sd.solve([1, 0], [0.5, 0.5], M, lam=1, tol=0), ("tol", None, None)),
        (lambda: sd.solve([1, 0], [0.5, 0.5], M, lam=-1), ("lam", None, None)),
        (lambda: sd.solve([1, 0], [0.5, 0.5], M, lam=1, solver="?"), ("solver", None, None)),
        (lambda: sd.solve([1, 0, 0], [0.5, 0.5], M, lam=1), (None, "r", None)),
        (lambda: sd.pairwise([[1, 0]], ground=M, lam=1, workers=0), ("workers", None, None)),
        (lambda: sd.solve([1, 0], [-1, 2], M, lam=1), (None, "c", None)),
    ],
)
def test_errors_say_what_they_are_about(call, fields):
    with pytest.raises(InputError) as caught:
        call()
    assert (caught.value.option, caught.value.argument, caught.value.hint) == fields


def test_a_warning_says_which_options_help():
    rng = np.random.default_rng(0)
    r, c = rng.dirichlet(np.ones(9), 2)
    with pytest.warns(ConvergenceWarning) as caught:
        sd.distance(r, c, sd.Ground.grid(9), lam=30, max_iter=1)
    message = caught[0].message
    assert isinstance(message, ConvergenceWarning) and message.option == "tol"
    assert {m.name for m in message.mentions if m.kind == "setting"} == {"tol", "max_iter"}
    assert all(isinstance(m, Mention) for m in message.mentions)
