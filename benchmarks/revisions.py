"""This state of the package against an earlier one: the same calls, in turn, as ratios.

``python -m benchmarks.revisions REV`` checks ``REV`` out into a temporary folder and runs both
sides in processes of their own, several times over; the best time of each side counts, and
compiling does not. A ratio below 1 means that this state is slower. ``--rows`` names the rows to
measure: ``overhead`` (one pair of 8 and 32 bins, where arithmetic is the smaller part), ``pairs``,
``families``, ``classic``. Short calls are measured in turn, both processes alive, so that what else
runs on the machine meets both sides alike.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent

#: One side: says which calls it has, then answers each line ``[name, seconds]`` with a time.
SCRIPT = """
import json, sys, time, warnings
import numpy as np, sinkdist as sd
from sinkdist import classic

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
wanted, calls = sys.argv[1:], {}

def random_metric(d):
    Z = rng.normal(size=(d, max(2, d // 10)))
    return sd.Ground.points(Z).scaled()

def best(call, seconds):
    call()
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - start)
    return found

def overhead(d):
    ground = random_metric(d)
    costs = np.array(ground.matrix)
    r, c = rng.dirichlet(np.ones(d), 2)
    gaps = np.where(np.arange(d) % 3 > 0, r, 0.0) / r[np.arange(d) % 3 > 0].sum()
    single = r.astype("f4"), c.astype("f4")
    few, some = rng.dirichlet(np.ones(d), 4), rng.dirichlet(np.ones(d), 30)
    name = f"d = {d}: "
    calls[name + "distance"] = lambda: sd.distance(r, c, ground, lam=9.0)
    calls[name + "distance, a plain matrix"] = lambda: sd.distance(r, c, costs, lam=9.0)
    calls[name + "distance, bins without mass"] = lambda: sd.distance(gaps, c, ground, lam=9.0)
    calls[name + "distance, float32"] = lambda: sd.distance(*single, ground, lam=9.0)
    calls[name + "distance, 5 iterations"] = lambda: sd.distance(
        r, c, ground, lam=9.0, iterations=5)
    calls[name + "solve"] = lambda: sd.solve(r, c, ground, lam=9.0)
    calls[name + "solve with bounds"] = lambda: sd.solve(r, c, ground, lam=9.0).emd_bounds
    calls[name + "distance, alpha = 1"] = lambda: sd.distance(r, c, ground, alpha=1.0)
    calls[name + "solve, alpha = 1"] = lambda: sd.solve(r, c, ground, alpha=1.0)
    calls[name + "pairwise of 4"] = lambda: sd.pairwise(few, ground=ground, lam=9.0)
    calls[name + "pairwise of 30, alpha = 1"] = lambda: sd.pairwise(
        some, ground=ground, alpha=1.0)

def pairs(d):
    ground = random_metric(d)
    r, c = rng.dirichlet(np.ones(d), 2)
    for L in (1, 9, 50, 200):
        calls[f"one pair, d = {d}, L = {L}"] = lambda L=L: sd.distance(r, c, ground, lam=L)
    calls[f"solve with bounds, d = {d}, L = 9"] = lambda: sd.solve(r, c, ground, lam=9).emd_bounds
    calls[f"20 iterations, d = {d}"] = lambda: sd.distance(r, c, ground, lam=9, iterations=20)
    if d <= 256:
        calls[f"alpha = 1, d = {d}"] = lambda: sd.distance(r, c, ground, alpha=1.0)
        calls[f"exact, d = {d}"] = lambda: sd.distance(r, c, ground, lam=np.inf)

def families():
    grid = sd.Ground.grid(20, 20).scaled()
    X = rng.dirichlet(np.full(400, 0.3), 300)
    X[X < 1e-3] = 0.0
    X /= X.sum(axis=1, keepdims=True)
    single = X.astype("f4")
    calls["all pairs of 300, d = 400, 20 iterations, float32"] = lambda: sd.pairwise(
        single, ground=grid, lam=9, iterations=20)
    calls["all pairs of 300, d = 400, L = 9"] = lambda: sd.pairwise(X, ground=grid, lam=9)
    calls["one to 300, d = 400, L = 50"] = lambda: sd.distance(X[0], X, grid, lam=50)
    calls["one to 300, alpha = 1"] = lambda: sd.distance(X[0], X, grid, alpha=1.0)
    calls["one to 100, exact"] = lambda: sd.distance(X[0], X[:100], grid, lam=np.inf)

def classics():
    X, Y = rng.dirichlet(np.ones(400), (2, 1000))
    sparse = np.where(X > 0.003, X, 0.0)
    sparse /= sparse.sum(axis=1, keepdims=True)
    for name in ("chi2", "total_variation", "hellinger", "euclidean"):
        call = getattr(classic, name)
        calls[f"{name}, 1000 x 1000, d = 400"] = lambda call=call: call(X, Y)
        calls[f"{name}, float32"] = lambda call=call, x=X.astype("f4"), y=Y.astype("f4"): call(x, y)
        calls[f"{name}, few bins with mass"] = lambda call=call: call(sparse)
        calls[f"{name}, 4 x 4"] = lambda call=call: call(X[:4])

if "overhead" in wanted:
    for d in (8, 32):
        overhead(d)
if "pairs" in wanted:
    for d in (32, 64, 256, 1024):
        pairs(d)
if "families" in wanted:
    families()
if "classic" in wanted:
    classics()
print(json.dumps(list(calls)), flush=True)
for line in sys.stdin:
    name, seconds = json.loads(line)
    print(json.dumps(best(calls[name], seconds)), flush=True)
"""

ROWS = ("overhead", "pairs", "families", "classic")


class Side:
    """One state of the package, in a process of its own."""

    def __init__(self, source, rows):
        environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *rows], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment,
        )  # fmt: skip
        self.calls = self._answer()

    def measure(self, call, seconds):
        """The best time of a call."""
        self.process.stdin.write(json.dumps([call, seconds]) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("One side has ended; see its traceback above.")
        return json.loads(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="what to compare with, as git names it")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each call and turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "-C", str(HERE), "archive", options.revision, "src"],
            capture_output=True, check=True,
        )  # fmt: skip
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        sides = [Side(source, options.rows) for source in (Path(folder) / "src", HERE / "src")]
        print(f"| call | {options.revision} | now | ratio |\n|---|---|---|---|")
        for call in sides[0].calls:
            times = [float("inf")] * len(sides)
            for _ in range(options.turns):
                for k, side in enumerate(sides):
                    times[k] = min(times[k], side.measure(call, options.seconds))
            then, now = times
            row = f"| {call} | {1e3 * then:.3g} ms | {1e3 * now:.3g} ms | {then / now:.2f} |"
            print(row, flush=True)
        for side in sides:
            side.close()


if __name__ == "__main__":
    main()
