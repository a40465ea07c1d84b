"""The page: head, introduction, claims, figures, and the origin of the measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from sinkdist import __version__
from sinkdist_paper import atomic_io, settings
from sinkdist_paper.finding import Finding
from sinkdist_paper.progress import duration
from sinkdist_paper.report.claims import signs, tally
from sinkdist_paper.report.markup import Markup, element, join
from sinkdist_paper.report.origin import origin, wording
from sinkdist_paper.report.sections import section

__all__ = ["page", "write"]

TITLE = "Sinkhorn distances, measured again"
# The browser blocks all requests of the page.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write(path: Path, findings: Sequence[Finding], titles: Mapping[str, str]) -> None:
    """Write the page.

    Parameters
    ----------
    path : Path
        The file.
    findings : sequence of Finding
        The figures to show; at least one.
    titles : mapping
        The titles of all figures, by their names: the page lists those that are missing.
    """
    atomic_io.write(path, page(findings, titles))


def page(findings: Sequence[Finding], titles: Mapping[str, str]) -> str:
    """The page as text; see `write`."""
    body = element(
        "main",
        _opening(findings),
        *(section(finding) for finding in findings),
        _absent(findings, titles),
        origin(findings),
    )
    foot = element("footer", element("p", f"Made by sinkdist {__version__}."))
    document = element("html", _head(), element("body", body, foot), lang="en-GB")
    return f"<!DOCTYPE html>\n{document}\n"


def _head() -> Markup:
    """The head of the document."""
    style = files("sinkdist_paper.report").joinpath("style.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", TITLE),
        element("style", Markup(style)),
    )


def _opening(findings: Sequence[Finding]) -> Markup:
    """Title and introduction."""
    about = findings[0].manifest
    seconds = sum(finding.manifest.seconds for finding in findings)
    started = min((run.started for f in findings for run in f.manifest.runs), default="")
    contents = [
        element(
            "li",
            element(
                "a", f"{finding.label}: {finding.experiment.title}",
                href=f"#{finding.experiment.name}",
            ),
            " ",
            signs(finding.claims()),
        )
        for finding in findings
    ]  # fmt: skip
    judged = [claim for finding in findings for claim in finding.claims()]
    return element(
        "header",
        element("h1", TITLE),
        element(
            "p",
            "The experiments of Marco Cuturi’s ",
            element("cite", "Sinkhorn Distances: Lightspeed Computation of Optimal Transportation "
                    "Distances"),
            " (2013), repeated. ",
            element("strong", tally(judged)),
            class_="lead",
        ),
        element("nav", element("ul", *contents), aria_label="Figures"),
        element(
            "p",
            f"Images: {wording(about.setting)}. ",
            f"Measuring took {duration(seconds)}{_since(started)}.",
            class_="setting",
        ),
        _remark_on_quick() if about.setting["quick"] else None,
    )  # fmt: skip


def _since(started: str) -> str:
    """The day of the first measurement, if there was one."""
    if not started:
        return ""
    day = datetime.fromisoformat(started)
    return f" and began on {day.day} {day:%B %Y}"


def _remark_on_quick() -> Markup:
    """A note on the quick version."""
    return element(
        "p",
        element("strong", "This is the quick version"),
        ": fewer images, fewer repeats and smaller problems than in the paper. The verdicts are "
        "about this version; with the full sizes, they may be different.",
        class_="note",
    )


def _absent(findings: Sequence[Finding], titles: Mapping[str, str]) -> Markup | None:
    """The figures that were not measured, and the command that measures them."""
    shown = {finding.experiment.name for finding in findings}
    missing = {name: title for name, title in titles.items() if name not in shown}
    if not missing:
        return None
    items = [
        element("li", f"Figure {name.removeprefix('fig')}: {title}")
        for name, title in missing.items()
    ]
    command = settings.command(list(missing), findings[0].manifest.setting)
    return element(
        "section",
        element("h2", "Not measured yet", id="absent-title"),
        element("ul", *items),
        element("p", join(["This command adds them to the folder of this page:"])),
        element("pre", element("code", command)),
        id="absent",
        aria_labelledby="absent-title",
    )
