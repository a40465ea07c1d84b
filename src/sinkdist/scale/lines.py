"""Progress as plain lines on stderr, and the words that the progress bar shares with them.

Apart from `bar`, which needs Rich: these displays are for logs, pipes, and terminals without it.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from sinkdist.inputs.messages import count

if TYPE_CHECKING:
    from typing import Self

    from sinkdist.scale.progress import Progress

__all__ = ["SECONDS_BETWEEN_LINES", "Display", "Lines", "duration", "sentence"]

SECONDS_BETWEEN_LINES = 10.0  #: in a log
_SECONDS_WITHOUT_BAR = 5.0  # where lines are all there is to see
_FIRST = 3.0  # seconds until the first of these
_LONG = 1.0  # seconds of compiling that are worth a word


class Display:
    """A context manager that is called with each `Progress` record, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left open."""

    def __call__(self, record: Progress) -> None:
        """Show a record; one that is older than what is shown is passed over."""
        with self._lock:
            if record.done - record.before > self._done:
                self._done = record.done - record.before
                self._show(record)

    def _show(self, record: Progress) -> None:
        """Show a record that is newer than all before."""
        raise NotImplementedError


class Lines(Display):
    """A line after three seconds, then every few seconds, and one at the end.

    Parameters
    ----------
    write : callable, optional
        Takes a line without its line break; by default it goes to stderr, so that stdout stays
        free for results.
    seconds : float
        Between two lines.
    first : float
        Seconds until the first.
    closing : bool
        Whether the end of every run is printed; else short runs print nothing.

    Examples
    --------
    >>> from sinkdist.scale.progress import Progress
    >>> with Lines(print) as lines:
    ...     lines(Progress(done=200, total=1000, seconds=4.0, unconverged=0))
    ...     lines(Progress(done=600, total=1000, seconds=12.0, unconverged=3))
    ...     lines(Progress(done=1000, total=1000, seconds=16.0, unconverged=3))
    200 of 1,000 pairs, 50 pairs/s, 16 s left
    600 of 1,000 pairs, 50 pairs/s, 8 s left, 3 not converged
    1,000 of 1,000 pairs, 62 pairs/s, took 16 s, 3 not converged
    """

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        *,
        seconds: float = _SECONDS_WITHOUT_BAR,
        first: float = _FIRST,
        closing: bool = True,
    ) -> None:
        super().__init__()
        self._write = _to_stderr if write is None else write
        self._seconds = seconds
        self._closing = closing
        self._due_at = first

    def _show(self, record: Progress) -> None:
        is_last = self._closing and record.done >= record.total
        if is_last or _is_resumed(record) or record.seconds >= self._due_at:
            self._due_at = record.seconds + self._seconds
            self._write(sentence(record))


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
    >>> sentence(Progress(done=32_896, total=2_001_000, seconds=0.1, unconverged=0, before=32_896))
    '32,896 pairs kept, 1,968,104 to go'
    """
    if _is_resumed(record):
        return f"{count(record.before, 'pair')} kept, {record.total - record.done:,} to go"
    parts = [f"{record.done:,} of {count(record.total, 'pair')}"]
    rate = record.pairs_per_second
    if rate > 0:
        parts.append(f"{rate:,.0f} pairs/s" if rate >= 10 else f"{rate:.2g} pairs/s")
        if record.done < record.total:
            parts.append(f"{duration(math.ceil((record.total - record.done) / rate))} left")
        else:
            parts.append(f"took {duration(record.seconds - record.compiling)}")
    if record.compiling >= _LONG:
        parts.append(f"after {duration(record.compiling)} of compiling")
    if record.unconverged:
        parts.append(f"{record.unconverged:,} not converged")
    return ", ".join(parts)


def _is_resumed(record: Progress) -> bool:
    """Whether a record is of what an earlier run has left, before this one has added to it."""
    return 0 < record.before == record.done < record.total


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


def _to_stderr(line: str) -> None:
    """Write a line to stderr, if the process has one."""
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
