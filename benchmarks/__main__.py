"""All comparisons in one run: prints the tables, and writes them as JSON and Markdown.

What is measured is kept as it comes: the same command resumes a full run that was interrupted.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import json
from typing import Any

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
from benchmarks.journal import RESULTS, Journal
from benchmarks.table import Section, as_data, as_json, markdown, section_of

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


def renewed(report: dict[str, Any], sections: list[Section], commit: str, date: str) -> str:
    """The last full report as Markdown, some of its sections replaced, which say when and where.

    The report is changed in place.
    """
    for section in sections:
        when = f"Measured on {date} at commit {commit}, after the other tables."
        section = dataclasses.replace(section, remarks=(*section.remarks, when))
        report["sections"] = [
            as_data(section) if old["name"] == section.name else old for old in report["sections"]
        ]
    found = machine.Machine(**report["machine"])
    everything = [section_of(section) for section in report["sections"]]
    return as_markdown(found, everything, report["date"], report["quick"])


def run(name: str, quick: bool, journal: Journal) -> Section:
    """One comparison; what an unfinished run has measured of it is not measured again."""
    if name == "one_pair":  # it takes more than an hour: each of its problems is kept
        return one_pair.measure(quick, journal=journal)
    return journal.section(name, lambda: COMPARISONS[name](quick))


def main() -> None:
    """Run what is asked for (everything by default)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", help=f"any of: {', '.join(COMPARISONS)}")
    parser.add_argument("--quick", action="store_true", help="fewer cases and turns")
    parser.add_argument(
        "--renew", action="store_true", help="put these comparisons into the last full run's files"
    )
    asked = parser.parse_args()
    unknown = set(asked.only) - set(COMPARISONS)
    if unknown:
        parser.error(f"no comparison is called {', '.join(sorted(unknown))}")
    stem = "quick" if asked.quick else "bench"
    journal = Journal()
    if not asked.only:
        journal = Journal(RESULTS / f"{stem}.unfinished.json", machine.state(asked.quick))
    found = machine.Machine(
        **journal.data("the machine", lambda: dataclasses.asdict(machine.measure()))
    )
    sections = [
        run(name, asked.quick, journal)
        for name in COMPARISONS
        if not asked.only or name in asked.only
    ]
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    text = as_markdown(found, sections, date, asked.quick)
    print(text)
    if asked.only:  # a part must not take the place of the whole
        if asked.renew and not asked.quick:
            report = json.loads((RESULTS / "bench.json").read_text())
            (RESULTS / "bench.md").write_text(renewed(report, sections, found.commit, date))
            (RESULTS / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
            readme.main()
        return
    (RESULTS / f"{stem}.md").write_text(text)
    (RESULTS / f"{stem}.json").write_text(as_json(found, sections, date, asked.quick))
    journal.close()
    if not asked.quick:
        readme.main()


if __name__ == "__main__":
    main()
