"""The pages in docs/ are true: sessions run, links lead somewhere, tables are current."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sinkdist
from sinkdist.solvers.outcome import RAN
from sinkdist.solvers.table import SOLVERS
from tests.behaviour.test_readme import examples, failures

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(text):
    """What GitHub makes of the headings: lower case, no signs, hyphens for blanks."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows(text):
    """Every row of every table of a page, as a list of its cells."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def mentions(name):
    """Whether any page has the name as a word of code."""
    return any(
        re.search(rf"\b{re.escape(name)}\b", code)
        for text in TEXTS.values()
        for code in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)
    )


@pytest.mark.parametrize("name", TEXTS)
def test_sessions(name):
    assert not (report := failures(TEXTS[name], name)), "".join(report)


def test_there_are_sessions():
    assert len(examples(TEXTS["family.md"])) >= 5


def source_of(path):
    """The file that a link leads to; pages of the gallery are made from its examples."""
    if not path.startswith("gallery/"):
        return ROOT / "docs" / path
    example = "GALLERY_HEADER.rst" if path == "gallery/index.rst" else f"{Path(path).stem}.py"
    return ROOT / "examples" / "gallery" / example


@pytest.mark.parametrize("name", TEXTS)
def test_links(name):
    for path, anchor in LINK.findall(TEXTS[name]):
        target = source_of(path or name)
        assert target.exists(), f"{name} links to {path}, which is not there"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{name}: #{anchor}"


def test_every_page_is_in_the_index():
    linked = {path for path, _ in LINK.findall(TEXTS["README.md"])}
    assert set(TEXTS) - {"README.md"} <= linked


@pytest.mark.parametrize("name", sinkdist.__all__)
def test_public_names_are_mentioned(name):
    assert mentions(name)


@pytest.mark.parametrize("name", sorted({*SOLVERS, *RAN}))
def test_solvers_are_mentioned(name):
    assert f"`{name}`" in TEXTS["solvers.md"]


def test_table_of_solvers():
    wanted = [[f"`{s.name}`", s.summary, s.fallback] for s in SOLVERS.values()]
    table = TEXTS["solvers.md"].split("<!-- table of solvers", 1)[1].split("\n\n", 1)[0]
    assert rows(table)[2:] == wanted


@pytest.mark.slow
def test_table_of_hard_input():
    """But for what POT returns after its own numerical errors, which may depend on the machine."""
    script = [sys.executable, str(ROOT / "examples" / "hard_input.py")]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    fresh = [[*row[:2], *row[3:]] for row in rows(printed)]
    assert len(fresh) > 8
    shown = [[*row[:2], *row[3:]] for row in rows(TEXTS["peers.md"].split("<!--", 1)[1])]
    assert shown == fresh
