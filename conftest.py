"""For the tests of both distributions: settings of hypothesis, data sets, the command line."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("SINKDIST_QUIET", "1")  # no line on stderr while kernels are compiled

# A first call compiles, so the time of one example says nothing. The same examples are drawn every
# time: a failure belongs to the change at hand. The random search is the fuzzer's.
settings.register_profile(
    "sinkdist",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)
settings.load_profile("sinkdist")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests on large data sets when nobody said where these are."""
    if os.environ.get("SINKDIST_DATA"):
        return
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason="SINKDIST_DATA is not set"))


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `sinkdist` with arguments; gives the exit code, stdout and stderr."""
    from sinkdist.cli import main

    # A first call compiles, and on a busy machine for longer than it takes to write of progress.
    monkeypatch.setattr("sinkdist.scale.bar.SECONDS_BETWEEN_LINES", 1e9)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sinkdist", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the large data sets; for tests marked `data`."""
    return Path(os.environ["SINKDIST_DATA"])
