"""`sinkdist reproduce`, from the outside: what it measures, keeps, says and refuses."""

import csv
import getpass
import io
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import made_up
import sinkdist
from sinkdist import InputError, InputTypeError
from sinkdist_paper import atomic_io, canvas, run, settings
from sinkdist_paper.progress import ProgressDisplay, Step
from sinkdist_paper.results_csv import ResultsFile

ROOT = Path(__file__).parents[2]
PATHS = (ROOT / "src", ROOT / "reproduction" / "src", ROOT / "reproduction" / "tests")


@pytest.fixture
def measured(monkeypatch):
    """Put made-up figures in the place of the paper's; gives the cells as they are measured."""
    keys = []

    def experiment(name):
        return made_up.figure(name, before=keys.append)

    monkeypatch.setattr(run, "experiment", experiment)
    return keys


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder to work in; messages show bare names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quick(out, **options):
    """The setting of --quick."""
    return settings.asked(out, quick=True, **options)


def go(out, names=("fig4",), **options):
    """Measure made-up figures, without a word."""
    return run.reproduce(names, quick(out, **options), out, progress=False)


# --- the real figure 1


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder in which figure 1 was measured twice by the command; what the two runs left."""
    place = tmp_path_factory.mktemp("paper")
    call = [sys.executable, "-m", "sinkdist", "reproduce", "fig1", "--quick", "--out", "results"]
    runs, states = [], []
    for _ in range(2):
        runs.append(subprocess.run(call, cwd=place, capture_output=True, text=True, check=False))
        files = sorted((place / "results" / "fig1").iterdir())
        states.append({file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in files})
    return place / "results", runs, states


def test_the_command_leaves_files(first):
    out, (done, _), (state, _) = first
    assert done.returncode == 0, done.stderr
    assert set(state) == {"fig1.csv", "fig1.png", "fig1.svg", "manifest.json"}
    assert state["fig1.png"][0].startswith(b"\x89PNG\r\n\x1a\n")
    assert state["fig1.svg"][0].startswith(b"<?xml")
    rows = list(csv.DictReader(io.StringIO(state["fig1.csv"][0].decode())))
    assert {"polytope", "ball", "path", "curve"} == {row["part"] for row in rows}
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_command_says_what_it_does_and_found(first):
    _, (done, _), _ = first
    assert "Figure 1, step 1 of 6: part polytope, radius = 0\n" in done.stderr
    assert re.search(r"Figure 1, all 6 steps: took (\d+ min )?[\d.]+ s\n", done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("Figure 1: ")
    assert len(re.findall(r"^  Holds: ", done.stdout, re.MULTILINE)) == 3
    assert done.stdout.endswith(f"The report: {Path('results', 'report.html')}\n")


def test_nothing_is_measured_twice(first):
    _, (_, again), (before, after) = first
    assert again.returncode == 0
    assert again.stderr == "Figure 1, all 6 steps: measured before\n"
    for name in ("fig1.csv", "manifest.json"):
        assert before[name] == after[name]  # neither content nor time has changed
    assert before["fig1.svg"][0] == after["fig1.svg"][0]
    assert before["fig1.png"][0] == after["fig1.png"][0]


def test_manifest_says_how_to_take_the_measurements_again(first):
    facts = json.loads(first[2][0]["manifest.json"][0])
    assert facts["command"] == "sinkdist reproduce fig1 --quick"
    assert facts["setting"] == {"data": "digits", "sizes": [150, 300], "quick": True, "seed": 0}
    (only,) = facts["runs"]
    assert only["versions"]["sinkdist"] == sinkdist.__version__
    assert only["versions"]["Python"] == platform.python_version()
    assert {"numpy", "POT", "matplotlib"} <= set(only["versions"])
    assert {"processor", "cores", "memory"} <= set(only["machine"])
    assert re.fullmatch(r"commit [0-9a-f]{12}( with uncommitted changes)?|version .+", only["code"])
    assert facts["seconds"] == only["seconds"] > 0
    assert only["cells"] == 6


def test_nobody_is_named(first):
    out = first[0]
    names = {str(out), str(Path.home()), platform.node(), getpass.getuser()} - {"", "/", "root"}
    for file in (out / "report.html", out / "fig1" / "manifest.json", out / "fig1" / "fig1.svg"):
        text = file.read_text(encoding="utf-8")
        assert not [name for name in names if name in text], file


# --- going on


def test_ctrl_c_keeps_what_is_finished(command, place, monkeypatch):
    def stop(key):
        if key["d"] == 16:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "experiment", lambda name: made_up.figure(name, before=stop))
    code, out, err = command("reproduce", "fig4", "--quick", "--out", "results")
    assert (code, out) == (130, "")
    assert err.endswith(
        "Stopped. Finished measurements are kept in 'results': give the same command again to "
        "continue.\n"
    )
    assert not (place / "results" / "report.html").exists()

    keys = []
    monkeypatch.setattr(run, "experiment", lambda name: made_up.figure(name, before=keys.append))
    code, out, err = command("reproduce", "fig4", "--quick", "--out", "results")
    assert code == 0
    assert {key["d"] for key in keys} == {16, 32} and len(keys) == 4
    assert "Figure 4, step 5 of 8: d = 16, solver Sinkhorn, lam = 9\n" in err
    facts = json.loads((place / "results" / "fig4" / "manifest.json").read_text())
    assert [each["cells"] for each in facts["runs"]] == [4, 4]
    assert facts["finished"]


KILLED = """
import sys, time
from pathlib import Path
from sinkdist_paper import run, settings
import made_up

