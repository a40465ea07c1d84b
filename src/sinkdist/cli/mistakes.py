"""From errors and warnings to one sentence on stderr and an exit code.

The package's messages speak of Python arguments; here they are put in the words of the command
line: ``normalize=True`` becomes ``--normalize``, ``'X'`` the name of the file that was read.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, TextIO

import typer

from sinkdist.errors import (
    ClusterWarning,
    ConvergenceWarning,
    InputError,
    InputTypeError,
    MissingExtraError,
    StoreError,
)

__all__ = ["quiet", "rename_arguments", "report_errors", "stoppable", "to_cli_wording"]

_NOBODY_READS = 141  # what a shell says of a program that the signal for it has ended

_OPTIONS = (
    "alpha", "coincidence", "dtype", "iterations", "lam", "max_iter", "memory", "normalize",
    "on_empty", "out", "overwrite", "reg", "solver", "tol", "workers",
)  # fmt: skip
_NAMES = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"(?<![\w-])({_NAMES})=('[^']*'|[\w.+-]*\w)")
_QUOTED = re.compile(rf"(?<!\w)'({_NAMES})'(?: option)?(?!\w)")
_BARE = re.compile(r"(?<![\w'-])(max_iter|on_empty|tol)(?![\w'=])")  # never words of English
_TRANSPOSED = re.compile(r"pass \w+\.(?:T|ravel\(\)) if it is transposed")
_REST = (
    ("the emd_bounds of solve hold anyway", "bounds hold anyway, see 'sinkdist distance --all'"),
    ("Use pairwise for", "Use 'sinkdist pairwise' for"),
    ("the same call", "the same command"),
    ("the call that began it", "the command that began it"),
    ("The --", "--"),
)


def to_cli_wording(sentence: str) -> str:
    """A message of the package in the words of the command line.

    Examples
    --------
    >>> to_cli_wording("Pass on_empty='nan'. The 'tol' option must be positive.")
    'Pass --on-empty nan. --tol must be positive.'
    """
    sentence = _TRANSPOSED.sub("transpose it if that is not meant", sentence)
    sentence = _GIVEN.sub(_option, sentence)
    sentence = _QUOTED.sub(_option, sentence)
    sentence = _BARE.sub(_option, sentence)
    for words, others in _REST:
        sentence = sentence.replace(words, others)
    return " ".join(sentence.split())


def _option(match: re.Match[str]) -> str:
    """An argument as the option of the same name, with its value if it has one."""
    value = match[2].strip("'") if len(match.groups()) == 2 else "True"
    return f"--{match[1].replace('_', '-')}" + ("" if value == "True" else f" {value}")


@contextmanager
def rename_arguments(**files: str | None) -> Iterator[None]:
    """Let errors about arguments name the files that they came from."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        sentence = str(error)
        for argument, file in files.items():
            sentence = sentence.replace(f"'{argument}'", f"'{file}'")
        raise InputError(sentence) from error


@contextmanager
def stoppable(consequence: str = "") -> Iterator[None]:
    """Answer Ctrl-C with a sentence and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"Stopped. {consequence}".strip(), err=True)
        raise typer.Exit(130) from None


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn what goes wrong into a sentence and exit code 2, and warnings into a line each."""
    with warnings.catch_warnings():
        for own in (ClusterWarning, ConvergenceWarning):
            warnings.simplefilter("always", own)
        show = warnings.showwarning

        def line(message: Warning | str, category: type[Warning], *place: object) -> None:
            """One line for our own warnings; Python's way for all others."""
            if issubclass(category, (ClusterWarning, ConvergenceWarning)):
                typer.echo(f"Warning: {to_cli_wording(str(message))}", err=True)
            else:
                show(message, category, *place)  # type: ignore[arg-type]

        warnings.showwarning = line  # type: ignore[assignment]
        try:
            yield
        except (InputError, InputTypeError, MissingExtraError, StoreError) as error:
            _fail(to_cli_wording(str(error)))
        except MemoryError as error:
            _fail(f"There is not enough memory: {str(error).rstrip('.') or 'it is used up'}.")
        except OSError as error:
            place = f"'{error.filename}': " if error.filename else ""
            _fail(f"{place}{error.strerror or error}.")


@contextmanager
def quiet() -> Iterator[None]:
    """End without a word when nobody reads any more, as in ``sinkdist distance ... | head -1``."""
    try:
        yield
    except (BrokenPipeError, SystemExit) as error:
        if getattr(error, "code", 1) != 1 or not _is_closed_pipe(error):
            raise
        for stream in (sys.stdout, sys.stderr):
            _drain(stream)
        sys.exit(_NOBODY_READS)


def _is_closed_pipe(error: BaseException | None) -> bool:
    """Whether this, or what it was raised for, says so; Typer and Rich make an exit of it."""
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__context__
    return error is not None


def _drain(stream: TextIO) -> None:
    """Send what is left to nowhere: Python would complain about it at the very end."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):  # a stream without a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(sentence: str) -> NoReturn:
    """Say it and stop."""
    typer.echo(f"Error: {sentence}", err=True)
    sys.exit(2)
