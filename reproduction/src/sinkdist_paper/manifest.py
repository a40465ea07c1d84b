"""The manifest of a figure: how, when, with which versions and on which machine it was measured.

An interrupted figure has several runs, possibly on several machines; each is recorded. The file is
written with the first cell, so it also says which setting a folder belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sinkdist import InputError
from sinkdist_paper import atomic_io, machine, settings
from sinkdist_paper.figure import Setting

__all__ = ["FILE", "Manifest", "Run", "read", "write"]

FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command.

    Attributes
    ----------
    started : str
        When, in UTC.
    seconds : float
        Time spent measuring.
    cells : int
        Number of cells measured.
    workers : int
        Number of threads.
    code : str
        The commit of sinkdist, or its version where there is no checkout.
    machine, versions : dict
        See `sinkdist_paper.machine`.
    """

    started: str
    seconds: float
    cells: int
    workers: int
    code: str
    machine: dict[str, str | int]
    versions: dict[str, str]

    @classmethod
    def begin(cls, workers: int | None) -> Run:
        """A run that starts now."""
        facts = machine.machine()
        return cls(
            started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            seconds=0.0,
            cells=0,
            workers=int(facts["cores"]) if workers is None else workers,
            code=machine.commit(),
            machine=facts,
            versions=machine.versions(),
        )

    def after(self, seconds: float) -> Run:
        """The same run, one cell later."""
        return replace(self, seconds=self.seconds + seconds, cells=self.cells + 1)


@dataclass(frozen=True, slots=True)
class Manifest:
    """How a figure was measured.

    Attributes
    ----------
    figure, title : str
        Which figure.
    command : str
        The command that measures it again.
    setting : dict
        Data, sizes, quick or not, and the seed.
    finished : bool
        Whether all cells are measured and drawn.
    runs : tuple of Run
        The runs that measured at least one cell.
    """

    figure: str
    title: str
    command: str
    setting: dict[str, Any]
    finished: bool = False
    runs: tuple[Run, ...] = field(default=())

    @classmethod
    def new(cls, figure: str, title: str, setting: Setting) -> Manifest:
        """The manifest of a figure before its first cell."""
        written = settings.stored(setting)
        return cls(figure, title, settings.command([figure], written), written)

    @property
    def seconds(self) -> float:
        """Time spent measuring, in all runs."""
        return sum(run.seconds for run in self.runs)

    def extended(self, setting: Setting, is_complete: bool) -> Manifest:
        """The manifest after sizes were added, with cells that are measured or are not."""
        new = Manifest.new(self.figure, self.title, setting)
        return replace(new, runs=self.runs, finished=self.finished and is_complete)

    def with_run(self, run: Run) -> Manifest:
        """The manifest with one more run."""
        return replace(self, runs=(*self.runs, run), finished=False)


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a figure into its folder."""
    runs = tuple(replace(run, seconds=round(run.seconds, 3)) for run in manifest.runs)
    facts = asdict(replace(manifest, runs=runs)) | {"seconds": round(manifest.seconds, 3)}
    atomic_io.write(folder / FILE, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


def read(folder: Path) -> Manifest | None:
    """The manifest in a figure's folder; None where nothing has been measured.

    Parameters
    ----------
    folder : Path
        Such as ``out/fig1``.
    """
    path = folder / FILE
    try:
        facts: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(
            figure=facts["figure"],
            title=facts["title"],
            command=facts["command"],
            setting=dict(facts["setting"]),
            finished=facts["finished"],
            runs=tuple(Run(**run) for run in facts["runs"]),
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"'{path}' is not a manifest of this version of sinkdist. Remove the folder, or choose "
            "another 'out'."
        ) from error
