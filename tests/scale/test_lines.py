"""Progress as plain lines: what is written, when, and where."""

import sys

import pytest

from sinkdist.scale import progress
from sinkdist.scale.lines import Lines
from sinkdist.scale.progress import Progress
from sinkdist.scale.tally import Tally


def records(seconds, total=1000, unconverged=0):
    """A record each second."""
    for second in range(1, seconds + 1):
        yield Progress(total * second // seconds, total, float(second), unconverged)


def test_a_line_after_three_seconds_then_every_five_and_one_at_the_end():
    lines = []
    with Lines(lines.append) as display:
        for record in records(12, total=1200, unconverged=2):
            display(record)
    assert lines == [
        "300 of 1,200 pairs, 100 pairs/s, 9 s left, 2 not converged",
        "800 of 1,200 pairs, 100 pairs/s, 4 s left, 2 not converged",
        "1,200 of 1,200 pairs, 100 pairs/s, took 12 s, 2 not converged",
    ]


def test_a_short_run_is_one_line():
    lines = []
    with Lines(lines.append) as display:
        for record in records(2):
            display(record)
    assert lines == ["1,000 of 1,000 pairs, 500 pairs/s, took 2 s"]


def test_lines_go_to_stderr(capsys):
    Lines()(Progress(10, 10, 2.0, 0))
    assert capsys.readouterr() == ("", "10 of 10 pairs, 5 pairs/s, took 2 s\n")


def test_a_process_without_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    Lines()(Progress(10, 10, 2.0, 0))


def counted():
    with progress.counting(True, 2, ()) as counter:
        counter.add(2, Tally({0: 2}, {0: 0.0}))


def test_without_rich_there_are_lines(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "sinkdist.scale.bar", raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    counted()
    assert capsys.readouterr().err.startswith("2 of 2 pairs, ")


def test_another_missing_module_is_no_excuse(monkeypatch):
    monkeypatch.delitem(sys.modules, "sinkdist.scale.bar", raising=False)
    monkeypatch.setitem(sys.modules, "sinkdist.scale.bar", None)
    with pytest.raises(ModuleNotFoundError):
        counted()
