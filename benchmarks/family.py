"""The rest of the family: the hard constraint, the exact distance, and paths along lam.

Targets: one ``d_{M,alpha}`` to relative 1e-4 at most 2.2 times one ``d^lam`` of the same accuracy
at the lam that was found (median over the cases, for a plain matrix and for a prepared ``Ground``);
all pairs of digits with one alpha at most 5 times all pairs with one lam; all pairs of 200 MNIST
digits exactly at least 4 times as fast as a loop over ``ot.emd2``; ten values of lam along a path
at most 2.2 times the cost of the last one alone (median over the cases).
"""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.problems import PairKey, digits, ground, mnist, pair
from benchmarks.table import Row, Section, show
from benchmarks.timing import Contestant, Time, race, with_threads

TITLE = "The family: hard constraint, exact distance, paths"
TOL = 1e-4
SHARES = (0.1, 0.5, 0.9)
BISECTIONS = 20
ONE_LAM = "one lam"


def measure(quick: bool = False) -> Section:
    """Race all four; without sinkdist there is nothing to time."""
    if ours.package() is None:
        return Section("family", TITLE, (), ("Skipped: sinkdist cannot be imported.",))
    sizes = (64, 256) if quick else (64, 256, 1024)
    rows = [*_alpha(sizes), *_alpha_pairs(200 if quick else 1000), *_paths(sizes), *_exact(quick)]
    remarks = (
        "A ratio below 1 says how many times cheaper the other task is: one lam against one alpha, "
        "the last lam against a path of ten. The target is its inverse limit (1 / 2.2, 1 / 5).",
        f"Naive bisection: {BISECTIONS} solves at 1e-4, each halving the bracket of lam.",
        "alpha is a share of the information of the plan at L = 2000; grids and random metrics.",
    )
    return Section("family", TITLE, tuple(rows), remarks)


def _alpha(sizes: tuple[int, ...]) -> list[Row]:
    """One alpha against one lam, and against bisection; the target is on the median."""
    sd = ours.package()
    rows = []
    for kind in ("random", "grid"):
        for d in sizes:
            problem = pair(PairKey(kind, d, 9.0))
            r, c, M = problem.r, problem.c, problem.M
            most = sd.solve(r, c, M, lam=2000.0).alpha
            for share in SHARES:
                alpha = share * most
                lam = sd.solve(r, c, M, alpha=alpha, tol=TOL).lam
                fresh = ours.fresh_ground(M)

                def by_alpha(g: Any, r: Any = r, c: Any = c, alpha: float = alpha) -> Any:
                    return sd.distance(r, c, g, alpha=alpha, tol=TOL)

                def by_lam(g: Any, r: Any = r, c: Any = c, lam: float = lam) -> Any:
                    return sd.distance(r, c, g.forget(), lam=lam, tol=TOL)

                def bisect(
                    g: Any, r: Any = r, c: Any = c, a: float = alpha, lam: float = lam
                ) -> Any:
                    return _bisection(r, c, g, a, 4.0 * lam)

                def plain_alpha(
                    _: Any, r: Any = r, c: Any = c, M: Any = M, a: float = alpha
                ) -> Any:
                    return sd.distance(r, c, M, alpha=a, tol=TOL)

                def plain_lam(_: Any, r: Any = r, c: Any = c, M: Any = M, lam: float = lam) -> Any:
                    return sd.distance(r, c, M, lam=lam, tol=TOL)

                times = race(
                    [
                        Contestant("alpha", by_alpha, fresh),
                        Contestant("one lam", by_lam, fresh),
                        Contestant("plain alpha", plain_alpha),
                        Contestant("plain lam", plain_lam),
                        Contestant("bisection", bisect, fresh),
                    ],
                    budget=3.0,
                )
                case = f"alpha at {share:.0%}, {kind} d={d}"
                took = {name: taken.seconds for name, taken in times.items()}
                rows += [
                    Row(case, ONE_LAM, took["alpha"], took["one lam"]),
                    Row(case, "naive bisection", took["alpha"], took["bisection"]),
                    Row(f"{case}, plain matrix", ONE_LAM, took["plain alpha"], took["plain lam"]),
                ]
    plain = [row for row in rows if row.case.endswith("plain matrix")]
    prepared = [row for row in rows if row not in plain]
    return [
        *rows,
        _median("median of these, prepared ground", prepared, ONE_LAM, 1.0 / 2.2),
        _median("median of these, plain matrix", plain, ONE_LAM, 1.0 / 2.2),
    ]


