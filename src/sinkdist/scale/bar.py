"""The progress bar: draws `Progress` records with Rich.

It stands apart so that a run without a bar never imports Rich: nothing else in `scale` does. On a
terminal it draws one line with the pairs done, the pairs per second and the time left; anywhere
else (a log, a pipe) it writes a plain line to stderr every ten seconds, so short runs stay silent.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as RichProgress

from sinkdist.scale.lines import SECONDS_BETWEEN_LINES, Display, Lines, duration, sentence

if TYPE_CHECKING:
    from sinkdist.scale.progress import Progress

__all__ = ["SECONDS_BETWEEN_LINES", "Bar", "duration", "sentence"]


class Bar(Display):
    """A context manager that is called with each `Progress` record, from any thread.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; stderr by default, so that stdout stays free for results.

    Examples
    --------
    >>> import io
    >>> from sinkdist.scale.progress import Progress
    >>> console = Console(file=io.StringIO(), width=100)
    >>> with Bar(console=console) as bar:
    ...     bar(Progress(done=600, total=1000, seconds=12.0, unconverged=0))
    >>> print(console.file.getvalue().strip())
    600 of 1,000 pairs, 50 pairs/s, 8 s left
    """

    def __init__(self, *, console: Console | None = None) -> None:
        super().__init__()
        self._console = Console(stderr=True) if console is None else console
        self._live: RichProgress | None = None
        self._task: TaskID | None = None
        every = SECONDS_BETWEEN_LINES
        self._lines = Lines(self._write, seconds=every, first=every, closing=False)

    def __enter__(self) -> Bar:
        if self._console.is_terminal or self._console.is_jupyter:
            self._live = RichProgress(
                BarColumn(bar_width=None), TextColumn("{task.description}"), console=self._console
            )
            self._task = self._live.add_task("starting", total=None)
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

    def _show(self, record: Progress) -> None:
        if self._live is None or self._task is None:
            self._lines(record)
        else:
            self._live.update(
                self._task,
                completed=record.done,
                total=record.total,
                description=sentence(record),
            )

    def _write(self, line: str) -> None:
        """Write a line where there is nothing to draw on."""
        self._console.print(line, highlight=False, soft_wrap=True)
