"""The command that compiles everything beforehand."""

import os
import subprocess
import sys

import numba
import pytest

from sinkdist.cli.warmup import CALLS, warm_up


def test_the_table_is_gone_through_in_both_types():
    names = list(warm_up())
    assert len(names) == 2 * len(CALLS) and len(set(names)) == len(names)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_command_says_how_long_it_took_and_where_the_cache_is():
    """In the cache of the tests, which need not be empty."""
    done = subprocess.run(
        [sys.executable, "-m", "sinkdist", "warmup"], capture_output=True, text=True,
        env={**os.environ, "SINKDIST_QUIET": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Ready in ") and "Compiled code is in /" in done.stdout
