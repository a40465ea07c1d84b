"""The results as a Markdown page, to be kept in a repository beside the report."""

from __future__ import annotations

from collections.abc import Sequence

from sinkdist_paper import settings
from sinkdist_paper.finding import Finding

__all__ = ["summary"]


def summary(findings: Sequence[Finding]) -> str:
    """Claims and verdicts first, then each figure with its tables.

    Parameters
    ----------
    findings : sequence of Finding
        What was measured; at least one.
    """
    names = [finding.experiment.name for finding in findings]
    command = settings.command(["all"] if len(names) > 1 else names, findings[0].manifest.setting)
    return (
        "\n\n".join(
            [
                "# The paper, rerun",
                "Written by the command below. The folder of each figure holds its measurements "
                "(CSV), its drawing and its manifest.json (setting, versions, machine). "
                "[report.html](report.html) is the full report, on one page.",
                f"```\n{command}\n```",
                _origin(findings),
                "## What holds",
                _table(
                    ("The paper says", "Verdict", "Measured here", "Figure"),
                    [
                        (claim.paper, f"**{claim.verdict.value}**", claim.measured, _link(finding))
                        for finding in findings
                        for claim in finding.claims()
                    ],
                ),
                *(_section(finding) for finding in findings),
            ]
        )
        + "\n"
    )


def _origin(findings: Sequence[Finding]) -> str:
    """The machine and versions of the last run; the manifests have those of every run."""
    run = findings[-1].manifest.runs[-1]
    facts = ", ".join(f"{name} {value}" for name, value in run.versions.items())
    hours = sum(finding.manifest.seconds for finding in findings) / 3600
    return (
        f"Measured from {min(f.manifest.runs[0].started for f in findings)[:10]} on: "
        + ", ".join(f"{name} {value}" for name, value in run.machine.items())
        + f". {facts}. {hours:.1f} hours of measuring."
    )


def _section(finding: Finding) -> str:
    """A figure with its tables."""
    name = finding.experiment.name
    return "\n\n".join(
        [
            f"## {finding.label}: {finding.experiment.title}",
            *([f"**{finding.remark()}**"] if finding.missing else []),
            f"![{finding.experiment.title}]({name}/{name}.svg)",
            *(f"{view.caption}\n\n{_table(view.head, view.rows)}" for view in finding.views()),
        ]
    )


def _link(finding: Finding) -> str:
    """To a figure's drawing."""
    name = finding.experiment.name
    return f"[{finding.label.removeprefix('Figure ')}]({name}/{name}.svg)"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )
