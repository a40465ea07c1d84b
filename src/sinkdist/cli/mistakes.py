"""From errors and warnings to one sentence on stderr and an exit code.

The package's messages mention Python arguments and options as fields (`wording`); here these are
put in the words of the command line: ``normalize=True`` becomes ``--normalize``, ``'X'`` the name
of the file that was read.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from typing import NoReturn, TextIO

import typer

from sinkdist.errors import (
    ClusterWarning,
    ConvergenceWarning,
    InputError,
    InputTypeError,
    MissingExtraError,
    ScaleWarning,
    StoreError,
)
from sinkdist.problem.options import Options
from sinkdist.wording import Mention, Worded

__all__ = ["quiet", "rename_arguments", "report_errors", "stoppable", "to_cli_wording"]

_FLAGS = {x.name: x.metadata["flag"] for x in fields(Options)}
_OWN = (ClusterWarning, ConvergenceWarning, ScaleWarning)  # warnings that are one line each
_NOBODY_READS = 141  # what a shell says of a program that the signal for it has ended


def to_cli_wording(mention: Mention) -> str:
    """What a message mentions, in the words of the command line.

    Examples
    --------
    >>> from sinkdist.wording import option, setting
    >>> to_cli_wording(option("max_iter")), to_cli_wording(setting("on_empty", "nan"))
    ('--max-iter', '--on-empty nan')
    """
    if mention.kind == "either":
        return str(mention.value)
    if mention.kind == "argument":
        return f"'{mention.name}'"
    flag = _FLAGS.get(mention.name) or f"--{mention.name.replace('_', '-')}"
    return flag if mention.value in (None, True) else f"{flag} {mention.value}"


@contextmanager
def rename_arguments(**files: str | None) -> Iterator[None]:
    """Let errors about arguments name the files that they came from."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        parts = [
            replace(part, name=files.get(part.name) or part.name)
            if isinstance(part, Mention) and part.kind == "argument"
            else part
            for part in error.parts
        ]
        raise type(error)(error.template, *parts) from error


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
        for own in _OWN:
            warnings.simplefilter("always", own)
        show = warnings.showwarning

        def line(message: Warning | str, category: type[Warning], *place: object) -> None:
            """One line for our own warnings; Python's way for all others."""
            if issubclass(category, _OWN):
                typer.echo(f"Warning: {_sentence(message)}", err=True)
            else:
                show(message, category, *place)  # type: ignore[arg-type]

        warnings.showwarning = line  # type: ignore[assignment]
        try:
            yield
        except (InputError, InputTypeError, MissingExtraError, StoreError) as error:
            _fail(_sentence(error))
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


def _sentence(message: object) -> str:
    """A message in the words of the command line, on one line."""
    text = message.worded(to_cli_wording) if isinstance(message, Worded) else str(message)
    return " ".join(text.split())


def _fail(sentence: str) -> NoReturn:
    """Say it and stop."""
    typer.echo(f"Error: {sentence}", err=True)
    sys.exit(2)
