"""What a call costs before any arithmetic: import, first calls, and the overhead of small problems.

Targets: ``import sinkdist`` under 50 ms; a first call with compiled code on disk under 1 s;
compiling everything on an empty cache under 15 s; under 50 us per call at d = 32 above the
arithmetic. Each start is a process of its own, with a cache folder of its own.

Cold starts on an empty cache are in processor seconds of the whole process, import included, which
other work on the machine changes less than the time on the clock: one pair 4 s, pairs of one
family or two 5 s, the hard constraint and the exact distance 8 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks import ours
from benchmarks.problems import PairKey, pair
from benchmarks.table import Row, Section, show
from benchmarks.timing import Contestant, race

IMPORT = """
import time; start = time.perf_counter()
import sinkdist
print(time.perf_counter() - start)
"""
FIRST_CALL = """
import time
import numpy as np
M = np.abs(np.subtract.outer(np.arange(32.0), np.arange(32.0))); M /= np.median(M)
r, c = np.random.default_rng(0).dirichlet(np.ones(32), 2)
import sinkdist as sd
start = time.perf_counter()
sd.distance(r, c, M, lam=9.0)
print(time.perf_counter() - start)
"""
# Every verb, both types, fixed counts and tolerances, one pair and many, weak to very strong.
EVERYTHING = """
import time, warnings
import numpy as np
M = np.abs(np.subtract.outer(np.arange(64.0), np.arange(64.0))); M /= np.median(M)
X = np.random.default_rng(0).dirichlet(np.ones(64), 40)
X[1::2, ::3] = 0.0; X /= X.sum(axis=1, keepdims=True)
import sinkdist as sd
start = time.perf_counter()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for dtype in ("float64", "float32"):
        H = X.astype(dtype); H /= H.sum(axis=1, keepdims=True)
        for lam in (1.0, 9.0, 50.0, 200.0, 2000.0):
            sd.solve(H[0], H[1], M, lam=lam, dtype=dtype).emd_bounds
            sd.distance(H[0], H[1:], M, lam=lam, dtype=dtype)
        sd.distance(H[0], H[1], M, lam=9.0, iterations=20, dtype=dtype)
        sd.distance(H[0], H[1:], M, lam=9.0, iterations=20, dtype=dtype)
        sd.pairwise(H, ground=M, lam=9.0, iterations=20, dtype=dtype)
        sd.pairwise(H, ground=M, lam=9.0, dtype=dtype)
        sd.pairwise(H[:20], H[20:], ground=M, lam=9.0, dtype=dtype)
print(time.perf_counter() - start)
"""

# First calls on an empty cache and their limits, in processor seconds.
SMALL = """
import numpy as np
bins = np.random.default_rng(0).uniform(size=(32, 2))
M = np.hypot(*(bins[:, None] - bins).transpose(2, 0, 1)); M /= np.median(M)
X, Y = np.random.default_rng(1).dirichlet(np.ones(32), (2, 4))
import sinkdist as sd
"""
COLD = {
    ("distance", 4.0): "sd.distance(X[0], Y[0], M, lam=9.0)",
    ("pairwise of two families", 5.0): "sd.pairwise(X, Y, ground=M, lam=9.0)",
    ("pairwise of one family", 5.0): "sd.pairwise(X, ground=M, lam=9.0)",
    ("pairwise with alpha", 8.0): "sd.pairwise(X, ground=M, alpha=0.1)",
    ("exact distance", 8.0): "sd.distance(X[0], Y[0], M, lam=float('inf'))",
}
PROCESSOR_TIME = "import time; print(time.process_time())"


def cold_starts(repeats: int) -> dict[tuple[str, float], float]:
    """Processor seconds of each first call; the best of some, each on an empty cache."""
    found = {}
    for (name, limit), call in COLD.items():
        script = "\n".join((SMALL, call, PROCESSOR_TIME))
        times = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                times.append(clocked(script, cache))
        found[f"{name}, empty cache, processor time", limit] = min(times)
    return found


def clocked(script: str, cache: str) -> float:
    """The seconds a script prints, run in a new process with this folder as Numba's cache."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NUMBA_CACHE_DIR": cache, "SINKDIST_QUIET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def overhead(turns: int) -> float:
    """Seconds per call at d = 32 that do not grow with the number of iterations.

    The arithmetic of one iteration is the slope between a short and a long fixed count; what is
    left of the short one is the price of the call.
    """
    problem = pair(PairKey("random", 32, 9.0))
    ground = ours.package().Ground(problem.M)
    short, long = 20, 420

    def entry(count: int) -> Contestant:
        return Contestant(
            str(count),
            lambda _: ours.package().distance(
                problem.r, problem.c, ground, lam=problem.lam, iterations=count
            ),
        )

    times = race([entry(short), entry(long)], turns=turns)
    step = (times[str(long)].seconds - times[str(short)].seconds) / (long - short)
    return max(times[str(short)].seconds - short * step, 1e-9)


def measure(quick: bool = False) -> Section:
    """Time the starts; without sinkdist there is nothing to time."""
    title = "Starting up, and small problems"
    if ours.package() is None:
        return Section("startup", title, (), ("Skipped: sinkdist cannot be imported.",))
    repeats = 2 if quick else 5
    with tempfile.TemporaryDirectory() as cache:
        cold = clocked(EVERYTHING, cache)
        found = {
            ("import sinkdist", 0.05): min(clocked(IMPORT, cache) for _ in range(repeats)),
            ("first call, compiled code on disk", 1.0): min(
                clocked(FIRST_CALL, cache) for _ in range(repeats)
            ),
            ("every verb and type, empty cache", 15.0): cold,
            ("one call at d=32, above the arithmetic", 50e-6): overhead(7),
        }
    found |= cold_starts(1 if quick else 3)
    rows = [Row(case, "limit", ours_, limit, 1.0) for (case, limit), ours_ in found.items()]
    remarks = (
        "The ratio is the limit over the time taken; import and first call are the best of "
        f"{repeats} new processes, the empty cache is one run of every verb in both types; "
        "processor time is that of the whole process, import included.",
    )
    return Section("startup", title, tuple(rows), remarks)


if __name__ == "__main__":
    show(measure)
