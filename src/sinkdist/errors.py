"""Exceptions and warnings: the bottom layer, so every module can raise them and none is imported.

Each inherits from the built-in class that a caller would catch anyway.
"""

from sinkdist.wording import Worded

__all__ = [
    "ClusterWarning",
    "ConvergenceWarning",
    "IncompleteError",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "NegativeMassError",
    "StoreError",
]


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

    Examples
    --------
    >>> print(MissingExtraError("matplotlib", "plot"))
    matplotlib is not installed: run pip install "sinkdist[plot]".
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f'{package} is not installed: run pip install "sinkdist[{extra}]".', name=package
        )
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str]]:
        # Exceptions are rebuilt from ``args``, the finished sentence; ours is built from two words.
        return type(self), (self.package, self.extra)


class ConvergenceWarning(Worded, UserWarning):
    """Some pairs stopped before reaching the tolerance; their numbers are estimates."""


class ClusterWarning(Worded, UserWarning):
    """A cluster computes nothing at the moment, or a tile is tried again; the call goes on."""


class StoreError(Worded, OSError):
    """A matrix could not be written, read or brought home: the disk is full, a chunk is damaged, a
    cluster is gone.
    """


class IncompleteError(StoreError):
    """Entries of a stored matrix were asked for that have not been computed yet."""
