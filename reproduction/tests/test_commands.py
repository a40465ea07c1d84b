"""`sinkdist demo` and `sinkdist reproduce` as plug-ins of the command line, and their mistakes."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import sinkdist


def test_the_commands_are_listed(command):
    code, out, _ = command("--help")
    assert code == 0
    assert "dictionary definitions" in out and "paper's figures" in out
    assert "pip install" not in out


def test_demo_help_names_its_options(command):
    code, out, _ = command("demo", "--help")
    assert code == 0
    assert all(option in out for option in ("--out", "--n", "--workers", "sinkdist-demo"))
    assert "sinkdist demo --n 500 --out pictures" in out


def test_asking_for_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['sinkdist', '--help']\n"
        "from sinkdist.cli import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print({'numba', 'sklearn', 'matplotlib', 'cv2', 'ot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("n", [0, 19, 1798])
def test_wrong_number_of_definitions(command, tmp_path, n):
    code, out, err = command("demo", "--n", n, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == f"Error: 'n' must be between 80 and 1600. Got {n} instead.\n"
    assert not (tmp_path / "new").exists()


def test_folder_that_cannot_be_made(command, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = command("demo", "--n", 80, "--out", tmp_path / "file" / "folder")
    assert (code, out) == (2, "")
    assert err.startswith("Error: The folder ")
    assert err.endswith("cannot be created: Not a directory.\n")


@pytest.mark.parametrize(
    "arguments", [("--n", "many"), ("--workers", "0"), ("--out", __file__), ("--no-such-option",)]
)
def test_mistaken_arguments(command, arguments):
    code, out, err = command("demo", *arguments)
    assert (code, out) == (2, "")
    assert "Usage: sinkdist demo" in err
    assert "Traceback" not in err


def test_types_are_shipped():
    assert (importlib.resources.files("sinkdist_paper") / "py.typed").is_file()


def test_both_distributions_have_one_version():
    assert importlib.metadata.version("sinkdist-paper") == sinkdist.__version__
