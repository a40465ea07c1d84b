"""All comparisons in one run: prints the tables, and writes them as JSON and Markdown."""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

from benchmarks import (
    converged_batches,
    exact,
    family,
    machine,
    many_pairs,
    mnist_pairs,
    one_pair,
    readme,
    startup,
)
from benchmarks.table import Section, as_json, markdown

RESULTS = Path(__file__).parent / "results"
COMPARISONS = {
    "startup": startup.measure,
    "many_pairs": many_pairs.measure,
    "mnist_pairs": mnist_pairs.measure,
    "converged_batches": converged_batches.measure,
    "family": family.measure,
    "one_pair": one_pair.measure,
    "exact": exact.measure,
}


def as_markdown(found: machine.Machine, sections: list[Section], date: str, quick: bool) -> str:
    """The whole report: where it was measured, the machine's limits, one table per comparison."""
    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    lines = [
        "# Benchmarks" + (" (quick run)" if quick else ""),
        "",
        f"{date}, commit {found.commit}, {found.processor}, {found.cores} cores. {versions}.",
        "",
        "| the machine's own limits | |",
        "| --- | --- |",
        *(f"| {label} | {figure} |" for label, figure in found.limits.items()),
        "",
        *(f"- {section.title}: {section.tally}." for section in sections),
        "",
    ]
    return "\n".join(lines) + "\n" + "\n".join(markdown(section) for section in sections)


def main() -> None:
    """Run what is asked for (everything by default)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", help=f"any of: {', '.join(COMPARISONS)}")
    parser.add_argument("--quick", action="store_true", help="fewer cases and turns")
    asked = parser.parse_args()
    unknown = set(asked.only) - set(COMPARISONS)
    if unknown:
        parser.error(f"no comparison is called {', '.join(sorted(unknown))}")
    found = machine.measure()
    sections = [
        measure(asked.quick)
        for name, measure in COMPARISONS.items()
        if not asked.only or name in asked.only
    ]
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    text = as_markdown(found, sections, date, asked.quick)
    print(text)
    if asked.only:
        return  # a part must not take the place of the whole
    RESULTS.mkdir(exist_ok=True)
    stem = "quick" if asked.quick else "bench"
    (RESULTS / f"{stem}.md").write_text(text)
    (RESULTS / f"{stem}.json").write_text(as_json(found, sections, date, asked.quick))
    if not asked.quick:
        readme.main()


if __name__ == "__main__":
    main()
