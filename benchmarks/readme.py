"""Put the tables of the last full run into the README, between its two markers.

`python -m benchmarks.readme` does it again; a full run ends with it.
"""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
REPORT = Path(__file__).parent / "results" / "bench.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def section(report: str) -> str:
    """The report one heading level down, its tables folded but for what each of them met."""
    head, *tables = report.split("\n## ")
    lines = head.split("\n", 2)[2].strip()
    folded = []
    for table in tables:
        title, body = table.split("\n", 1)
        folded.append(f"<details><summary>{title}</summary>\n\n{body.strip()}\n\n</details>")
    return "\n\n".join([lines, *folded])


def updated(readme: str, report: str) -> str:
    """The README with the report between its markers."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{section(report)}\n\n{END}{after}"


def main() -> None:
    """Rewrite the README."""
    README.write_text(updated(README.read_text(), REPORT.read_text()))


if __name__ == "__main__":
    main()