def before(key):
    with open("calls.txt", "a") as file:
        file.write(f"{key['d']} {key['solver']}\\n")
    time.sleep(0.2)

run.experiment = lambda name: made_up.figure(name, before=before)
run.reproduce(["fig4"], settings.asked(Path("out"), quick=True), Path("out"), progress=False)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are another matter there")
def test_a_kill_costs_one_cell_at_most(place):
    paths = os.pathsep.join(map(str, PATHS))
    call = {"cwd": place, "env": {**os.environ, "PYTHONPATH": paths}}
    victim = subprocess.Popen([sys.executable, "-c", KILLED], **call)
    calls, deadline = place / "calls.txt", time.monotonic() + 60
    while time.monotonic() < deadline:
        if calls.exists() and len(calls.read_text().splitlines()) >= 3:
            break
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.wait(10)
    assert victim.returncode == -signal.SIGKILL
    results = ResultsFile(place / "out" / "fig4" / "fig4.csv", ("d", "solver"))
    assert 2 <= len(results.cells()) < 8
    subprocess.run([sys.executable, "-c", KILLED], check=True, **call)
    # All eight, and once more the one that the kill came upon.
    assert 8 <= len(calls.read_text().splitlines()) <= 9
    assert len(set(calls.read_text().splitlines())) == 8
    assert (place / "out" / "report.html").exists()


@pytest.mark.parametrize("lost", [1, 40])
def test_a_torn_line_is_measured_again(place, measured, lost):
    go(place / "out")
    file = place / "out" / "fig4" / "fig4.csv"
    whole_file = file.read_bytes()
    file.write_bytes(whole_file[:-lost])
    measured.clear()
    go(place / "out")
    assert 1 <= len(measured) <= 2
    assert sorted(file.read_bytes().splitlines()) == sorted(whole_file.splitlines())


def test_the_report_has_every_figure_in_the_folder(place, measured):
    go(place / "out", ["fig4"])
    page = go(place / "out", ["fig2"]).read_text(encoding="utf-8")
    assert 'id="fig2"' in page and 'id="fig4"' in page
    assert "sinkdist reproduce fig1 fig3 fig5 --quick" in page  # adds the others
    assert len(measured) == 2 * 8


def test_all_is_all(place, measured, monkeypatch):
    monkeypatch.setattr(canvas, "save", lambda *drawing: None)  # drawing is the same for each
    monkeypatch.setattr(canvas, "svg", lambda *drawing, **width: '<svg viewBox="0 0 4 3"></svg>')
    page = go(place / "out", ["all"]).read_text(encoding="utf-8")
    assert all(f'id="fig{k}"' in page for k in range(1, 6))
    assert "Not measured yet" not in page
    assert len(measured) == 5 * 8


