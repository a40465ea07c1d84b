"""The memory budget: the peak of a whole process stays below what was asked for."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.problems import mnist_20, simplex, sparse_histograms

# Run in a process of its own, whose peak is then its own. `tightest` looks for the smallest budget
# that is accepted, where every byte that was not planned for shows.
SCRIPT = """
import json, sys
import numpy as np
import sinkdist as sd

order = json.loads(sys.argv[1])


class Enough(Exception):
    pass


seen = []


def listen(record):
    seen.append(record)
    if len(seen) == order["tiles"]:
        raise Enough


def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))


def compute(memory):
    try:
        sd.pairwise(
            X, ground=sd.Ground.grid(*order["grid"]).scaled(), out=order["out"], memory=memory,
            workers=order["workers"], progress=listen, **order["options"],
        )
    except Enough:
        pass


X = np.load(order["X"])
memory = order["memory"]
if memory is not None:
    compute(memory)
else:
    memory = kilobytes("VmRSS") * 1000
    while True:
        try:
            compute(memory)
            break
        except sd.InputError as error:
            assert "memory budget" in str(error), error
            memory += 4_000_000
D = sd.open_matrix(order["out"])
print(json.dumps({
    "budget": memory, "peak": 1024 * kilobytes("VmHWM"), "tile": D.summary().tile,
    "pairs": seen[-1].done, "seconds": seen[-1].seconds,
}))
"""


def peak(tmp_path, X, *, memory, tiles, grid=(20, 20), workers=2, **options):
    """Compute some tiles under a budget (None: the tightest); what that took."""
    np.save(tmp_path / "X.npy", X)
    order = {
        "X": str(tmp_path / "X.npy"), "out": str(tmp_path / "D.zarr"), "memory": memory,
        "tiles": tiles, "grid": grid, "workers": workers, "options": options,
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(order)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="reads the peak from /proc"
)


@needs_proc
@pytest.mark.parametrize(
    "options", [{"lam": 9, "iterations": 20, "dtype": "float32"}, {"lam": 9}], ids=str
)
def test_peak_stays_within_the_tightest_budget(tmp_path, options):
    X = sparse_histograms(400, 400, 1)
    took = peak(tmp_path, X, memory=None, tiles=6, **options)
    assert took["peak"] <= took["budget"], took


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"lam": 9, "iterations": 20},
        {"lam": 9, "dtype": "float32"},
        {"lam": 400},
        {"alpha": 0.5},
        {"lam": 0},
        {"lam": 9, "coincidence": True},
        {"reg": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [simplex, sparse_histograms], ids=["dense", "sparse"])
def test_peak_of_every_member(tmp_path, make, options):
    took = peak(tmp_path, make(1000, 400, 1), memory=None, tiles=3, **options)
    assert took["peak"] <= took["budget"], took


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 8])
def test_peak_with_other_numbers_of_workers(tmp_path, workers):
    X = simplex(300, 900, 1)
    took = peak(
        tmp_path, X, memory=None, tiles=9, grid=(30, 30), workers=workers, lam=9, iterations=20
    )
    assert took["peak"] <= took["budget"], took


@needs_proc
@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("memory", ["1GB", "4GB", None])
def test_peak_on_mnist(tmp_path, data_folder, capsys, memory):
    """25,000 digits of 20 x 20, 20 iterations in float32: a sample of the tiles."""
    X = mnist_20(data_folder, 25_000).astype(np.float32)
    took = peak(tmp_path, X, memory=memory, tiles=12, lam=9, iterations=20)
    budget = took["budget"] if memory is None else int(memory[0]) * 10**9
    rate, pairs = took["pairs"] / took["seconds"], 25_000 * 25_001 // 2
    with capsys.disabled():
        sys.stdout.write(
            f"\nbudget {memory or budget}: peak {took['peak'] / 1e6:.0f} MB, tiles of "
            f"{took['tile']}, {rate:,.0f} pairs/s, {pairs / rate / 3600:.2f} h for all\n"
        )
    assert took["peak"] <= budget, took
