"""The results in docs/paper: complete, and the pages say what the measurements say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sinkdist_paper import contestants, run, summary
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
    counts = Counter(
        (record["contestant"], record["n"])
        for record in findings[1].records
        if record["kind"] == "error" and record["used"] == 1
    )
    for contestant in contestants.ALL:
        assert counts[contestant.name, 3_000] == 24


def test_the_summary_is_of_these_measurements(findings):
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == summary.summary(findings)


def test_the_report_has_every_claim_and_table(findings):
    page = (RESULTS / "report.html").read_text(encoding="utf-8")
    assert len([claim for finding in findings for claim in finding.claims()]) >= 10
    assert str(claims.summary(findings)) in page
    for finding in findings:
        for view in finding.views():
            assert str(sections.table(view)) in page


def test_nothing_names_the_machine_it_ran_on(findings):
    for path in RESULTS.rglob("*"):
        if path.suffix in (".json", ".html", ".md", ".csv"):
            assert not re.search(r"/(tmp|home|root|work)/", path.read_text(encoding="utf-8")), path