def test_sizes_can_be_added(command, place, measured):
    begin = ["reproduce", "fig4", "fig1", "--out", "results", "--quick", "--n"]
    assert command(*begin, "60,70")[0] == 0
    measured.clear()
    code, _, err = command("reproduce", "fig4", "--out", "results", "--quick", "--n", "60,70,80")
    assert code == 0 and measured == [], err  # these cells do not depend on the sizes
    for name in ("fig1", "fig4"):
        facts = json.loads((place / "results" / name / "manifest.json").read_text())
        assert facts["setting"]["sizes"] == [60, 70, 80] and facts["finished"]
        assert facts["command"].endswith("--n 60,70,80") and len(facts["runs"]) == 1
    code, _, err = command(*begin, "60,80")
    assert code == 2 and "--n is 60,70,80 there and 60,80 here" in err


def unfinished(monkeypatch, is_enough):
    """Made-up figures of which the last cells cannot be measured."""

    def stop(key):
        if key["d"] == 32:
            raise KeyboardInterrupt

    def experiment(name):
        return replace(made_up.figure(name, before=stop), is_enough=is_enough)

    monkeypatch.setattr(run, "experiment", experiment)


def test_what_has_been_measured_can_be_drawn(command, place, monkeypatch):
    unfinished(monkeypatch, lambda records: len(records) >= 8)
    assert command("reproduce", "fig4", "--quick", "--out", "results")[0] == 130
    code, out, err = command("reproduce", "draw", "--out", "results")
    assert code == 0, err
    assert "Holds: Sinkhorn distances are quick." in out
    files = {path.name for path in (place / "results" / "fig4").iterdir()}
    assert {"fig4.svg", "fig4.png"} <= files
    for name in ("report.html", "README.md"):
        text = (place / "results" / name).read_text(encoding="utf-8")
        assert "Not measured completely: 2 cells are missing." in text
    facts = json.loads((place / "results" / "fig4" / "manifest.json").read_text())
    assert not facts["finished"] and facts["runs"][0]["cells"] == 6


def test_too_little_is_not_drawn(command, place, monkeypatch):
    unfinished(monkeypatch, lambda records: False)
    assert command("reproduce", "fig4", "--quick", "--out", "results")[0] == 130
    code, out, err = command("reproduce", "draw", "--out", "results")
    assert (code, out) == (2, "")
    assert err == "Error: There are no measurements to draw in 'results'.\n"
    assert not (place / "results" / "report.html").exists()


# --- refusing


@pytest.mark.parametrize(
    ("options", "differing"),
    [
        (["--quick", "--n", "60,70", "--seed", 1], "--seed is 0 there and 1 here"),
        (["--quick", "--n", "60", "--n", "80"], "--n is 60,70 there and 60,80 here"),
        (["--n", "60,70"], "--quick is on there and off here"),
        (
            ["--quick", "--n", "60,70", "--seed", 2, "--data", "mnist"],
            "--data is digits there and mnist here, and --seed is 0 there and 2 here",
        ),
    ],
)
def test_another_setting_in_the_same_folder(command, place, measured, options, differing):
    begin = ["--quick", "--n", "60,70"]
    assert command("reproduce", "fig4", "--out", "results", *begin)[0] == 0
    before = (place / "results" / "fig4" / "fig4.csv").stat().st_mtime_ns
    measured.clear()
    code, out, err = command("reproduce", "fig1", "--out", "results", *options)
    assert (code, out, measured) == (2, "", [])
    assert err == (
        f"Error: 'results' holds another run: {differing}. Nothing was changed: choose another "
        "--out, or remove that folder.\n"
    )
    assert (place / "results" / "fig4" / "fig4.csv").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fig6"], "Figures are fig1, fig2, fig3, fig4, fig5 and all. Got 'fig6' instead."),
        (
            ["fig1", "--n", "many"],
            "--n must be whole numbers separated by commas, such as 3000,5000. Got 'many' instead.",
        ),
        (
            ["fig1", "--n", "39"],
            "--n must be between 40 and 1,797, the number of images in 'digits'. Got 39 instead.",
        ),
        (
            ["fig1", "--n", "300,60001", "--data", "mnist"],
            "--n must be between 40 and 60,000, the number of images in 'mnist'. Got 60001 "
            "instead.",
        ),
        (["fig1", "--seed", "-1"], "--seed must be 0 or more. Got -1 instead."),
    ],
)
def test_mistakes_are_told_before_any_work(command, place, arguments, sentence):
    assert command("reproduce", *arguments) == (2, "", f"Error: {sentence}\n")
    assert not list(place.iterdir())


