"""The progress bar: draws `Progress` records with Rich.

It stands apart so that a run without a bar never imports Rich: nothing else in `scale` does. On a
terminal it draws one line with the pairs done, the pairs per second and the time left; anywhere
else (a log, a pipe) it writes a plain line to stderr every ten seconds, so short runs stay silent.
"""

from __future__ import annotations

import math
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as RichProgress

if TYPE_CHECKING:
    from sinkdist.scale.progress import Progress

SECONDS_BETWEEN_LINES = 10.0


class Bar:
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
        self._console = Console(stderr=True) if console is None else console
        self._lock = threading.Lock()
        self._done = -1
        self._written_at = 0.0
        self._live: RichProgress | None = None
        self._task: TaskID | None = None

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

    def __call__(self, record: Progress) -> None:
        """Show a record; one that is older than what is shown is passed over."""
        with self._lock:
            if record.done - record.before <= self._done:
                return
            self._done = record.done - record.before
            if self._live is not None and self._task is not None:
                self._live.update(
                    self._task,
                    completed=record.done,
                    total=record.total,
                    description=sentence(record),
                )
            elif record.seconds - self._written_at >= SECONDS_BETWEEN_LINES:
                self._written_at = record.seconds
                self._console.print(sentence(record), highlight=False, soft_wrap=True)


def sentence(record: Progress) -> str:
    """One line on a record: pairs done, pairs per second, time left and pairs that stopped short.

    Parameters
    ----------
    record : Progress
        What has been done so far.

    Returns
    -------
    str
        The line, without a line break.

    Examples
    --------
    >>> from sinkdist.scale.progress import Progress
    >>> sentence(Progress(done=30_000, total=90_000, seconds=1.5, unconverged=2))
    '30,000 of 90,000 pairs, 20,000 pairs/s, 3 s left, 2 not converged'
    >>> sentence(Progress(done=90_000, total=90_000, seconds=4.5, unconverged=0))
    '90,000 of 90,000 pairs, 20,000 pairs/s, took 4.5 s'
    """
    parts = [f"{record.done:,} of {record.total:,} pairs"]
    rate = record.pairs_per_second
    if rate > 0:
        parts.append(f"{rate:,.0f} pairs/s" if rate >= 10 else f"{rate:.2g} pairs/s")
        if record.done < record.total:
            parts.append(f"{duration(math.ceil((record.total - record.done) / rate))} left")
        else:
            parts.append(f"took {duration(record.seconds)}")
    if record.unconverged:
        parts.append(f"{record.unconverged:,} not converged")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A length of time in the two largest units that matter.

    Parameters
    ----------
    seconds : float
        The length of time.

    Returns
    -------
    str
        Such as ``"4.5 s"``, ``"3 min 20 s"`` or ``"5 h 6 min"``.

    Examples
    --------
    >>> duration(8), duration(4.51), duration(200), duration(18_400)
    ('8 s', '4.5 s', '3 min 20 s', '5 h 6 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{round(seconds, 1):g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
