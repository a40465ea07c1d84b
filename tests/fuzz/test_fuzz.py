"""The fuzzer itself: each check can fail, runs go on where they stopped, failures become small."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.fuzz import answers, checks, history, judge, problems, reproduction, run, same, truths
from tests.fuzz.problems import Problem
from tests.fuzz.progress import Progress

M = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
R, C = np.array([[0.5, 0.3, 0.2]]), np.array([[0.1, 0.0, 0.9]])
LAM = Problem(R, C, M, {"lam": 3.0})
ALPHA = Problem(R, C, M, {"alpha": 0.05})
EXACT = Problem(R, C, M, {"lam": float("inf")})
FIXED = Problem(R, C, M, {"lam": 3.0, "iterations": 7})


def solved(problem):
    heard, (answer,) = answers.solve(problem)
    assert not heard.raised and not heard.warnings
    return answer


def complaints(check, problem, answer):
    if check in truths.TRUTHS:
        return list(check(problem, 0, answer, truths.Truth(problem, 0)))
    return list(check(problem, 0, answer))


def _moved_mass(plan):
    plan = plan.copy()
    plan[0, 0] -= 1e-5
    plan[0, 2] += 1e-5
    return plan


def _with(array, at, number):
    array = array.copy()
    array[at] = number
    return array


TAMPERED = [
    (checks.finite, LAM, lambda a: {"value": float("nan")}),
    (checks.finite, LAM, lambda a: {"bracket": (0.0, float("inf"))}),
    (checks.finite, LAM, lambda a: {"f": _with(a.f, 0, -np.inf)}),
    (checks.finite, LAM, lambda a: {"g": _with(a.g, 1, 0.0)}),
    (checks.non_negative, LAM, lambda a: {"gap": -1e-300}),
    (checks.non_negative, LAM, lambda a: {"plan": _with(a.plan, (0, 0), -1e-300)}),
    (checks.error_is_the_plans, LAM, lambda a: {"error": a.error + 1e-8}),
    (checks.error_is_the_plans, LAM, lambda a: {"plan": 1.0001 * a.plan}),
    (checks.value_is_the_plans, LAM, lambda a: {"value": a.value * (1 + 1e-11)}),
    (checks.value_is_the_plans, LAM, lambda a: {"plan": _moved_mass(a.plan)}),
    (checks.status_is_honest, LAM, lambda a: {"plan": _moved_mass(a.plan)}),
    (checks.status_is_honest, LAM, lambda a: {"status": "FIXED"}),
    (checks.status_is_honest, LAM, lambda a: {"status": "EMPTY"}),
    (checks.status_is_honest, FIXED, lambda a: {"status": "CONVERGED"}),
    (checks.proof_is_narrow, ALPHA, lambda a: {"bracket": (a.value * (1 - 2e-6), a.value)}),
    (checks.proof_is_narrow, EXACT, lambda a: {"bracket": (a.value * (1 - 2e-6), a.value)}),
    (checks.constraint_holds, ALPHA, lambda a: {"plan": solved(EXACT).plan}),
    (checks.ordered, LAM, lambda a: {"bounds": a.bounds[::-1]}),
    (checks.ordered, LAM, lambda a: {"bracket": (a.value * 1.1, a.value * 1.2)}),
    (checks.lam_as_asked, LAM, lambda a: {"lam": np.nextafter(3.0, 4.0)}),
    (checks.cap_holds, LAM, lambda a: {"n_iter": 10_061}),
    (truths.emd_bounds_hold, LAM, lambda a: {"bounds": (a.bounds[1], a.bounds[1] + 1.0)}),
    (truths.emd_bounds_hold, EXACT, lambda a: {"bounds": (0.0, a.bounds[0])}),
    (truths.bracket_holds, LAM, lambda a: {"bracket": (a.value * (1 + 1e-5), 9.0)}),
    (truths.bracket_holds, ALPHA, lambda a: {"bracket": (a.value * (1 + 1e-5), 9.0)}),
    (truths.bracket_holds, EXACT, lambda a: {"bracket": (0.0, a.value * (1 - 1e-13))}),
    (truths.gap_holds, LAM, lambda a: {"plan": np.outer(R[0], C[0])}),
    (truths.steps_are_the_papers, FIXED, lambda a: {"value": a.value * (1 + 1e-7)}),
]


@pytest.mark.parametrize(("check", "problem", "tampering"), TAMPERED)
def test_a_check_is_content_and_can_fail(check, problem, tampering):
    answer = solved(problem)
    assert complaints(check, problem, answer) == []
    assert complaints(check, problem, replace(answer, **tampering(answer)))


def test_every_check_is_tampered_with_and_has_its_turn():
    assert {check for check, *_ in TAMPERED} == set(checks.CHECKS) | set(truths.TRUTHS)
    dear = {check.__name__ for check in (*truths.TRUTHS, *same.SAME)}
    assert set(judge.ROTATION) == dear


def test_warnings_are_held_against_the_status():
    short = answers.Heard(None, ("ConvergenceWarning: 1 of 1",))
    noise = answers.Heard(None, ("RuntimeWarning: overflow",))
    silence = answers.Heard(None)
    assert not list(checks.warnings_tell(short, ["MAX_ITER", "CONVERGED"]))
    assert not list(checks.warnings_tell(silence, ["CONVERGED", "FIXED"]))
    assert list(checks.warnings_tell(silence, ["STALLED"]))
    assert list(checks.warnings_tell(short, ["CONVERGED"]))
    assert list(checks.warnings_tell(noise, ["CONVERGED"]))


# -------------------------------------------------------------------- the same question again


def _changing(monkeypatch, name):
    """Let every second call of `answers.distance` or `answers.solve` be a little off."""
    real, calls = getattr(answers, name), Counter()

    def off(problem, **more):
        heard, found = real(problem, **more)
        calls["all"] += 1
        factor = 1 + 1e-11 * (calls["all"] % 2)
        if name == "distance":
            return heard, [x * factor for x in found]
        return heard, [
            replace(x, value=x.value * factor, bracket=(x.bracket[0] + factor, x.bracket[1] + 9))
            for x in found
        ]

    monkeypatch.setattr(answers, name, off)


BATCH = Problem(R, np.vstack([C, R, C]), M, {"lam": 3.0}, "one to many")


@pytest.mark.parametrize(
    ("check", "verb"),
    [
        (same.again, "distance"),
        (same.distance_is_solve, "distance"),
        (same.alone_as_in_company, "distance"),
        (same.any_number_of_workers, "distance"),
        (same.solved_alone_as_in_company, "solve"),
        (same.turned, "solve"),
    ],
)
def test_a_changed_bit_is_seen(check, verb, monkeypatch):
    _, found = answers.solve(BATCH)
    assert list(check(BATCH, found)) == []
    _changing(monkeypatch, verb)
    assert list(check(BATCH, found))


def test_exact_distances_are_compared_to_twelve_digits(monkeypatch):
    _, found = answers.solve(EXACT)
    found = [replace(x, value=x.value * (1 + 1e-11)) for x in found]
    assert any("exact distance" in sentence for sentence in same.turned(EXACT, found))


def test_another_order_must_give_the_same_bits():
    assert list(history.compare([{3: ["0x1p0"]}, {3: ["0x1p0"]}])) == []
    assert list(history.compare([{3: ["0x1p0"]}, {3: ["0x1.0000000000001p0"]}]))
    forth, back, turned = history.orders(history.sample(400, without=[100]))
    assert 100 not in forth and forth == back[::-1] and sorted(turned) == forth


def test_exceptions_and_written_input_are_findings(monkeypatch):
    def broken(problem, **more):
        problem.M[0, 0] = 5.0
        raise ZeroDivisionError("no")

    problem = replace(LAM, M=M.copy())
    monkeypatch.setattr(answers.sd, "solve", lambda *args, **options: broken(problem))
    assert judge.examine(problem).violations == [("raises", "solve raises ZeroDivisionError: no")]
    assert list(judge._unchanged(problem, [R, C, M]))


# ----------------------------------------------------------------------------------- problems


def test_a_problem_is_a_function_of_seed_and_index():
    for index in range(60):
        a, b, other = problems.make(5, index), problems.make(5, index), problems.make(6, index)
        assert a.options == b.options and a.form == b.form
        for x, y in ((a.R, b.R), (a.C, b.C), (a.M, b.M)):
            assert x.dtype == y.dtype and x.tobytes() == y.tobytes()
        assert (a.M.shape, a.M.tobytes()) != (other.M.shape, other.M.tobytes()) or not a.M.any()


def test_problems_cover_what_they_should():
    made = [problems.make(0, index) for index in range(1500)]
    assert {x.form for x in made} == set(problems.FORMS)
    assert {x.kind for x in made} == {
        "penalised", "constrained", "exact", "independence", "fixed"
    }  # fmt: skip
    solvers = {x.options.get("solver") for x in made}
    assert solvers == {None, "plain", "relaxed", "newton", "log"}
    assert {x.dtype.name for x in made} == {"float32", "float64"}
    positive = np.concatenate([x.R[x.R > 0] for x in made if x.R.dtype == float])
    assert positive.min() < 1e-250
    largest = [float(x.M.max()) for x in made]
    assert min(x for x in largest if x) < 1e-150 and max(largest) > 1e150 and 0.0 in largest
    assert any(x.M.shape[0] != x.M.shape[1] for x in made)
    assert any(x.sparse for x in made) and any(x.places is not None for x in made)


def test_histograms_sum_to_one_and_none_is_in_the_twilight():
    for index in range(300):
        problem = problems.make(1, index)
        if "normalize" in problem.options:
            continue
        for X in (problem.R, problem.C):
            np.testing.assert_allclose(X.sum(axis=1), 1, rtol=1e-6)
            assert not ((X > 5e-101) & (X < 4e-100)).any()


# --------------------------------------------------------------------------------------- runs


def test_progress_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "deep" / "progress.jsonl"
    first = Progress(file, 3)
    first.add((0, 25), [("finite", 7, "value is nan")], {"emd": 2}, {"finite": 25})
    with file.open("a") as torn:
        torn.write('{"violation": "finite", "index": 30, "sentence": "x", "chunk": [25, 50]}\n')
        torn.write('{"done": [25, 5')
    again = Progress(file, 3)
    assert again.done == {(0, 25)} and again.problems == 25 and not again.has_history
    assert again.violations == [("finite", 7, "value is nan")]
    assert again.skipped == {"emd": 2} and again.checked == {"finite": 25}
    with pytest.raises(SystemExit, match="another seed"):
        Progress(file, 4)


def test_the_summary_groups_by_check():
    progress = Progress(None, 0)
    found = [("finite", k, "value is nan") for k in range(7)]
    progress.add((0, 2000), found, {}, {"finite": 2000})
    lines = list(run.summary(progress, 0))
    assert "finite: 7 violations in 7 problems (0, 1, 2, 3, 4, ...)" in lines
    assert lines[-1] == "2,000 problems, seed 0: 7 violations"


def test_a_failing_problem_is_made_small():
    """The "check" fails where a cost above 5 meets mass; nothing else matters."""

    class Heavy(reproduction.Trials):
        def fail(self, problem):
            self.sentence = "heavy"
            return bool(((problem.R[0] > 0)[:, None] & (problem.M > 5)).any())

    costs = np.random.default_rng(0).random((6, 6))
    costs[2, 3] = 7.123456
    rows = np.random.default_rng(1).dirichlet(np.ones(6), 3)
    options = {"lam": 1.23456, "tol": 1e-9, "solver": "log"}
    problem = Problem(rows, rows[::-1].copy(), costs, options, "matched")
    small = reproduction.shrink(problem, Heavy("heavy"))
    assert small.form == "one" and small.M.tolist() == [[7.0]]
    assert small.R.tolist() == small.C.tolist() == [[1.0]] and small.options == {"lam": 1.0}
    text = reproduction.script(small, "heavy", "a sentence")
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False,
        env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Solution(value=7" in done.stdout


@pytest.mark.slow
def test_a_short_run_ends_with_its_counts(tmp_path):
    command = [
        sys.executable, "-m", "tests.fuzz", "--count", "30", "--seed", "1", "--processes", "2",
        "--shrink", "1", "--resume", str(tmp_path / "progress.jsonl"),
    ]  # fmt: skip
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "30 problems, seed 1: " in done.stdout.splitlines()[-1], done.stderr
        assert "fuzzer:" not in done.stdout
