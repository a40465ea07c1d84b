"""Dense clouds of points without a matrix, against OTT-JAX's PointCloud.

``python -m benchmarks.clouds [--quick] [--write]``: 10,000 points in the unit cube, Euclidean
costs, ``L`` over the median cost as lam, all bins with mass: uniform noise times two bumps. One
thread unless it says two, L1 error 1e-4. Accuracy is judged on what is returned, by direct sums
that share no code with the solver. OTT is timed by the iteration (the difference of two runs) in
both of its modes; ours by the whole solve. How many iterations OTT needs is found by plain sweeps
of our own in double precision, which are the same iterations.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import sinkdist as sd

RESULTS = Path(__file__).parent / "results"
TOL, DIMENSION = 1e-4, 3


def problem(points):
    """Points, two histograms, the ground."""
    rng = np.random.default_rng(0)
    z = rng.random((points, DIMENSION))
    sides = [rng.random(points) * np.exp(-12 * ((z - a) ** 2).sum(axis=1)) for a in (0.3, 0.7)]
    r, c = (x / x.sum() for x in sides)
    return z, r, c, sd.Ground.points(z)


def error_by_sums(s, z, r, c, lam):
    """The L1 error of both marginals by direct sums over all pairs, in blocks."""
    from scipy.spatial.distance import cdist

    f, g = s.potentials
    rows, columns = np.zeros(r.size), np.zeros(c.size)
    for start in range(0, r.size, 500):
        some = slice(start, start + 500)
        P = np.exp(lam * (f[some, None] + g - cdist(z[some], z)))
        rows[some], columns = P.sum(axis=1), columns + P.sum(axis=0)
    return np.abs(rows - r).sum() + np.abs(columns - c).sum()


def timed(call, clock=time.process_time):
    """The result of a call and the time that it took."""
    start = clock()
    found = call()
    return found, clock() - start


def ott_iteration(z, r, c, lam, log):
    """Seconds of one iteration of OTT's PointCloud, whose kernel is not stored."""
    import jax
    import jax.numpy as jnp
    from ott.geometry import costs, pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    jax.config.update("jax_enable_x64", True)
    points = jnp.asarray(z)
    asked = pointcloud.PointCloud(points, points, cost_fn=costs.EuclideanP(p=1.0), epsilon=1 / lam)
    linear = linear_problem.LinearProblem(asked, jnp.asarray(r), jnp.asarray(c))

    def run(count):
        solver = jax.jit(
            sinkhorn.Sinkhorn(
                lse_mode=log, min_iterations=count, max_iterations=count, inner_iterations=count
            )
        )
        solver(linear).f.block_until_ready()  # compiles
        return timed(lambda: solver(linear).f.block_until_ready())[1]

    return run(2) - run(1)


def measure(quick):
    """Lines of the table."""
    lines = [
        "| case | sinkdist | error by sums | two threads | OTT, an iteration | of its log mode "
        "| iterations | OTT in all |",
        "|---|---|---|---|---|---|---|---|",
    ]
    points = 9000 if quick else 10_000
    z, r, c, ground = problem(points)
    sd.solve(r, c, ground, lam=1.0, tol=1e-1)  # compiles
    for L in (50,) if quick else (10, 50):
        lam = L / ground.median
        s, took = timed(lambda lam=lam: sd.solve(r, c, ground, lam=lam, tol=TOL, workers=1))
        clock = time.perf_counter
        one, two = (
            timed(lambda w=w, lam=lam: sd.solve(r, c, ground, lam=lam, tol=TOL, workers=w), clock)[
                1
            ]
            for w in (1, 2)
        )
        error = error_by_sums(s, z, r, c, lam)
        assert s.converged and error <= TOL * 1.01, (s, error)
        plain, log = (ott_iteration(z, r, c, lam, mode) for mode in (False, True))
        needed = sd.solve(r, c, ground, lam=lam, tol=TOL, solver="plain", workers=1).n_iter
        whole = needed * min(plain, log)
        lines.append(
            f"| {points:,} points, L = {L} | {took:.2f} s, {s.n_iter} sweeps | {error:.1e} "
            f"| {one:.2f} s -> {two:.2f} s | {plain:.2f} s | {log:.2f} s | {needed} "
            f"| {whole:.0f} s = {whole / took:.0f}x |"
        )
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description="Dense clouds of points against OTT.")
    parser.add_argument("--quick", action="store_true", help="9,000 points at L = 50 only")
    parser.add_argument("--write", action="store_true", help="write results/clouds.md")
    asked = parser.parse_args()
    lines = measure(asked.quick)
    if asked.write:
        head = (
            f"# Clouds of points\n\nsinkdist {sd.__version__}, `python -m benchmarks.clouds`, "
            f"{time.strftime('%Y-%m-%d')}. Times are those of the processor on one thread, except "
            "for two threads, where the clock on the wall counts. OTT in all: its quicker mode, an "
            "iteration times the iterations that plain sweeps take to the same error.\n\n"
        )
        (RESULTS / "clouds.md").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
