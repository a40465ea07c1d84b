"""Figures 1, 3, 4 and 5: what is measured is right, drawings show it, claims are judged by it."""

import math
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import sinkdist as sd
from sinkdist import InputError
from sinkdist.api.advice import formula, iterations_for
from sinkdist_paper import fig1, fig3, fig4, fig5
from sinkdist_paper.emd_solvers import SOLVERS, UnavailableError
from sinkdist_paper.fig4 import contestants, stopwatch
from sinkdist_paper.figure import Setting
from sinkdist_paper.samplers import random_metric, uniform_simplex
from sinkdist_paper.textbook import algorithm1, algorithm1_columns
from tests import naive

QUICK = Setting("digits", (300,), True, Path("unused"))
PACKAGES = {"Rubner": "cv2", "FastEMD": "pyemd", "POT": "ot"}
WIDE, NARROW = 9.0, 4.6  # inches


def measured(experiment, wanted=lambda key: True, setting=QUICK):
    """The records of those cells that are wanted."""
    return [
        {**cell.key, **record}
        for cell in experiment.cells(setting)
        if wanted(cell.key)
        for record in cell.measure()
    ]


def drawn(experiment, records, width=WIDE):
    """The figure, drawn to the end: layout and all."""
    figure = Figure(figsize=(width, 5.0), layout="constrained")
    experiment.draw(records, figure)
    figure.draw_without_rendering()
    return figure


