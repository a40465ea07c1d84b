"""This state of the package against an earlier one: the same calls, in turn, as ratios.

``python -m benchmarks.revisions REV`` checks ``REV`` out into a temporary folder and runs both
sides in processes of their own, one after the other, several times over; the best time of each
side counts, and compiling does not. A ratio below 1 means that this state is slower.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent

SCRIPT = """
import json, time
import numpy as np, sinkdist as sd

rng = np.random.default_rng(0)

def random_metric(d):
    Z = rng.normal(size=(d, max(2, d // 10)))
    return sd.Ground.points(Z).scaled()

def best(call, seconds):
    call(); call()
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - start)
    return found

times = {}
for d in (32, 64, 256, 1024):
    ground = random_metric(d)
    r, c = rng.dirichlet(np.ones(d), 2)
    for L in (1, 9, 50, 200):
        times[f"one pair, d = {d}, L = {L}"] = best(
            lambda: sd.distance(r, c, ground, lam=L), SECONDS)
    times[f"solve with bounds, d = {d}, L = 9"] = best(
        lambda: sd.solve(r, c, ground, lam=9).emd_bounds, SECONDS)
    times[f"20 iterations, d = {d}"] = best(
        lambda: sd.distance(r, c, ground, lam=9, iterations=20), SECONDS)
    if d <= 256:
        times[f"alpha = 1, d = {d}"] = best(lambda: sd.distance(r, c, ground, alpha=1.0), SECONDS)
        times[f"exact, d = {d}"] = best(lambda: sd.distance(r, c, ground, lam=np.inf), SECONDS)
grid = sd.Ground.grid(20, 20).scaled()
X = rng.dirichlet(np.full(400, 0.3), 300)
X[X < 1e-3] = 0.0
X /= X.sum(axis=1, keepdims=True)
single = X.astype("f4")
times["all pairs of 300, d = 400, 20 iterations, float32"] = best(
    lambda: sd.pairwise(single, ground=grid, lam=9, iterations=20), 3 * SECONDS)
times["all pairs of 300, d = 400, L = 9"] = best(
    lambda: sd.pairwise(X, ground=grid, lam=9), 3 * SECONDS)
times["one to 300, d = 400, L = 50"] = best(lambda: sd.distance(X[0], X, grid, lam=50), 3 * SECONDS)
times["one to 300, alpha = 1"] = best(lambda: sd.distance(X[0], X, grid, alpha=1.0), 3 * SECONDS)
times["one to 100, exact"] = best(lambda: sd.distance(X[0], X[:100], grid, lam=np.inf), 3 * SECONDS)
print(json.dumps(times))
"""


def measure(source, seconds):
    """The times of one side, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("SECONDS", str(seconds))],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="what to compare with, as git names it")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call and turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "-C", str(HERE), "archive", options.revision, "src"],
            capture_output=True, check=True,
        )  # fmt: skip
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        sides = {"then": Path(folder) / "src", "now": HERE / "src"}
        best = {side: {} for side in sides}
        for _ in range(options.turns):
            for side, source in sides.items():
                for name, time in measure(source, options.seconds).items():
                    best[side][name] = min(time, best[side].get(name, float("inf")))
    print(f"| call | {options.revision} | now | ratio |\n|---|---|---|---|")
    for name, then in best["then"].items():
        now = best["now"][name]
        print(f"| {name} | {1e3 * then:.3g} ms | {1e3 * now:.3g} ms | {then / now:.2f} |")


if __name__ == "__main__":
    main()
