"""Fixtures of the tests of sinkdist-paper: the command line, and data sets that may be absent."""

import os
import sys
from pathlib import Path

import pytest

from sinkdist.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `sinkdist` with arguments; gives the exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["sinkdist", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the large data sets; tests that need it are skipped where it is not named."""
    if not os.environ.get("SINKDIST_DATA"):
        pytest.skip("SINKDIST_DATA is not set")
    return Path(os.environ["SINKDIST_DATA"])