@pytest.mark.parametrize("arguments", [(), ("fig1", "--data", "imagenet"), ("fig1", "--seed", "x")])
def test_mistaken_arguments(command, arguments):
    code, _, err = command("reproduce", *arguments)
    assert code == 2
    assert "Usage:" in err and "Traceback" not in err


def test_a_folder_that_cannot_be_made(command, place):
    (place / "file").touch()
    code, out, err = command("reproduce", "fig1", "--quick", "--out", "file")
    assert (code, out) == (2, "")
    assert err == "Error: 'file' cannot be written to: File exists.\n"


def test_one_writer_at_a_time(command, place):
    with atomic_io.held(place / "results"):
        code, out, err = command("reproduce", "fig1", "--quick", "--out", "results")
    assert (code, out) == (2, "")
    assert err == (
        "Error: 'results' is being written by another process. Wait for it, or choose another "
        "--out.\n"
    )


def test_measurements_of_another_version(place, measured, monkeypatch):
    go(place / "out")
    monkeypatch.setattr(run, "experiment", lambda name: made_up.figure(name, sides=(4, 8, 16)))
    with pytest.raises(InputError, match=r"does not take \(d = 32, solver Sinkhorn, lam = 9\)"):
        go(place / "out")
    (place / "out" / "fig4" / "fig4.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="has other columns than this figure writes"):
        go(place / "out")
    (place / "out" / "fig4" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="not a manifest of this version"):
        go(place / "out")


# --- the list of figures and the progress display


def test_list_says_what_is_measured(command, place, measured):
    code, out, _ = command("reproduce", "list")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:5]] == list(run.FIGURES)
    assert all(line.endswith("(not measured yet)") for line in lines[:5])
    assert lines[5] == "There is no folder 'sinkdist-paper' yet."
    go(place / "sinkdist-paper")
    lines = command("reproduce", "list")[1].splitlines()
    assert lines[3].startswith("fig4  Time per distance against the dimension  (measured in ")
    assert lines[2].endswith("(not measured yet)")


def test_list_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['sinkdist', 'reproduce', 'list', '--out', 'nowhere']\n"
        "from sinkdist.cli import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print({'numba', 'sklearn', 'matplotlib', 'cv2', 'ot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:5]] == list(run.FIGURES)
    assert lines[-1] == "set()"


@pytest.mark.parametrize("name", run.FIGURES)
def test_list_knows_the_titles(name):
    figure = run.experiment(name)
    assert (figure.name, figure.title) == (name, run.TITLES[name])


def test_progress_is_told_to_a_function(place, measured):
    steps = []
    run.reproduce(["fig4"], quick(place / "out"), place / "out", progress=steps.append)
    assert all(isinstance(step, Step) for step in steps)
    assert [step.what for step in steps if step.is_remark] == ["a line of text"]
    cells = [step for step in steps if step.what and not step.is_remark]
    assert [(step.done, step.total) for step in cells] == [(k, 8) for k in range(8)]
    assert cells[0].left is None and cells[-1].left > 0
    assert (steps[-1].what, steps[-1].done, steps[-1].measured) == ("", 8, 8)
    with pytest.raises(InputTypeError, match="must be True, False or a function of one Step"):
        run.reproduce(["fig4"], quick(place / "out"), place / "out", progress="yes")


