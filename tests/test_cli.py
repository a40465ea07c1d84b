"""The command line, as a user meets it: its help, its version, and its mistakes in one sentence."""

import subprocess
import sys

import pytest

import sinkdist
from sinkdist.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `sinkdist` with arguments; gives the exit code, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sinkdist", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run


def test_version(command):
    assert command("--version") == (0, f"sinkdist {sinkdist.__version__}\n", "")


def test_help_has_an_example_and_the_commands(command):
    code, out, _ = command("--help")
    assert code == 0
    assert "Example: sinkdist demo" in out
    assert "handwritten digits" in out


def test_demo_help_names_its_options(command):
    code, out, _ = command("demo", "--help")
    assert code == 0
    assert all(option in out for option in ("--out", "--n", "--workers", "sinkdist-demo"))


def test_runs_as_a_module():
    arguments = [sys.executable, "-m", "sinkdist", "--version"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout == f"sinkdist {sinkdist.__version__}\n"


def test_asking_for_help_imports_no_compiler():
    code = "import sys, sinkdist.cli; print({'numba', 'sklearn', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("n", [0, 19, 1798])
def test_wrong_number_of_digits(command, tmp_path, n):
    code, out, err = command("demo", "--n", n, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == f"Error: 'n' must be between 20 and 1797. Got {n} instead.\n"
    assert not (tmp_path / "new").exists()


def test_folder_that_cannot_be_made(command, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = command("demo", "--n", 20, "--out", tmp_path / "file" / "folder")
    assert (code, out) == (2, "")
    assert err.startswith("Error: The folder ")
    assert err.endswith("cannot be made: Not a directory.\n")


@pytest.mark.parametrize(
    "arguments",
    [("demo", "--n", "many"), ("demo", "--workers", "0"), ("demo", "--out", __file__), ("dome",)],
)
def test_mistaken_arguments(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert "Usage:" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("module", "package"),
    [("sklearn.datasets", "scikit-learn"), ("matplotlib.figure", "matplotlib")],
)
def test_missing_extra_is_named(command, monkeypatch, tmp_path, module, package):
    for name in [name for name in sys.modules if name.startswith("sinkdist.demo")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = command("demo", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == f'Error: {package} is not installed: run pip install "sinkdist[demo]".\n'
    assert not (tmp_path / "new").exists()