def words(figure):
    """All texts in a figure."""
    return " | ".join(text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text")))


def verdicts(experiment, records):
    """Which claims hold, in order."""
    return [claim.verdict.name for claim in experiment.claims(records)]


def changed(records, where, **values):
    """The records, with other values in those that ``where`` picks."""
    return [{**record, **values} if where(record) else record for record in records]


# ------------------------------------------------------------------------------------- samplers


def test_histograms_are_uniform_on_the_simplex():
    X = uniform_simplex(40_000, 3, np.random.default_rng(0))
    np.testing.assert_allclose(X.sum(axis=1), 1)
    np.testing.assert_allclose(X.mean(axis=0), 1 / 3, atol=0.005)
    # the share of a small triangle is the square of its side
    for side in (0.2, 0.5, 0.7):
        assert np.mean(X[:, 0] > 1 - side) == pytest.approx(side**2, abs=0.01)


def test_random_metrics_are_those_of_the_paper():
    M = random_metric(60, np.random.default_rng(1))
    assert sd.Ground(M).is_metric
    assert np.median(M) == 1.0 and not np.diag(M).any()
    gram = -0.5 * (np.eye(60) - 1 / 60) @ M**2 @ (np.eye(60) - 1 / 60)
    assert np.linalg.matrix_rank(gram, tol=1e-8) == 6  # points in dimension d / 10
    np.testing.assert_array_equal(M, random_metric(60, np.random.default_rng(1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: uniform_simplex(0, 3, rng), "'n' and 'd' must be at least 1. Got 0 and 3"),
        (lambda rng: random_metric(1, rng), "'d' must be at least 2"),
    ],
)
def test_samplers_refuse_what_has_no_meaning(call, message):
    with pytest.raises(InputError, match=message):
        call(np.random.default_rng(0))


# ------------------------------------------------------------------------------------ Algorithm 1


def test_algorithm_1_is_the_papers():
    rng = np.random.default_rng(2)
    M, (r, c) = random_metric(20, rng), uniform_simplex(2, 20, rng)
    r[3] = 0.0
    r /= r.sum()
    value, iterations = algorithm1(M, 5.0, r, c)
    again = naive.algorithm1(M.tolist(), 5.0, r.tolist(), c.tolist(), iterations)
    assert value == pytest.approx(again.value, rel=1e-12)
    assert iterations > 2

    def x(steps):  # x = 1/u, and f = log(u) / lam
        f = naive.algorithm1(M.tolist(), 5.0, r.tolist(), c.tolist(), steps).f
        return np.exp(-5.0 * np.array(f)[r > 0])

    changes = [np.linalg.norm(x(n) - x(n - 1)) for n in range(2, iterations + 1)]
    assert changes[-1] <= 0.01 < min(changes[:-1])


def test_columns_are_counted_as_they_are_alone():
    rng = np.random.default_rng(3)
    M, R, C = random_metric(30, rng), uniform_simplex(6, 30, rng), uniform_simplex(6, 30, rng)
    together = algorithm1_columns(M, 9.0, R.T, C.T)
    alone = [algorithm1(M, 9.0, r, c) for r, c in zip(R, C, strict=True)]
    assert together.iterations.tolist() == [iterations for _, iterations in alone]
    np.testing.assert_allclose(together.values, [value for value, _ in alone], rtol=1e-10)
    assert together.stopped.all() and len(set(together.iterations)) > 1
    r = np.where(R[0] < 0.01, 0.0, R[0])
    one = algorithm1_columns(M, 9.0, r / r.sum(), C.T)
    assert one.iterations[0] == algorithm1(M, 9.0, r / r.sum(), C[0])[1]


def test_pairs_that_do_not_come_to_rest_are_given_up():
    rng = np.random.default_rng(4)
    M, R, C = random_metric(30, rng), uniform_simplex(3, 30, rng), uniform_simplex(3, 30, rng)
    run = algorithm1_columns(M, 9.0, R.T, C.T, most=4)
    assert not run.stopped.any() and run.iterations.tolist() == [4, 4, 4]
    assert algorithm1(M, 9.0, R[0], C[0], most=4)[0] == pytest.approx(run.values[0], rel=1e-12)


# ----------------------------------------------------------------------------------------- rivals


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("d", [12, 100])
def test_solvers_find_the_emd(name, d):
    pytest.importorskip(PACKAGES[name])
    rng = np.random.default_rng(d)
    M, (r, c) = random_metric(d, rng), uniform_simplex(2, d, rng)
    exact = sd.distance(r, c, M, lam=math.inf)
    assert SOLVERS[name].prepare(r, c, M)() == pytest.approx(exact, rel=2e-5)


def test_fastemd_is_not_another_name_of_pot(monkeypatch):
    pytest.importorskip("pyemd")
    import ot

    def refuse(*args, **options):
        raise AssertionError("POT was called")

    for name in ("emd", "emd2"):
        monkeypatch.setattr(ot, name, refuse)
    rng = np.random.default_rng(0)
    assert SOLVERS["FastEMD"].prepare(*uniform_simplex(2, 20, rng), random_metric(20, rng))() > 0


@pytest.mark.parametrize("name", SOLVERS)
def test_a_missing_package_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(UnavailableError, match=rf"cannot be imported: .*{PACKAGES[name]}"):
        SOLVERS[name].prepare(np.ones(1), np.ones(1), np.zeros((1, 1)))


# --------------------------------------------------------------------------------------- figure 1


@pytest.fixture(scope="module")
def polytope():
    return measured(fig1.EXPERIMENT)


def test_the_polytope_is_one(polytope):
    corners = [record for record in polytope if record["what"] == "vertex"]
    assert len(corners) == 6
    best = min(corners, key=lambda record: record["value"])
    optimum = next(record for record in polytope if record["what"] == "optimum")
    assert [best[p] for p in ("p1", "p2", "p3")] == pytest.approx(
        [optimum[p] for p in ("p1", "p2", "p3")], abs=1e-9
    )
    for record in polytope:  # all points are tables with the right sums
        row = np.array([record["p1"], record["p2"], record["p3"]])
        assert row.sum() == pytest.approx(0.45, abs=1e-9)
        assert (row > -1e-9).all() and (row < np.array([0.28, 0.42, 0.3]) + 1e-9).all()


def test_surfaces_are_at_their_radius(polytope):
    surface = [record for record in polytope if record["what"] == "surface"]
    assert all(record["kl"] <= record["radius"] + 1e-9 for record in surface)
    inner = [record for record in surface if record["radius"] == 0.02]
    assert [record["kl"] for record in inner] == pytest.approx([0.02] * len(inner), abs=1e-9)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_figure_1(polytope, width):
    figure = drawn(fig1.EXPERIMENT, polytope, width)
    for word in ("P*", "r c$^T$", "U(r, c)", "α = 0.1", "radius α of the ball", "EMD"):
        assert word in words(figure)
    left, right = figure.axes
    assert len(left.lines) == 3 + 3 + 1 + 2  # surfaces, best tables, path, two points
    curve = right.lines[0].get_ydata()
    assert curve[0] == pytest.approx(0.5807) and curve[-1] == pytest.approx(0.326)


def test_claims_of_figure_1(polytope):
    assert verdicts(fig1.EXPERIMENT, polytope) == ["HOLDS", "HOLDS", "HOLDS"]
    off = changed(polytope, lambda r: r["what"] == "best" and r["radius"] == 0.1, kl=0.2)
    assert verdicts(fig1.EXPERIMENT, off) == ["FAILS", "HOLDS", "HOLDS"]
    cheaper = changed(polytope, lambda r: r["what"] == "surface" and r["p1"] > 0.2, value=0.0)
    assert verdicts(fig1.EXPERIMENT, cheaper) == ["FAILS", "HOLDS", "HOLDS"]
    high = changed(polytope, lambda r: r["what"] == "optimum", value=0.3)
    assert verdicts(fig1.EXPERIMENT, high) == ["HOLDS", "FAILS", "FAILS"]
    assert fig1.EXPERIMENT.claims([]) == []
    (view,) = fig1.EXPERIMENT.views(polytope)
    assert len(view.rows) == 5 and view.rows[0][0] == "0.02"


# --------------------------------------------------------------------------------------- figure 3


def gap_records(converged, fixed=None):
    """Made-up records: medians for each lambda."""
    fixed = converged if fixed is None else fixed
    return [
        {
            "lam": lam, "solution": how, "low": 0.5 * m, "q25": 0.8 * m, "median": m,
            "q75": 1.2 * m, "high": 2 * m, "least": 0.1 * m, "most": 3 * m, "mean": m,
            "pairs": 1600,
        }
        for how, medians in (("converged", converged), ("20 iterations", fixed))
        for lam, m in medians.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def gaps():
    return measured(fig3.EXPERIMENT, lambda key: key["lam"] in (1, 9, 50))


def test_gaps_are_those_of_the_verbs(gaps):
    from sinkdist_paper import data

    images = data.load("digits", 80, 0)
    X = images.histograms.astype(float)
    X /= X.sum(axis=1, keepdims=True)
    emd = sd.pairwise(X[:40], X[40:], ground=images.ground, lam=math.inf)
    few = sd.pairwise(
        X[:40], X[40:], ground=images.ground, lam=50 / images.ground.median, iterations=20
    )
    found = next(r for r in gaps if r["lam"] == 50 and r["solution"] == "20 iterations")
    assert found["median"] == pytest.approx(np.median(few / emd - 1))
    assert found["pairs"] == 1600
    assert found["least"] <= found["low"] <= found["q25"] <= found["median"] <= found["high"]
    assert found["median"] < 0 < next(r for r in gaps if r["lam"] == 50)["least"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_figure_3(gaps, width):
    figure = drawn(fig3.EXPERIMENT, gaps, width)
    left, right = figure.axes
    assert left.get_yscale() == "log" and right.get_yscale() == "linear"
    for axes in (left, right):
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "9", "50"]
        assert len(axes.patches) == 3  # boxes
    assert "the paper: about 10 %" in words(figure)


def test_claims_of_figure_3(gaps):
    assert verdicts(fig3.EXPERIMENT, gaps) == ["HOLDS", "FAILS", "HOLDS"]
    papers = gap_records({1: 2.0, 9: 0.4, 50: 0.12, 100: 0.1})
    assert verdicts(fig3.EXPERIMENT, papers) == ["HOLDS", "HOLDS", "HOLDS"]
    rising = gap_records({1: 0.2, 9: 0.05, 50: 0.3})
    assert verdicts(fig3.EXPERIMENT, rising) == ["IN_PART", "FAILS", "FAILS"]
    without = gap_records({1: 2.0, 50: 0.001}, {1: 2.0, 50: -0.2})
    assert verdicts(fig3.EXPERIMENT, without) == ["HOLDS", "FAILS", "OPEN"]
    assert "-20%" in fig3.EXPERIMENT.claims(without)[1].measured
    assert fig3.EXPERIMENT.claims([]) == []
    (view,) = fig3.EXPERIMENT.views(gaps)
    assert len(view.rows) == 6


# --------------------------------------------------------------------------------------- figure 4


def timing(solver, lam, d, seconds, state="timed"):
    """A made-up record."""
    record = {"solver": solver, "lam": lam, "d": d, "draw": 0, "state": state}
    timed = {"seconds": seconds, "iterations": 5, "value": 1.0, "error": 0.0}
    return record | (timed if state == "timed" else {})


def timings(rubner, fastemd, pot, printed, family, gpu=None):
    """Made-up records at one dimension."""
    inf = math.inf
    records = [
        timing("Rubner", inf, 512, rubner), timing("FastEMD", inf, 512, fastemd),
        timing("POT", inf, 512, pot), timing("sinkdist, lam=inf", inf, 512, pot),
    ]  # fmt: skip
    for lam in (1.0, 9.0):
        records += [
            timing(contestants.PRINTED, lam, 512, printed),
            timing(contestants.PAIR, lam, 512, printed),
            timing(contestants.FAMILY, lam, 512, family),
        ]
        if gpu is not None:
            records.append(timing(contestants.GPU, lam, 512, gpu))
    return records


@pytest.fixture(scope="module")
def times():
    return measured(fig4.EXPERIMENT, lambda key: key["d"] <= 128 and key["draw"] == 0)


def test_all_contestants_are_timed(times):
    for d in (64, 128):
        mine = [record for record in times if record["d"] == d]
        timed = {(r["solver"], r["lam"]) for r in mine if r["state"] == "timed"}
        wanted = {(s, lam) for s in contestants.SINKHORN[:3] for lam in (1.0, 9.0)}
        assert wanted | {("POT", math.inf), ("sinkdist, lam=inf", math.inf)} <= timed
        for record in mine:
            if record["state"] == "timed":
                assert 0 < record["seconds"] < 5
                exact = record["lam"] == math.inf
                assert abs(record["error"]) < 1e-4 if exact else record["error"] > 0.05


def test_pair_and_printed_lines_find_the_same(times):
    for lam in (1.0, 9.0):
        values = [
            record["value"]
            for record in times
            if record["d"] == 64 and record["lam"] == lam
            and record["solver"] in (contestants.PRINTED, contestants.PAIR)
        ]  # fmt: skip
        assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_figure_4(times, width):
    figure = drawn(fig4.EXPERIMENT, times, width)
    (axes,) = figure.axes
    assert axes.get_yscale() == "log" and axes.get_xlabel() == "dimension d"
    for label in ("EMD: POT", "sinkdist, in a family, λ = 9", "sinkdist, one pair, λ = 1"):
        assert label in words(figure)
    line = next(line for line in axes.lines if line.get_label() == "EMD: POT")
    assert list(line.get_xdata()) == [64, 128]


def test_a_rival_that_is_absent_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    records = measured(fig4.EXPERIMENT, lambda key: key == {"d": 64, "draw": 0})
    states = {record["solver"]: record["state"] for record in records}
    assert states["Rubner"] == "not installed" and states["POT"] == "timed"
    row = next(row for row in fig4.EXPERIMENT.views(records)[0].rows if row[0] == "EMD: Rubner")
    assert row[1] == "not installed"
    assert "Rubner" not in words(drawn(fig4.EXPERIMENT, records))


def test_the_slow_are_not_run_further():
    probed = []

    def probe(name, d):
        probed.append((name, d))
        return d / 100

    patience = stopwatch.Patience(2.0, (64, 128, 256, 512), probe)
    patience.note("fast", 64, 0.1)
    assert patience.allows("fast", 128) and not probed
    assert patience.allows("new", 256) and probed == [("new", 64), ("new", 128)]
    assert not patience.allows("new", 512)
    patience.note("slow", 64, 3.0)
    assert not patience.allows("slow", 512) and ("slow", 128) not in probed
    assert patience.allows("slow", 64)


class Clock:
    """A clock that goes on only when somebody works."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def work(self, *seconds):
        """A function that works for these seconds, call by call, and for the last ever after."""
        left = list(seconds)

        def run():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


def test_the_race_keeps_the_best_turn_per_distance(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(stopwatch, "time", clock)
    calls = {
        "family": stopwatch.Call(clock.work(5.0, 2.0, 6.0), clock.work(100.0), distances=2),
        "slow": stopwatch.Call(clock.work(30.0, 1.0)),
        "quick": stopwatch.Call(clock.work(0.004, 0.004, 0.001, 0.004)),
    }
    seconds = stopwatch.race(calls, turns=3, budget=20.0)
    assert seconds["family"] == pytest.approx(1.0)  # what comes before is not timed
    assert seconds["slow"] == pytest.approx(30.0)  # no second turn
    assert seconds["quick"] == pytest.approx(0.001)  # several runs in a turn


def test_a_slow_solver_is_run_once(monkeypatch):
    runs = []

    def slow(r, c, M):
        def solve():
            runs.append(len(r))
            time.sleep(0.6)  # more than the budget of the quick version
            return 1.0

        return solve

    monkeypatch.setitem(SOLVERS, "Rubner", replace(SOLVERS["Rubner"], prepare=slow))
    records = measured(fig4.EXPERIMENT, lambda key: key == {"d": 64, "draw": 0})
    (mine,) = [record for record in records if record["solver"] == "Rubner"]
    assert runs == [64] and 0.6 <= mine["seconds"] < 5 and mine["value"] == 1.0


def test_claims_of_figure_4():
    papers = timings(1.0, 20.0, 2.0, 1e-3, 1e-4)
    assert verdicts(fig4.EXPERIMENT, papers) == ["HOLDS", "HOLDS", "HOLDS", "OPEN"]
    today = timings(0.2, 1.0, 0.005, 1e-3, 1e-4)
    assert verdicts(fig4.EXPERIMENT, today) == ["HOLDS", "FAILS", "FAILS", "OPEN"]
    family = timings(0.2, 1.0, 0.05, 1e-3, 1e-4)
    assert verdicts(fig4.EXPERIMENT, family)[1] == "IN_PART"  # 500 times in a family, 50 alone
    one = timings(0.02, 1.0, 0.01, 1e-3, 1e-3)
    assert verdicts(fig4.EXPERIMENT, one)[0] == "IN_PART"  # against FastEMD only
    close = timings(0.02, 0.05, 0.01, 1e-3, 1e-3)
    assert verdicts(fig4.EXPERIMENT, close) == ["FAILS", "FAILS", "FAILS", "OPEN"]
    gpu = timings(1.0, 1.0, 1.0, 1e-3, 1e-3, gpu=1e-5)
    assert verdicts(fig4.EXPERIMENT, gpu)[-1] == "HOLDS"
    assert verdicts(fig4.EXPERIMENT, timings(1.0, 1.0, 1.0, 1e-3, 1e-3, gpu=5e-4))[-1] == "FAILS"
    assert "1,000 times as long as Algorithm 1" in fig4.EXPERIMENT.claims(gpu)[0].measured
    assert fig4.EXPERIMENT.claims([]) == []


def test_the_line_on_a_device():
    torch = pytest.importorskip("torch")
    problem = contestants.Problem.draw(40, 6, (0,))
    one = contestants.on_device(torch, "cpu", 9.0, 7, problem)
    wanted = sd.distance(problem.r, problem.c, problem.costs, lam=9.0, iterations=7)
    assert one.value == pytest.approx(wanted, rel=1e-9) and one.call.distances == 6


# --------------------------------------------------------------------------------------- figure 5


def counted(counts, on="simplex", error=1e-4, advised=10_000):
    """Made-up records: a count for each lambda and dimension."""
    return [
        {
            "on": on, "d": d, "lam": lam, "draw": 0, "iterations": count, "stopped": 1,
            "error": error, "advised": advised, "advised_error": error,
        }
        for (lam, d), count in counts.items()
        for _ in range(3)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def counts():
    return measured(fig5.EXPERIMENT, lambda key: key["draw"] == 0 and key["d"] <= 128)


def test_counts_are_those_of_algorithm_1(counts):
    rng = np.random.default_rng((0, 64, 0))
    M = random_metric(64, rng)
    R, C = uniform_simplex(10, 64, rng), uniform_simplex(10, 64, rng)
    mine = [
        r for r in counts if (r["on"], r["d"], r["lam"]) == ("simplex", 64, 9)
    ]  # fmt: skip
    alone = [algorithm1(M, 9.0, r, c) for r, c in zip(R, C, strict=True)]
    assert [record["iterations"] for record in mine] == [n for _, n in alone]
    limit = sd.distance(R, C, M, lam=9.0, tol=1e-10)
    errors = np.abs(np.array([value for value, _ in alone]) / limit - 1)
    np.testing.assert_allclose([record["error"] for record in mine], errors, rtol=0.05)
    assert {record["advised"] for record in mine} == {iterations_for(9, M)}


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_figure_5(counts, width):
    figure = drawn(fig5.EXPERIMENT, counts, width)
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    for lam in (1, 5, 9, 15, 25):
        assert f"λ = {lam}" in words(figure)
    nine = next(line for line in axes.lines if line.get_label() == "λ = 9")
    middle = [
        np.median([r["iterations"] for r in counts if r["lam"] == 9 and r["d"] == d])
        for d in (128,)
    ]
    assert nine.get_ydata()[1] == middle[0]


def test_claims_of_figure_5(counts):
    assert verdicts(fig5.EXPERIMENT, counts)[0] == "HOLDS"
    images = counted({(1, 400): 3, (9, 400): 9}, on="images")
    steady = counted({(1, 64): 2, (1, 128): 2, (9, 64): 90, (9, 128): 80})
    assert verdicts(fig5.EXPERIMENT, steady + images) == ["HOLDS", "HOLDS", "HOLDS"]
    falling = counted({(1, 64): 20, (1, 128): 20, (9, 64): 9, (9, 128): 9})
    assert verdicts(fig5.EXPERIMENT, falling + images) == ["FAILS", "IN_PART", "HOLDS"]
    with_d = counted({(1, 64): 2, (1, 128): 90, (9, 64): 90, (9, 128): 900})
    assert verdicts(fig5.EXPERIMENT, with_d + images) == ["HOLDS", "FAILS", "HOLDS"]
    rough = counted({(1, 400): 3}, on="images", error=0.1)
    assert verdicts(fig5.EXPERIMENT, steady + rough) == ["HOLDS", "HOLDS", "IN_PART"]
    few = counted({(1, 64): 2, (9, 64): 90}, advised=50)
    assert verdicts(fig5.EXPERIMENT, few + images)[2] == "IN_PART"
    assert verdicts(fig5.EXPERIMENT, few + rough)[2] == "FAILS"
    assert fig5.EXPERIMENT.claims([]) == [] and fig5.EXPERIMENT.views([]) == []


@pytest.mark.parametrize(
    ("largest", "verdict"),
    [(2.0, "HOLDS"), (3.8, "HOLDS"), (4.0, "IN_PART"), (12.4, "IN_PART"), (200.0, "FAILS")],
)
def test_how_much_the_dimension_may_matter(largest, verdict):
    # at lambda = 1, medians differ by largest / 2; at each d, by a factor of 1,000 between lambdas
    counts = {(1, 64): 2, (1, 128): largest, (9, 64): 2_000, (9, 128): 1_000 * largest}
    images = counted({(1, 400): 3}, on="images")
    claim = fig5.EXPERIMENT.claims(counted(counts) + images)[1]
    assert claim.verdict.name == verdict and f"{largest / 2:.1f} at 1" in claim.measured


def test_counts_that_were_cut_off_are_lower_bounds():
    counts = counted({(1, 64): 2, (1, 128): 2, (9, 64): 2_000, (9, 128): 5_000})
    for record in counts:
        record["stopped"] = int(record["iterations"] < 5_000)
    claim = fig5.EXPERIMENT.claims(counts + counted({(1, 400): 3}, on="images"))[1]
    assert "1.0 at 1, at least 2.5 at 9" in claim.measured


def test_iterations_that_rise_at_some_dimensions_only():
    images = counted({(1, 400): 3}, on="images")
    counts = counted({(1, 64): 2, (9, 64): 90, (1, 128): 20, (9, 128): 9})
    claim = fig5.EXPERIMENT.claims(counts + images)[0]
    assert claim.verdict.name == "IN_PART" and "at 1 of 2 d" in claim.measured


def test_tables_of_figure_5(counts):
    medians, bought = fig5.EXPERIMENT.views(counts)
    assert medians.head == ("lambda", "d = 64", "d = 128")
    assert [row[0] for row in medians.rows] == ["1", "5", "9", "15", "25"]
    assert [row[0] for row in bought.rows] == ["random, all d"] * 5 + ["images"] * 5


def test_fits_cover_what_they_are_fitted_to():
    needed = {1: 3, 5: 9, 9: 40, 15: 200}
    records = counted({(lam, 64): count for lam, count in needed.items()})
    a, b, c, largest = fig5.fit(records)
    assert largest == 15
    for lam, count in needed.items():
        assert count <= formula(lam, a, b, c) <= 2 * count + 1
    unsettled = [r | {"lam": 50, "iterations": 10_000, "stopped": 0} for r in records]
    assert fig5.fit(records + unsettled) == (a, b, c, 15.0)
    with pytest.raises(InputError, match="three or more values of lambda"):
        fig5.fit(records[:3])


@pytest.mark.parametrize("experiment", [m.EXPERIMENT for m in (fig1, fig3, fig4, fig5)])
def test_keys_name_cells(experiment):
    for quick in (True, False):
        cells = experiment.cells(Setting("digits", (300,), quick, Path("unused")))
        assert all(tuple(cell.key) == experiment.keys for cell in cells)
        assert len({tuple(cell.key.values()) for cell in cells}) == len(cells)
