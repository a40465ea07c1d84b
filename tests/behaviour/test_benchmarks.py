"""Benchmarks keep what they have measured, and print medians as ratios without a time."""

import pytest

from benchmarks.journal import Journal
from benchmarks.table import Row, Section, markdown

STATE = {"code": "a", "quick": "False"}
ROW = Row("one pair", "a peer", 1e-3, 2e-3, target=3.0)


def measured(log, result):
    def measure():
        log.append(1)
        return result

    return measure


@pytest.fixture
def file(tmp_path):
    return tmp_path / "bench.unfinished.json"


def test_an_interrupted_run_resumes_with_the_next_cell(file):
    log = []
    first = Journal(file, STATE)
    assert first.rows("a cell", measured(log, [ROW])) == [ROW]
    with pytest.raises(KeyboardInterrupt):
        first.rows("the next one", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    again = Journal(file, STATE)
    assert again.rows("a cell", measured(log, [])) == [ROW] and len(log) == 1
    assert again.rows("the next one", measured(log, [])) == [] and len(log) == 2
    again.close()
    assert not file.exists()


def test_a_run_of_another_state_starts_anew(file, capsys):
    log = []
    Journal(file, STATE).rows("a cell", measured(log, [ROW]))
    other = Journal(file, STATE | {"code": "b"})
    assert other.rows("a cell", measured(log, [])) == [] and len(log) == 2
    assert "another state" in capsys.readouterr().out


def test_sections_come_back_as_they_were(file):
    section = Section("x", "A title", (ROW, Row("middle", "a peer", None, None, 0.4, median=0.5)))
    assert Journal(file, STATE).section("x", lambda: section) == section
    assert Journal(file, STATE).section("x", lambda: pytest.fail("measured again")) == section


def test_a_median_is_a_ratio_without_a_time():
    row = Row("median of these", "one lam", None, None, target=0.4, median=0.45)
    assert row.passed and row.ratio == 0.45
    assert not Row("median of these", "one lam", None, None, target=0.5, median=0.45).passed
    section = Section("x", "A title", (ROW, row))
    assert "| median of these |  |  | 0.45x |" in markdown(section)
    assert "| one pair | 1 ms | **2x ✗** |" in markdown(section)
    assert section.tally == "1 of 2 targets met"
