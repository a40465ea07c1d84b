"""A wheel, installed in an empty environment, runs the README's first example.

Slow: an environment is made and filled; pip needs an index, or a cache, to install what we need.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.behaviour.test_readme import README, examples

ROOT = README.parent

pytestmark = pytest.mark.slow


def run(*command, **options):
    """A command that has to succeed; what it wrote."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--quiet", "--wheel-dir", out, ROOT)
    (found,) = Path(out).glob("sinkdist-*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "sinkdist/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"sinkdist"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc"))]
    assert wheel.stat().st_size < 2_000_000


def test_the_wheel_in_an_empty_environment_runs_the_first_example(wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    if not python.exists():
        python = tmp_path / "empty" / "Scripts" / "python.exe"
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel)
    session = tmp_path / "first_example.txt"
    session.write_text(examples(README.read_text(encoding="utf-8"))[0][1], encoding="utf-8")
    clean = {"PATH": "/usr/bin:/bin", "SINKDIST_QUIET": "1"}
    run(python, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", session, cwd=tmp_path, env=clean)
    where = run(python, "-c", "import sinkdist; print(sinkdist.__file__)", cwd=tmp_path, env=clean)
    assert str(tmp_path) in where
