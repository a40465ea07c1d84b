"""Rows and tables: what a comparison hands back, and how it is printed.

A row is one case against one opponent. Every figure is a time, so every row reads the same way:
the ratio is theirs over ours, and a target is the least ratio that passes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One case against one opponent, in seconds; ``at_least`` when the opponent was stopped.

    ``median`` is a ratio without times of its own: the middle one of other rows.
    """

    case: str
    against: str
    ours: float | None
    theirs: float | None
    target: float | None = None
    at_least: bool = False
    note: str = ""
    wrong: str = ""
    median: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster we are, where both times are known."""
        return self.theirs / self.ours if self.ours and self.theirs else self.median

    @property
    def passed(self) -> bool | None:
        """Whether the target is met; None without a target, or without our time or a median."""
        if self.target is None or (self.ours is None and self.median is None):
            return None
        if self.wrong:
            return False
        return self.ratio is None or self.ratio >= self.target

    def text(self) -> str:
        """The cell of a table: the ratio or why there is none, with a cross where it is short."""
        if self.ratio is not None:
            said = f"{'>' if self.at_least else ''}{_short(self.ratio)}x"
        elif self.theirs is not None:
            said = f"{'>' if self.at_least else ''}{seconds(self.theirs)}"
        else:
            said = self.note or "-"
        return f"**{said} ✗**" if self.passed is False else said


@dataclass(frozen=True)
class Section:
    """A comparison's rows under its title, with the sentences a reader needs."""

    name: str
    title: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()

    @property
    def tally(self) -> str:
        """How many targets were met."""
        judged = [row for row in self.rows if row.passed is not None]
        met = sum(row.passed is True for row in judged)
        return f"{met} of {len(judged)} targets met"


def seconds(value: float | None) -> str:
    """A duration in the unit that suits it."""
    if value is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{_short(value / scale)} {unit}"
    return f"{value * 1e9:.0f} ns"


def _short(value: float) -> str:
    """Three significant digits at most, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def markdown(section: Section) -> str:
    """One table: a line per case, our time, and a column of ratios per opponent."""
    cases = list(dict.fromkeys(row.case for row in section.rows))
    opponents = list(dict.fromkeys(row.against for row in section.rows))
    cells = {(row.case, row.against): row for row in section.rows}
    lines = [
        f"## {section.title}",
        "",
        f"`python -m benchmarks.{section.name}`: {section.tally}.",
        "",
    ]
    lines += [_line(["case", "sinkdist", *opponents]), _line(["---"] * (len(opponents) + 2))]
    for case in cases:
        rows = [cells.get((case, opponent)) for opponent in opponents]
        ours = next((row.ours for row in rows if row is not None), None)
        wrong = next((row.wrong for row in rows if row is not None and row.wrong), "")
        said = [row.text() if row is not None else "" for row in rows]
        lines.append(_line([case, wrong or seconds(ours), *said]))
    lines += ["", *(f"- {remark}" for remark in section.remarks)]
    return "\n".join(lines).rstrip() + "\n"


def as_data(section: Section) -> dict[str, Any]:
    """A comparison as data, every row with its ratio and verdict."""
    rows = [
        dataclasses.asdict(row) | {"ratio": row.ratio, "passed": row.passed} for row in section.rows
    ]
    return {
        "name": section.name, "title": section.title, "remarks": section.remarks, "rows": rows
    }  # fmt: skip


def section_of(data: dict[str, Any]) -> Section:
    """A comparison from its data."""
    names = {field.name for field in dataclasses.fields(Row)}
    rows = tuple(Row(**{key: row[key] for key in names & row.keys()}) for row in data["rows"])
    return Section(data["name"], data["title"], rows, tuple(data["remarks"]))


def as_json(found: Any, sections: list[Section], date: str, quick: bool) -> str:
    """Tables as data; ``found`` is the machine, a record."""
    report = {
        "date": date,
        "quick": quick,
        "machine": dataclasses.asdict(found),
        "sections": [as_data(section) for section in sections],
    }
    return json.dumps(report, indent=1) + "\n"


def _line(cells: Sequence[str]) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def show(measure: Callable[..., Section]) -> None:
    """The command of one comparison: measure, print."""
    parser = argparse.ArgumentParser(description="Run one comparison and print its table.")
    parser.add_argument("--quick", action="store_true", help="fewer cases and turns")
    print(markdown(measure(parser.parse_args().quick)))
