"""The progress bar: what it says on a terminal and in a log."""

import io
import threading

import pytest
from rich.console import Console

from sinkdist.scale.bar import Bar, duration, sentence
from sinkdist.scale.progress import Progress


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=terminal, force_jupyter=False)


def written(to: Console) -> str:
    assert isinstance(to.file, io.StringIO)
    return to.file.getvalue()


def record(done: int, seconds: float, total: int = 1000) -> Progress:
    return Progress(done=done, total=total, seconds=seconds, unconverged=0)


def test_log_is_silent_for_short_runs():
    log = console(terminal=False)
    with Bar(console=log) as bar:
        for done in range(0, 1001, 100):
            bar(record(done, seconds=done / 200))
    assert written(log) == ""


def test_log_has_a_line_every_ten_seconds():
    log = console(terminal=False)
    with Bar(console=log) as bar:
        for second in range(1, 36):
            bar(record(second * 10, seconds=float(second)))
    lines = written(log).splitlines()
    assert lines[0] == "100 of 1,000 pairs, 10 pairs/s, 1 min 30 s left"
    assert len(lines) == 3


def test_late_records_are_passed_over():
    log = console(terminal=False)
    with Bar(console=log) as bar:
        bar(record(500, seconds=11.0))
        bar(record(400, seconds=30.0))
    assert len(written(log).splitlines()) == 1


def test_terminal_shows_the_last_state():
    screen = console(terminal=True)
    with Bar(console=screen) as bar:
        bar(record(250, seconds=1.0))
        bar(record(1000, seconds=4.0))
    assert "1,000 of 1,000 pairs, 250 pairs/s, took 4 s" in written(screen)


def test_terminal_is_given_back_after_an_error():
    screen = console(terminal=True)
    with pytest.raises(KeyboardInterrupt), Bar(console=screen):
        raise KeyboardInterrupt
    assert written(screen).endswith("\x1b[?25h")  # the cursor is shown again


def test_takes_records_from_many_threads():
    log = console(terminal=False)
    with Bar(console=log) as bar:
        threads = [
            threading.Thread(target=lambda: [bar(record(i, seconds=20.0)) for i in range(1, 200)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(written(log).splitlines()) == 1


def test_sentence_before_anything_is_done():
    assert sentence(record(0, seconds=0.0)) == "0 of 1,000 pairs"


def test_sentence_for_slow_pairs():
    assert sentence(record(1, seconds=4.0, total=2)) == "1 of 2 pairs, 0.25 pairs/s, 4 s left"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.4, "59.4 s"), (59.7, "1 min 0 s"), (3599, "59 min 59 s"), (7260, "2 h 1 min")],
)
def test_duration(seconds, words):
    assert duration(seconds) == words
