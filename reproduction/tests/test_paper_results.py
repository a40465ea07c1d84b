"""The results in docs/paper: complete, and the pages say what the measurements say."""

import re
from collections import Counter
from pathlib import Path

import matplotlib as mpl
import pytest

from sinkdist_paper import canvas, contestants, run, summary
from sinkdist_paper.report import claims, sections

RESULTS = Path(__file__).parents[2] / "docs" / "paper"


@pytest.fixture(scope="module")
def findings():
    return run.findings(RESULTS)


def test_all_figures_were_measured_on_mnist(findings):
    assert [finding.experiment.name for finding in findings] == list(run.FIGURES)
    for finding in findings:
        setting = finding.manifest.setting
        assert setting["data"] == "mnist" and not setting["quick"]
        assert max(setting["sizes"]) >= 3_000
        for ending in ("svg", "png", "csv"):
            assert (RESULTS / finding.experiment.name).joinpath(
                f"{finding.experiment.name}.{ending}"
            ).stat().st_size > 1_000


def test_every_contestant_took_part_in_24_experiments(findings):
    rows = [record for record in findings[1].records if record["kind"] == "error"]
    used = Counter((row["contestant"], row["n"]) for row in rows if row["used"] == 1)
    assert set(used.values()) == {24}
    for contestant in contestants.ALL:
        sizes = [n for name, n in used if name == contestant.name]
        assert max(sizes) >= 3_000 or contestant.limit  # a fixed alpha: as far as time allowed
        for n in sizes:
            values = {r["value"] for r in rows if (r["contestant"], r["n"]) == (contestant.name, n)}
            if n <= (contestant.limit or n):
                assert values == {variant.value for variant in contestant.variants}
            else:
                assert len(values) == 1


def test_figures_are_drawn_from_these_measurements(findings):
    for finding in findings:
        name, drawn_by = finding.experiment.name, finding.manifest.runs[-1].versions["matplotlib"]
        if drawn_by != mpl.__version__:
            pytest.skip(f"drawn by Matplotlib {drawn_by}, which may place things elsewhere")
        svg = (RESULTS / name / f"{name}.svg").read_text(encoding="utf-8")
        assert svg == canvas.svg(finding.experiment, finding.records)


def test_the_summary_is_of_these_measurements(findings):
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == summary.summary(findings)


def test_the_report_has_every_claim_and_table(findings):
    page = (RESULTS / "report.html").read_text(encoding="utf-8")
    assert len([claim for finding in findings for claim in finding.claims()]) >= 10
    for finding in findings:
        assert page.count(str(claims.cards(finding.claims()))) == 1
        for view in finding.views():
            assert str(sections.table(view)) in page


def test_nothing_names_the_machine_it_ran_on(findings):
    for path in RESULTS.rglob("*"):
        if path.suffix in (".json", ".html", ".md", ".csv"):
            assert not re.search(r"/(tmp|home|root|work)/", path.read_text(encoding="utf-8")), path
