"""Judging one problem: cheap checks always, dear ones in rotation."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tests.fuzz import answers as ask
from tests.fuzz import checks, same, truths

#: How often a dear check is made: every so many problems, and then at which one of these.
ROTATION = {
    "emd_bounds_hold": (2, 0),
    "bracket_holds": (4, 1),
    "gap_holds": (8, 3),
    "steps_are_the_papers": (1, 0),
    "again": (5, 0),
    "distance_is_solve": (2, 1),
    "alone_as_in_company": (1, 0),
    "solved_alone_as_in_company": (2, 0),
    "any_number_of_workers": (8, 2),
    "turned": (5, 3),
}
MANY_BINS = 40  #: beyond which the dear ones are made ten times more rarely


@dataclass
class Verdict:
    """Violations as ``(check, sentence)``, and questions that no oracle could answer."""

    violations: list = field(default_factory=list)
    skipped: Counter = field(default_factory=Counter)
    checked: Counter = field(default_factory=Counter)

    def run(self, name, check, *args):
        """Make a check, and keep what it says."""
        self.checked[name] += 1
        try:
            self.violations += [(name, sentence) for sentence in check(*args)]
        except truths.Skip as skip:
            self.skipped[f"{name}, {skip}"] += 1


def examine(problem, only=None):
    """All checks that are due, or the one called ``only``."""

    def due(name):
        if only is not None:
            return name == only
        every, at = ROTATION[name]
        every *= 10 if max(problem.M.shape) > MANY_BINS else 1
        return problem.index % every == at % every

    verdict = Verdict()
    before = [x.copy() for x in (problem.R, problem.C, problem.M)]
    heard, found = ask.solve(problem)
    verdict.run("raises", _raises, problem, heard)
    if heard.raised or problem.is_refused:
        return verdict
    if only in (None, "warnings_tell"):
        verdict.run("warnings_tell", checks.warnings_tell, heard, [x.status for x in found])
    for k, answer in enumerate(found):
        for check in checks.CHECKS:
            if only in (None, check.__name__):
                verdict.run(check.__name__, check, problem, k, answer)
    k = problem.index % len(found)
    truth = truths.Truth(problem, k)
    for check in truths.TRUTHS:
        if due(check.__name__):
            verdict.run(check.__name__, check, problem, k, found[k], truth)
    for check in same.SAME:
        if due(check.__name__):
            verdict.run(check.__name__, check, problem, found)
    verdict.run("unchanged", _unchanged, problem, before)
    return verdict


def _raises(problem, heard):
    refused = heard.raised.startswith("InputError") and "float32" in heard.raised
    if problem.is_refused and not refused:
        yield f"costs up to {problem.M.max()} are beyond float32, and nothing is said"
    if heard.raised and not problem.is_refused:
        yield f"solve raises {heard.raised}"


def _unchanged(problem, before):
    after = (problem.R, problem.C, problem.M)
    if not all(np.array_equal(x, y) for x, y in zip(before, after, strict=True)):
        yield "the input was written to"
