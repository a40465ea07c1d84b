"""What a figure consists of: cells that are measured one by one, a drawing, and claims to judge.

Measuring and drawing share nothing but records, the rows of a CSV file: a figure can be drawn and
judged again from the file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sinkdist_paper.verdict import Verdict

__all__ = ["Cell", "Claim", "Experiment", "Record", "Records", "Setting", "View"]

Scalar: TypeAlias = str | int | float
Record: TypeAlias = dict[str, Scalar]
Records: TypeAlias = Sequence[Record]


def _say_nothing(text: str) -> None:
    """Ignore a line of text."""


def _never(records: Records) -> bool:
    """The default of `Experiment.is_enough`."""
    return False


@dataclass(frozen=True, slots=True)
class Setting:
    """The options of a run.

    Attributes
    ----------
    data : {"digits", "mnist"}
        The images.
    sizes : tuple of int
        How many of them; the values of N along figure 2.
    quick : bool
        Whether to run a smaller version of every experiment.
    distances : Path
        The folder of stored distance matrices.
    seed : int
        Seed of all random choices.
    workers : int, optional
        Threads.
    tell : function
        Called every few seconds with a line of text on the progress of a long cell.
    measured : function
        Returns the records of the figure's cells so far: some cells depend on the results of
        earlier ones.
    """

    data: str
    sizes: tuple[int, ...]
    quick: bool
    distances: Path
    seed: int = 0
    workers: int | None = None
    tell: Callable[[str], None] = _say_nothing
    measured: Callable[[], Records] = tuple


@dataclass(frozen=True, slots=True)
class Cell:
    """The smallest unit of work; its records are saved as soon as it is done.

    Attributes
    ----------
    key : mapping
        The columns that identify the cell; each of its records has them.
    measure : function
        Called without arguments; returns the records of the cell, without the columns of the key.
        There may be none.
    """

    key: Mapping[str, Scalar]
    measure: Callable[[], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper, with what was measured.

    Attributes
    ----------
    paper : str
        The claim, in one sentence.
    measured : str
        What was measured here, with the figures, in a sentence or two.
    verdict : Verdict
        Whether the measurement supports the claim.
    """

    paper: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class View:
    """A table of the report: a caption, column heads, and rows of formatted text."""

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
        What is measured and how, and the choices made where the paper does not specify them.
        Paragraphs are separated by empty lines.
    keys : tuple of str
        The columns that identify a cell.
    inches : tuple of float
        Width and height of the drawing.
    cells : function
        From a `Setting` to the cells to measure.
    draw : function
        Called with the records and an empty `matplotlib.figure.Figure`, in which it draws. Modules
        of figures do not import Matplotlib.
    claims : function
        From the records to judged claims.
    views : function
        From the records to tables.
    is_enough : function
        Whether these records can be drawn and judged although cells are missing.
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
    is_enough: Callable[[Records], bool] = _never
