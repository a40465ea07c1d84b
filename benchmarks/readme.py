"""Put the tables of the last full run into docs/benchmarks.md, between its two markers.

`python -m benchmarks.readme` does it again; a full run ends with it. Readers want what was
measured: which of our targets were met stays in the report.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
REPORT = Path(__file__).parent / "results" / "bench.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
_MET = re.compile(r": \d+ of \d+ targets met\.")
_MISSED = re.compile(r"\*\*([^*|]+?) ✗\*\*")


def section(report: str) -> str:
    """The report one heading level down, its tables folded, without our targets."""
    head, *tables = report.split("\n## ")
    lines = "\n".join(
        line for line in head.split("\n", 2)[2].strip().splitlines() if not _MET.search(line)
    )
    folded = []
    for table in tables:
        title, body = table.split("\n", 1)
        folded.append(f"<details><summary>{title}</summary>\n\n{plain(body)}\n\n</details>")
    return "\n\n".join([lines.strip(), *folded])


def plain(table: str) -> str:
    """A table without targets and crosses."""
    return _MISSED.sub(r"\1", _MET.sub(".", table)).strip()


def updated(page: str, report: str) -> str:
    """The page with the report between its markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{section(report)}\n\n{END}{after}"


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(updated(PAGE.read_text(), REPORT.read_text()))


if __name__ == "__main__":
    main()
