"""Runs the figures one after the other: measures missing cells, draws, and writes the report.

Every cell is on disk as soon as it is measured; after an interruption, the same call resumes after
the last finished cell.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sinkdist import InputError
from sinkdist_paper import atomic_io, settings, summary
from sinkdist_paper import manifest as manifests
from sinkdist_paper.figure import Cell, Experiment, Record, Scalar, Setting
from sinkdist_paper.finding import Finding
from sinkdist_paper.manifest import Manifest, Run
from sinkdist_paper.progress import Listener, Step, progress_listener
from sinkdist_paper.results_csv import ResultsFile

__all__ = ["FIGURES", "REPORT", "TITLES", "chosen", "draw", "experiment", "findings", "reproduce"]

# Each figure has its title, too; these can be listed without importing the figures.
TITLES = {
    "fig1": "The transportation polytope and the balls in it",
    "fig2": "Classifying digits: test error against the number of images",
    "fig3": "The gap between Sinkhorn distances and the EMD",
    "fig4": "Time per distance against the dimension",
    "fig5": "Iterations to convergence",
}
FIGURES = tuple(TITLES)
ALL = "all"
REPORT, SUMMARY = "report.html", "README.md"


def experiment(name: str) -> Experiment:
    """A figure of the paper; its module is imported on first use.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    """
    found: Experiment = importlib.import_module(f"sinkdist_paper.{name}").EXPERIMENT
    return found


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The figures with these names, in the order of the paper.

    Examples
    --------
    >>> chosen(["fig4", "fig1"]), chosen(["all"])
    (('fig1', 'fig4'), ('fig1', 'fig2', 'fig3', 'fig4', 'fig5'))
    """
    for name in names:
        if name not in (*FIGURES, ALL):
            raise InputError(f"Figures are {', '.join(FIGURES)} and {ALL}. Got '{name}' instead.")
    return tuple(name for name in FIGURES if name in names or ALL in names)


def reproduce(
    names: Sequence[str],
    setting: Setting,
    out: Path,
    *,
    progress: bool | Callable[[Step], object] = True,
) -> Path:
    """Measure and draw figures of the paper, and write a report on all figures in the folder.

    Parameters
    ----------
    names : sequence of str
        "fig1" to "fig5", or "all".
    setting : Setting
        The options of the run, made by `settings.asked`.
    out : Path
        The folder of the results. Cells that an earlier call with the same setting measured are
        not measured again, nor those of a call with fewer sizes; results of another setting in the
        folder are an error.
    progress : bool or function
        Whether to show which cell is measured and the time left (a bar in a terminal, lines in a
        log), or a function that is called with each `Step`.

    Returns
    -------
    Path
        The report, one HTML page; a summary in Markdown is in the same folder.
    """
    importlib.import_module("sinkdist_paper.report")  # Matplotlib: fails before any measuring

    figures = chosen(names)
    with atomic_io.held(out), progress_listener(progress) as listener:
        _extend_setting(setting, out)
        for name in figures:
            _finish(experiment(name), setting, out / name, listener)
        _write(out)
    return out / REPORT


def draw(out: Path) -> Path:
    """Draw the figures in a folder again, and write their report; nothing is measured.

    Figures that are not measured completely are drawn, too, if there is enough to draw.

    Parameters
    ----------
    out : Path
        The folder of the results.

    Returns
    -------
    Path
        The report.
    """
    from sinkdist_paper import canvas

    found = findings(out)
    if not found:
        raise InputError(f"There are no measurements to draw in '{out}'.")
    with atomic_io.held(out):
        for finding in found:
            canvas.save(finding.experiment, finding.records, out / finding.experiment.name)
        _write(out)
    return out / REPORT


def _write(out: Path) -> None:
    """Write the report and the summary of all figures in the folder."""
    from sinkdist_paper import report

    found = findings(out)
    report.write(out / REPORT, found, TITLES)
    atomic_io.write(out / SUMMARY, summary.summary(found))