def test_a_terminal_shows_a_bar():
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system=None)
    with ProgressDisplay(console=console) as display:
        display(Step("fig5", "d=64, lam=9", done=6, total=12, measured=4, seconds=1000.0))
        display(Step("fig5", "", done=12, total=12, measured=10, seconds=2000.0))
    shown = console.file.getvalue()
    assert "step 7 of 12: d=64, lam=9; about 25 min 0 s left" in shown
    assert "all 12 steps: took 33 min 20 s" in shown


# --- drawings and the page


def test_drawings_come_from_the_file_alone(place, measured):
    go(place / "one")
    go(place / "two")
    for ending in ("svg", "png"):
        drawn = [(place / out / "fig4" / f"fig4.{ending}").read_bytes() for out in ("one", "two")]
        assert drawn[0] == drawn[1]
    records = ResultsFile(place / "one" / "fig4" / "fig4.csv", ("d", "solver")).records()
    again = canvas.svg(made_up.figure(), records)
    assert again.encode() == (place / "one" / "fig4" / "fig4.svg").read_bytes()


def test_the_page_escapes_and_asks_for_nothing(place, measured):
    page = go(place / "out").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<i>no tag" not in page and "1 &lt; 2 &amp; M<sup>2</sup>" in page
    assert "Long: <all>" not in page and "Long: &lt;all&gt; records" in page
    assert not re.findall(r"https?://|@import|url\(", page)
    links = re.findall(r'(?:href|src|srcset)="([^"]*)"', page)
    files = [link for link in links if not link.startswith(("data:", "#"))]
    assert files and all((place / "out" / link).exists() for link in files)
    assert {link[1:] for link in links if link[0] == "#"} <= set(re.findall(r'id="([^"]+)"', page))


def test_the_page_tells_the_verdicts(place, measured):
    page = go(place / "out").read_text(encoding="utf-8")
    assert (
        "Of 4 claims, 1 holds here, 1 holds in part, 1 does not hold and 1 is not decided." in page
    )
    for words in ("Holds", "Holds in part", "Does not hold", "Not decided here"):
        assert page.count(f"</span>{words}</span>") == 1
    assert "This is the quick version" in page


# --- the measurements in the file


def test_results_reads_back_what_was_written(tmp_path):
    records = [
        {"text": 'a, "b"', "whole": 3, "part": 0.1 + 0.2, "empty": ""},
        {"text": "ünï", "part": float("inf"), "only": -1e-300},
    ]
    results = ResultsFile(tmp_path / "a.csv", ("d", "name"))
    results.add({"d": 2, "name": ""}, records)
    results.add({"d": 4, "name": "x"}, [])
    results.add({"d": 8, "name": "x"}, [{"later": 1}])
    again = ResultsFile(tmp_path / "a.csv", ("d", "name"))
    assert again.records() == results.records()
    assert again.records()[:2] == [{"d": 2, "name": ""} | record for record in records]
    assert isinstance(again.records()[0]["whole"], int)
    assert again.has({"d": 4, "name": "x"}) and not again.has({"d": 2, "name": "x"})
    assert again.cells() == [
        {"d": 2, "name": ""}, {"d": 4, "name": "x"}, {"d": 8, "name": "x"}
    ]  # fmt: skip
    with pytest.raises(ValueError, match="was added before"):
        again.add({"d": 4, "name": "x"}, [])


def test_results_survives_a_cut_anywhere(tmp_path):
    cells = {1: [{"a": 1.5}, {"a": 2.5}], 2: [], 3: [{"a": -1.0}] * 3}
    original = ResultsFile(tmp_path / "whole.csv", ("k",))
    for k, records in cells.items():
        original.add({"k": k}, records)
    content = original.path.read_bytes()
    for length in range(len(content)):
        path = tmp_path / "cut.csv"
        path.write_bytes(content[:length])
        cut = ResultsFile(path, ("k",))
        kept = [k for k in cells if cut.has({"k": k})]
        assert kept == list(cells)[: len(kept)]
        for k in cells:
            if k not in kept:
                cut.add({"k": k}, cells[k])
        assert ResultsFile(path, ("k",)).records() == original.records()
        assert path.read_bytes() == content
