"""What a figure is: cells to measure one by one, a drawing of them, and claims judged by them.

Measuring and drawing know nothing of each other but the records between them, which are rows of a
CSV file: a figure can be drawn again, or judged again, from the file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Cell", "Claim", "Experiment", "Record", "Records", "Setting", "View"]

Scalar: TypeAlias = str | int | float
Record: TypeAlias = dict[str, Scalar]
Records: TypeAlias = Sequence[Record]


def _say_nothing(text: str) -> None:
    """Keep a line of text to ourselves."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a reader asked for.

    Attributes
    ----------
    data : {"digits", "mnist"}
        The images.
    sizes : tuple of int
        How many of them; the values of N along figure 2.
    quick : bool
        Whether a smaller version of everything is enough.
    distances : Path
        The folder where distance matrices are stored, and found again.
    seed : int
        Where all random choices start.
    workers : int, optional
        Threads.
    tell : function
        Called now and then with a line of text on how far a long cell has come.
    """

    data: str
    sizes: tuple[int, ...]
    quick: bool
    distances: Path
    seed: int = 0
    workers: int | None = None
    tell: Callable[[str], None] = _say_nothing


@dataclass(frozen=True, slots=True)
class Cell:
    """The smallest piece of work that is kept once it is done.

    Attributes
    ----------
    key : mapping
        The columns that name the cell; they stand in each of its records.
    measure : function
        Called without arguments; gives the cell's records, without the columns of the key. There
        may be none of them, where there is nothing to measure.
    """

    key: Mapping[str, Scalar]
    measure: Callable[[], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that the paper says, beside what was measured.

    Attributes
    ----------
    paper : str
        The claim, in one sentence.
    measured : str
        What was measured here, with the figures, in a sentence or two.
    holds : bool or None
        Whether the measurement bears the claim out; None where it cannot tell.
    """

    paper: str
    measured: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class View:
    """A table for readers: a caption, the head, and rows of finished text."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure of the paper, from its measurements to its claims.

    Attributes
    ----------
    name : str
        "fig1" to "fig5".
    title : str
        A few words for headings and for `sinkdist reproduce list`.
    about : str
        What is measured and how, and what was chosen where the paper leaves it open; paragraphs
        are separated by empty lines.
    keys : tuple of str
        The columns that name a cell.
    inches : tuple of float
        Width and height of the drawing.
    cells : function
        From a `Setting` to the cells to measure.
    draw : function
        From the records and an empty `matplotlib.figure.Figure` to nothing: it draws into it. It
        needs no import of Matplotlib, and the modules of figures have none.
    claims : function
        From the records to the claims that they judge.
    views : function
        From the records to tables.
    """

    name: str
    title: str
    about: str
    keys: tuple[str, ...]
    inches: tuple[float, float]
    cells: Callable[[Setting], Sequence[Cell]]
    draw: Callable[[Records, Any], None]
    claims: Callable[[Records], Sequence[Claim]]
    views: Callable[[Records], Sequence[View]]