def findings(out: Path) -> list[Finding]:
    """All figures in a folder with enough measurements to be drawn, in the order of the paper.

    Parameters
    ----------
    out : Path
        The folder of the results.
    """
    found = []
    for name in FIGURES:
        about = manifests.read(out / name)
        if about is None:
            continue
        figure = experiment(name)
        results = _results(figure, out / name)
        records = tuple(results.records())
        if about.finished:
            found.append(Finding(figure, records, about))
        elif figure.is_enough(records):
            cells = figure.cells(settings.restored(about.setting, out))
            missing = sum(not results.has(cell.key) for cell in cells)
            found.append(Finding(figure, records, about, missing))
    return found


def _finish(figure: Experiment, setting: Setting, folder: Path, listener: Listener) -> None:
    """Measure the missing cells of a figure, and draw it."""
    from sinkdist_paper import canvas

    before = manifests.read(folder) or Manifest.new(figure.name, figure.title, setting)
    results = _results(figure, folder)
    about = _measure(figure, setting, results, before, listener)
    canvas.save(figure, results.records(), folder)
    if not about.finished:
        manifests.write(folder, replace(about, finished=True))


def _measure(
    figure: Experiment, setting: Setting, results: ResultsFile, before: Manifest, listener: Listener
) -> Manifest:
    """Measure the missing cells one by one; each is saved before the next begins."""
    about, run = before, None
    state = Step(figure.name, "", 0, 0)

    def tell(text: str) -> None:
        listener(replace(state, what=text, is_remark=True))

    cells = figure.cells(replace(setting, tell=tell, measured=results.records))
    _check_cells(cells, results)
    missing = [cell for cell in cells if not results.has(cell.key)]
    state = replace(state, done=len(cells) - len(missing), total=len(cells))
    for cell in missing:
        state = replace(state, what=_named(cell.key))
        listener(state)
        if run is None:
            run = Run.begin(setting.workers)
            manifests.write(results.path.parent, before.with_run(run))
        records, seconds = _timed(cell)
        results.add(cell.key, records)
        run = run.after(seconds)
        about = before.with_run(run)
        manifests.write(results.path.parent, about)
        state = replace(state, done=state.done + 1, measured=run.cells, seconds=run.seconds)
    listener(replace(state, what=""))
    return about


def _timed(cell: Cell) -> tuple[list[Record], float]:
    """A cell's records, and the seconds they took."""
    start = time.perf_counter()
    records = list(cell.measure())
    return records, time.perf_counter() - start


def _named(key: Mapping[str, Scalar]) -> str:
    """The key of a cell as text: "d = 64, solver plain"."""
    return ", ".join(
        f"{column} {value}" if isinstance(value, str) else f"{column} = {_short(value)}"
        for column, value in key.items()
    )


def _short(value: Scalar) -> str:
    """A value as text, floats in six digits."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _results(figure: Experiment, folder: Path) -> ResultsFile:
    """The saved measurements of a figure."""
    return ResultsFile(folder / f"{figure.name}.csv", figure.keys)


def _extend_setting(setting: Setting, out: Path) -> None:
    """Raise if the folder holds results of another setting, unless this one only adds sizes."""
    here = settings.stored(setting)
    manifest_of = {name: manifests.read(out / name) for name in FIGURES}
    before = {name: about for name, about in manifest_of.items() if about is not None}
    for about in before.values():
        if differing := settings.differences(about.setting, here):
            if settings.is_extended(about.setting, here):
                continue
            raise InputError(
                f"'{out}' holds another run: {differing}. Nothing was changed: choose another "
                "--out, or remove that folder."
            )
    for name, about in before.items():
        if about.setting != here:
            figure = experiment(name)
            results = _results(figure, out / name)
            is_complete = all(results.has(cell.key) for cell in figure.cells(setting))
            manifests.write(out / name, about.extended(setting, is_complete))


def _check_cells(cells: Sequence[Cell], results: ResultsFile) -> None:
    """Raise if the file holds cells that are not of this figure: they would be drawn with it."""
    known = {tuple(sorted(cell.key.items())) for cell in cells}
    for key in results.cells():
        if tuple(sorted(key.items())) not in known:
            raise InputError(
                f"'{results.path}' holds a measurement that this version of sinkdist does not take "
                f"({_named(key)}). Choose another --out, or remove that file."
            )
