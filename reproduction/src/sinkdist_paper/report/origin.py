"""The last section of the page: machine, versions, seed and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sinkdist_paper import settings
from sinkdist_paper.figure import View
from sinkdist_paper.finding import Finding
from sinkdist_paper.manifest import Run
from sinkdist_paper.progress import duration
from sinkdist_paper.report.markup import Markup, element
from sinkdist_paper.report.sections import table

__all__ = ["origin", "wording"]


def wording(written: dict[str, object]) -> str:
    """The data of a setting, as text.

    Examples
    --------
    >>> wording({"data": "digits", "sizes": [600, 1200], "quick": False, "seed": 0})
    'scikit-learn’s digits, N = 600, 1,200, seed 0'
    """
    names = {"digits": "scikit-learn’s digits", "mnist": "MNIST"}
    sizes: Sequence[int] = written["sizes"]  # type: ignore[assignment]
    listed = ", ".join(f"{n:,}" for n in sizes)
    return f"{names[str(written['data'])]}, N = {listed}, seed {written['seed']}"


def origin(findings: Sequence[Finding]) -> Markup:
    """Machine, versions, seed and commands."""
    written = findings[0].manifest.setting
    every = settings.command(["all"], written)
    return element(
        "section",
        element("h2", "Machine, versions, seed and commands", id="origin-title"),
        element("p", "To repeat these measurements on your own machine, in a clone of sinkdist:"),
        element("pre", element("code", f"pip install . ./reproduction\n{every}")),
        element(
            "p",
            f"Images: {wording(written)}. Each figure can be run alone: give its name instead of ",
            element("code", "all"),
            ".",
        ),
        table(_runs(findings)),
        *(part for run in _different(findings) for part in _facts(run)),
        id="origin",
        aria_labelledby="origin-title",
    )


def _runs(findings: Sequence[Finding]) -> View:
    """When each figure was measured, and how long it took."""
    rows = [
        (
            finding.label,
            f"`{finding.manifest.command}`",
            f"{run.started[:10]} {run.started[11:16]}",
            duration(run.seconds),
            str(run.workers),
            run.code,
        )
        for finding in findings
        for run in finding.manifest.runs
    ]
    return View(
        "When and how each figure was measured; an interrupted one has several rows.",
        ("Figure", "Command", "Started (UTC)", "Measuring", "Threads", "sinkdist"),
        tuple(rows),
    )


def _different(findings: Sequence[Finding]) -> list[Run]:
    """One run for each machine and set of versions."""
    found: dict[str, Run] = {}
    for finding in findings:
        for run in finding.manifest.runs:
            found.setdefault(repr((run.machine, run.versions)), run)
    return list(found.values())


def _facts(run: Run) -> tuple[Markup, ...]:
    """A machine and its installed versions."""
    machine = {name[0].upper() + name[1:]: value for name, value in run.machine.items()}
    return (
        element("h3", "Machine"),
        _listed(machine),
        element("h3", "Versions"),
        _listed(run.versions),
    )


def _listed(facts: Mapping[str, str | int]) -> Markup:
    """Names and values."""
    pairs = [
        element("div", element("dt", name), element("dd", str(value)))
        for name, value in facts.items()
    ]
    return element("dl", *pairs, class_="facts")
