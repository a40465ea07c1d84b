"""A figure on the page: its drawing, its claims, how it was measured, its tables."""

from __future__ import annotations

import re

from sinkdist_paper.figure import View
from sinkdist_paper.finding import Finding
from sinkdist_paper.report import claims
from sinkdist_paper.report.drawings import picture
from sinkdist_paper.report.markup import Markup, element, inline, prose

__all__ = ["section", "table"]

_NUMBER = re.compile(
    r"[<>≈~]?\s?[-+−]?[\d.,]+(e[-+]?\d+)?\s?(%|×|x|s|ms|µs)?(\s?±\s?[\d.,]+%?)?|[-–—]?"
)
_LONG = 14  # rows; longer tables are collapsed
_WIDE = 26  # characters; longer cells are wrapped


def section(finding: Finding) -> Markup:
    """The section of a figure."""
    name = finding.experiment.name
    judged = finding.claims()
    return element(
        "section",
        element(
            "h2",
            element("span", finding.label, class_="number"),
            " ",
            finding.experiment.title,
            id=f"{name}-title",
        ),
        element("p", remark, class_="note") if (remark := finding.remark()) else None,
        element("figure", picture(finding), _caption(finding)),
        element("h3", "What the paper says, and what was measured") if judged else None,
        claims.cards(judged) if judged else None,
        element("h3", "How it was measured"),
        element("div", prose(finding.experiment.about), class_="prose"),
        *([element("h3", "Tables")] if finding.views() else []),
        *(table(view) for view in finding.views()),
        id=name,
        aria_labelledby=f"{name}-title",
    )


def table(view: View) -> Markup:
    """A table in a box that scrolls if it is wide; long tables are collapsed."""
    numeric = [
        k > 0 and all(_NUMBER.fullmatch(row[k].strip()) for row in view.rows)
        for k in range(len(view.head))
    ]
    heads = [
        _cell("th", head, number, "col") for head, number in zip(view.head, numeric, strict=True)
    ]
    rows = [
        element(
            "tr",
            _cell("th", row[0], False, "row"),
            *(_cell("td", cell, number) for cell, number in zip(row[1:], numeric[1:], strict=True)),
        )
        for row in view.rows
    ]
    box = element(
        "div",
        element(
            "table",
            element("caption", element("span", inline(view.caption))),
            element("thead", element("tr", *heads)),
            element("tbody", *rows),
        ),
        class_="box",
        role="region",
        aria_label=view.caption,
        tabindex="0",
    )
    if len(view.rows) <= _LONG:
        return box
    words = f"{view.caption.rstrip('.')} ({len(view.rows)} rows)"
    return element("details", element("summary", inline(words)), box)


def _cell(tag: str, text: str, is_number: bool, scope: str | None = None) -> Markup:
    """A cell; only long ones are wrapped."""
    kind = "number" if is_number else "long" if len(text) > _WIDE else None
    return element(tag, inline(text), scope=scope, class_=kind)


def _caption(finding: Finding) -> Markup:
    """The caption of a drawing, with links to its files."""
    name = finding.experiment.name
    files = [
        element("a", words, href=f"{name}/{name}.{ending}")
        for words, ending in (("SVG", "svg"), ("PNG", "png"), ("measurements, CSV", "csv"))
    ]
    return element(
        "figcaption",
        f"{finding.label}, drawn from {len(finding.records):,} records. As files: ",
        files[0], ", ", files[1], ", ", files[2], ".",
    )  # fmt: skip
