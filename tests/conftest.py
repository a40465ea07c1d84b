"""Shared by all tests: the settings of hypothesis, and the data sets that may not be at hand."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A first call compiles, so the time of one example says nothing. Where changes are checked, the
# same examples are drawn every time: a failure there belongs to the change.
os.environ.setdefault("SINKDIST_QUIET", "1")  # no line on stderr while kernels are compiled

settings.register_profile(
    "sinkdist",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
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


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the large data sets; for tests marked `data`."""
    return Path(os.environ["SINKDIST_DATA"])
