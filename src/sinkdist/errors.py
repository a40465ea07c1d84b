"""Exceptions and warnings: the bottom layer, so every module can raise them and none is imported.

Each inherits from the built-in class that a caller would catch anyway. Optional packages are
imported within `needs_extra`, so that a missing one is the same sentence everywhere.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sinkdist.wording import Worded

__all__ = [
    "ClusterWarning",
    "ConvergenceWarning",
    "IncompleteError",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "NegativeMassError",
    "ScaleWarning",
    "StoreError",
    "needs_extra",
    "warn_caller",
]

_INSIDE = ("sinkdist", "sklearn")  # packages that are not the caller
#: Packages whose name differs from that of the module they bring.
_PACKAGES = {"PIL": "pillow", "google_crc32c": "google-crc32c", "sklearn": "scikit-learn"}


class InputError(Worded, ValueError):
    """A value without meaning here; the message names it, its place and the repair.

    ``option``, ``argument`` and ``hint`` say what it is about.
    """


class NegativeMassError(InputError):
    """A histogram with a negative entry."""


class InputTypeError(Worded, TypeError):
    """A kind of object that is never read: complex numbers, strings, masked arrays, None."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message names the extra that brings it.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of sinkdist that installs it.
    purpose : str, optional
        What the package is needed for, as the subject of a sentence.

    Examples
    --------
    >>> error = MissingExtraError("typer", "cli", "The command line")
    >>> print(str(error).partition(" (")[0])  # the rest is the command for a clone
    The command line needs typer: run pip install "sinkdist[cli]"
    """

    def __init__(self, package: str, extra: str, purpose: str | None = None) -> None:
        missing = f"{package} is not installed" if purpose is None else f"{purpose} needs {package}"
        # Double quotes: every shell knows them, that of Windows too.
        command = f'pip install "sinkdist[{extra}]" (in a clone: pip install ".[{extra}]")'
        super().__init__(f"{missing}: run {command}.", name=package)
        self.package = package
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str | None]]:
        # Exceptions are rebuilt from ``args``, the finished sentence; ours is built from words.
        return type(self), (self.package, self.extra, self.purpose)


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Imports within are of optional packages: a missing one raises `MissingExtraError`.

    Parameters
    ----------
    extra : str
        The extra of sinkdist that installs them.
    purpose : str
        What they are needed for, as the subject of a sentence.
    """
    try:
        yield
    except ModuleNotFoundError as error:  # of any other ImportError, installing is no cure
        module = (error.name or extra).split(".")[0]
        raise MissingExtraError(_PACKAGES.get(module, module), extra, purpose) from error


class ConvergenceWarning(Worded, UserWarning):
    """Some pairs stopped before reaching the tolerance; their numbers are estimates."""


class ScaleWarning(Worded, UserWarning):
    """A strength or a ground that was probably not meant: costs are in a unit that lam ignores."""


class ClusterWarning(Worded, UserWarning):
    """A cluster computes nothing at the moment, or a tile is tried again; the call goes on."""


class StoreError(Worded, OSError):
    """A matrix could not be written, read or fetched: the disk is full, a chunk is damaged, a
    cluster is gone.
    """


class IncompleteError(StoreError):
    """Entries of a stored matrix were asked for that have not been computed yet."""


def warn_caller(message: Warning) -> None:
    """Warn at the line that called the package, however deep inside it this is.

    scikit-learn stands between its users and estimators.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