def _median(case: str, rows: list[Row], against: str, target: float) -> Row:
    """The middle ratio of the rows against one opponent, with a target."""
    ratios = [row.ratio for row in rows if row.against == against and row.ratio is not None]
    return Row(case, against, None, None, target, median=median(ratios))


def _bisection(r: Any, c: Any, g: Any, alpha: float, high: float) -> float:
    """The paper's naive approach: halve the bracket of lam until it is narrow."""
    sd, low, value = ours.package(), 0.0, np.nan
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        solution = sd.solve(r, c, g, lam=middle, tol=TOL)
        value = solution.value
        low, high = (middle, high) if solution.alpha < alpha else (low, middle)
    return float(value)


def _alpha_pairs(n: int) -> list[Row]:
    """All pairs of digits with one alpha, against all pairs with the lam that is typical for it."""
    sd = ours.package()
    X, M = digits(n), ground("grid", 64)
    alpha = float(np.median([sd.solve(X[i], X[-1 - i], M, lam=9.0).alpha for i in range(20)]))
    fresh = ours.fresh_ground(M)
    times = race(
        [
            Contestant("alpha", lambda g: sd.pairwise(X, ground=g, alpha=alpha, tol=TOL), fresh),
            Contestant(
                "one lam", lambda g: sd.pairwise(X, ground=g.forget(), lam=9.0, tol=TOL), fresh
            ),
        ],
        turns=3,
        budget=60.0,
    )
    case = f"all pairs of {n} digits, alpha={alpha:.2f}"
    return [Row(case, ONE_LAM, times["alpha"].seconds, times["one lam"].seconds, 1.0 / 5.0)]


def _paths(sizes: tuple[int, ...]) -> list[Row]:
    """Ten values of lam against the last of them; the target is on the median."""
    sd = ours.package()
    rows = []
    for kind in ("random", "grid"):
        for d in sizes:
            for top in (50.0, 200.0):
                problem = pair(PairKey(kind, d, top))
                lams = np.geomspace(1.0, top, 10)
                fresh = ours.fresh_ground(problem.M)
                times = race(
                    [
                        Contestant(
                            "path", lambda g, p=problem, s=lams: sd.path(p.r, p.c, g, s), fresh
                        ),
                        Contestant(
                            "last",
                            lambda g, p=problem: sd.solve(p.r, p.c, g.forget(), lam=p.lam),
                            fresh,
                        ),
                    ],
                    budget=3.0,
                )
                case = f"path of 10 to L={top:.0f}, {kind} d={d}"
                rows.append(
                    Row(case, "the last alone", times["path"].seconds, times["last"].seconds)
                )
    rows.append(_median("median of the paths", rows, "the last alone", 1.0 / 2.2))
    return rows


def _exact(quick: bool) -> list[Row]:
    """All pairs of MNIST digits against a loop over ``ot.emd2``, and whether values agree."""
    import ot

    n = 40 if quick else 200
    X = mnist(n)
    if X is None:
        print("family: the exact distance is skipped, because SINKDIST_DATA does not hold MNIST.")
        return []
    sd, M = ours.package(), ground("grid", 400)
    X = X / X.sum(axis=1, keepdims=True)
    sample = [(i, j) for i in range(0, n, 10) for j in range(i + 1, n, 3)]

    def loop(_: Any) -> list[float]:
        return [float(ot.emd2(X[i], X[j], M)) for i, j in sample]

    exact = Contestant(
        "exact",
        lambda g: sd.pairwise(X, ground=g, lam=np.inf),
        lambda: sd.Ground.grid(20, 20).scaled(),
    )
    times: dict[str, Time] = race(
        [exact, *with_threads(Contestant("ot.emd2", loop))], turns=2, budget=60.0
    )
    off = max(
        abs(times["exact"].result[i, j] - v)
        for (i, j), v in zip(sample, times["ot.emd2"].result, strict=True)
    )
    pairs = n * (n - 1) // 2
    theirs = times["ot.emd2"].seconds * pairs / len(sample)
    wrong = "" if off <= 1e-9 else f"off by {off:.0e}"
    case = f"exact, all pairs of {n} MNIST digits"
    return [Row(case, "a loop over ot.emd2", times["exact"].seconds, theirs, 4.0, wrong=wrong)]


if __name__ == "__main__":
    show(measure)
