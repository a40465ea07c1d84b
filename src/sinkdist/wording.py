"""Messages that name options and arguments as fields, so that each caller reads its own words.

A message is a template with parts: ``InputError("The {} option must be positive.", option("tol"))``
reads "The 'tol' option must be positive." in Python and "The --tol option ..." on the command line.
No code has to read a sentence to know what it is about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Mention", "Worded", "argument", "either", "option", "setting"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a message that is written differently for different callers.

    Attributes
    ----------
    kind : {"option", "setting", "argument", "either"}
        An option by name; an option with a value; an argument with data; two wordings.
    name : str
        Of the option or argument; the words for Python callers.
    value : object
        That of a setting; the words for the command line.
    """

    kind: Literal["option", "setting", "argument", "either"]
    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.kind == "setting":
            return f"{self.name}={self.value!r}"
        return self.name if self.kind == "either" else f"'{self.name}'"


def option(name: str) -> Mention:
    """An option, such as ``'tol'``."""
    return Mention("option", name)


def setting(name: str, value: Any) -> Mention:
    """An option with a value, such as ``normalize=True``."""
    return Mention("setting", name, value)


def argument(name: str) -> Mention:
    """An argument that holds data, such as ``'X'``."""
    return Mention("argument", name)


def either(python: str, command: str) -> Mention:
    """Words for Python callers, and words for the command line."""
    return Mention("either", python, command)


class Worded(Exception):
    """An exception or warning with a template and its parts; a plain message has no parts.

    Examples
    --------
    >>> error = Worded("Pass {} to divide {}.", setting("normalize", True), argument("r"))
    >>> print(error)
    Pass normalize=True to divide 'r'.
    >>> error.option, error.argument, error.hint
    ('normalize', 'r', ('normalize', True))
    """

    def __init__(self, template: str, *parts: Any) -> None:
        self.template, self.parts = template, parts
        super().__init__(self.worded(str))

    def worded(self, word: Callable[[Mention], str]) -> str:
        """The message, with what it mentions in the words of ``word``."""
        if not self.parts:
            return self.template
        return self.template.format(
            *(word(part) if isinstance(part, Mention) else part for part in self.parts)
        )

    def __reduce__(self) -> Any:
        return type(self), (self.template, *self.parts)

    @property
    def mentions(self) -> list[Mention]:
        """What the message is about."""
        return [part for part in self.parts if isinstance(part, Mention)]

    @property
    def option(self) -> str | None:
        """The first option that the message names."""
        return self._first("option", "setting")

    @property
    def argument(self) -> str | None:
        """The first argument that the message names."""
        return self._first("argument")

    @property
    def hint(self) -> tuple[str, Any] | None:
        """An option and the value that would help, where the message advises one."""
        return next(((m.name, m.value) for m in self.mentions if m.kind == "setting"), None)

    def _first(self, *kinds: str) -> str | None:
        return next((m.name for m in self.mentions if m.kind in kinds), None)
