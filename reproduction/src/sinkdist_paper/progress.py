"""The progress display: which cell is being measured, how many are left, and about how long.

On a terminal a bar for each figure, drawn with Rich; anywhere else (a log, a pipe) a plain line for
each cell. Both go to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from sinkdist import InputTypeError

__all__ = ["Listener", "ProgressDisplay", "Step", "duration", "progress_listener"]

_FEWEST = 3  # cells before the time left is estimated
_BAR = 24  # characters


@dataclass(frozen=True, slots=True)
class Step:
    """A step in the measuring of a figure.

    Attributes
    ----------
    figure : str
        "fig1" to "fig5".
    what : str
        The cell that is about to be measured, the progress of a long one, or an empty string when
        all cells are done.
    done, total : int
        Cells of the figure; `done` includes those of earlier runs.
    measured : int
        Cells measured in this run.
    seconds : float
        Time spent on them.
    is_remark : bool
        Whether it is about a cell that an earlier step announced.
    """

    figure: str
    what: str
    done: int
    total: int
    measured: int = 0
    seconds: float = 0.0
    is_remark: bool = False

    @property
    def left(self) -> float | None:
        """Estimated seconds left, by the mean of the cells so far; None if there are too few."""
        if self.measured < _FEWEST or self.done >= self.total:
            return None
        return self.seconds / self.measured * (self.total - self.done)


Listener: TypeAlias = Callable[[Step], object]


class ProgressDisplay:
    """A context manager that is called with each `Step`.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; stderr by default.

    Examples
    --------
    >>> import io
    >>> console = Console(file=io.StringIO(), width=100)
    >>> with ProgressDisplay(console=console) as display:
    ...     display(Step("fig5", "d = 64, lam = 9", done=6, total=12, measured=4, seconds=20.0))
    ...     display(Step("fig5", "", done=12, total=12, measured=10, seconds=66.0))
    >>> print(console.file.getvalue().strip())
    Figure 5, step 7 of 12: d = 64, lam = 9; about 30 s left
    Figure 5, all 12 steps: took 1 min 6 s
    """

    def __init__(self, *, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._live: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> ProgressDisplay:
        if self._console.is_terminal or self._console.is_jupyter:
            self._live = RichProgress(
                TextColumn("{task.fields[figure]}"),
                BarColumn(bar_width=_BAR),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=self._console,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, step: Step) -> None:
        """Show a step."""
        if self._live is None:
            line = f"{_label(step.figure)}: {step.what}" if step.is_remark else sentence(step, True)
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)
            return
        if step.figure not in self._tasks:
            task = self._live.add_task("", total=step.total, figure=step.figure)
            self._tasks[step.figure] = task
        self._live.update(
            self._tasks[step.figure],
            completed=step.done,
            description=sentence(step, False),
            refresh=True,
        )


def sentence(step: Step, with_name: bool = True) -> str:
    """One line on a step: which cell, how many, the time left.

    Parameters
    ----------
    step : Step
        The step to describe.
    with_name : bool
        Whether the line begins with the name of the figure.

    Examples
    --------
    >>> sentence(Step("fig1", "", done=5, total=5))
    'Figure 1, all 5 steps: measured before'
    """
    start = f"{_label(step.figure)}, " if with_name else ""
    if step.what:
        left = step.left
        line = f"{start}step {min(step.done + 1, step.total):,} of {step.total:,}"
        return f"{line}: {step.what}" + (
            f"; about {duration(_rough(left))} left" if left and left >= 1 else ""
        )
    line = f"{start}all {step.total:,} steps"
    return f"{line}: took {duration(step.seconds)}" if step.measured else f"{line}: measured before"


def _label(figure: str) -> str:
    """The name of a figure for people: "Figure 1" for "fig1"."""
    return f"Figure {figure.removeprefix('fig')}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units.

    Examples
    --------
    >>> duration(8), duration(4.51), duration(200), duration(18_400)
    ('8 s', '4.5 s', '3 min 20 s', '5 h 6 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{round(seconds, 1):g} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def _rough(seconds: float) -> float:
    """A time rounded as an estimate should be: to seconds, or to ten seconds."""
    return round(seconds) if seconds < 60 else 10 * round(seconds / 10)


@contextmanager
def progress_listener(progress: Any) -> Iterator[Listener]:
    """A listener for the ``progress`` option: a display, nothing, or the function that was given.

    Parameters
    ----------
    progress : bool or function
        Whether to show a display, or the function to call.
    """
    if progress is True:
        with ProgressDisplay() as display:
            yield display
    elif progress is False:
        yield lambda step: None
    elif callable(progress):
        yield progress
    else:
        raise InputTypeError(
            "The 'progress' option must be True, False or a function of one Step. "
            f"Got {progress!r} instead."
        )
