"""Adding an option, a member, a ground or a solver touches at most four places, as written down.

An option and a member are added in `tests/problem/test_options.py` and
`tests/solvers/test_members.py`; a ground and a solver here.
"""

import re
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.ground.gibbs import Gibbs
from sinkdist.ground.metric import MetricCheck
from sinkdist.inputs.fingerprints import digest
from sinkdist.solvers.compiled.relaxation import FOREVER
from sinkdist.solvers.table import SOLVERS, Solver
from tests.problems import sparse_histograms

ROOT = Path(__file__).parents[2]
MOST_PLACES = 4


def recipe(what):
    """The paragraph of ARCHITECTURE.md that says how to add something."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.split("## How to add\n")[1].split("\n## ")[0]
    (found,) = re.findall(rf"^- \*\*{what}\*\*: (.*?)(?=^- \*\*|\Z)", section, re.M | re.S)
    return found


@pytest.mark.parametrize("what", ["An option", "A member of the family", "A ground", "A solver"])
def test_at_most_four_places_are_written_down(what):
    places = [int(number) for number in re.findall(r"\((\d)\)", recipe(what))]
    assert places == list(range(1, len(places) + 1)) and 1 <= len(places) <= MOST_PLACES


@pytest.mark.parametrize("what", ["An option", "A member of the family", "A ground", "A solver"])
def test_what_is_written_down_exists(what):
    """Files and folders that a paragraph names are there."""
    paths = re.findall(r"`((?:\w+/)+(?:\w+\.py)?\w*)`", recipe(what))
    assert paths
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "src" / "sinkdist" / path).exists(), path


class Ring:
    """An operator that a test adds: bins around a circle, and no matrix between calls."""

    def __init__(self, bins, unit=1.0):
        self.bins, self.unit = bins, unit
        self.shape, self.nbytes = (bins, bins), 8 * bins**2
        self.min, self.max = 0.0, (bins // 2) / unit
        self.is_symmetric, self.diagonal = True, np.zeros(bins)

    @cached_property
    def median(self):
        return float(np.median(self.block()))

    @property
    def fingerprint(self):
        return digest([np.array([self.bins, self.unit])], "ring")

    def at(self, rows, columns):
        way = np.abs(rows - columns)
        return np.minimum(way, self.bins - way) / self.unit

    def block(self, rows=None, columns=None):
        everything = np.arange(self.bins)
        rows = everything if rows is None else rows
        columns = everything if columns is None else columns
        return self.at(np.asarray(rows)[:, None], np.asarray(columns))

    def mean_costs(self, rows):
        return rows @ self.block()

    def kernel(self, lam, dtype):
        return Gibbs(self.block(), float(lam), dtype, self.max)

    def scaled(self, unit):
        return Ring(self.bins, self.unit * unit)

    has_matrix = True

    def matrix(self):
        return self.block()

    def check_metric(self):
        return MetricCheck(True, "A metric by construction.")

    def refusal(self, what, instead):
        return InputError(f"{what}: {instead}")


@pytest.mark.parametrize("asked", [{"lam": 2.0}, {"lam": 60.0}, {"alpha": 0.3}, {"lam": np.inf},
                                   {"lam": 0.0}, {"lam": 2.0, "iterations": 7}])  # fmt: skip
def test_a_new_ground_is_one_operator(asked):
    """Every verb and member works on it, with the numbers of the matrix."""
    ground, X = sd.Ground._made(Ring(12), "ring"), sparse_histograms(5, 12, 3)
    same = sd.Ground(ground.matrix)
    np.testing.assert_allclose(
        sd.pairwise(X, ground=ground, **asked), sd.pairwise(X, ground=same, **asked), atol=1e-9
    )
    mine, other = (sd.solve(X[0], X[1:], g, **asked) for g in (ground, same))
    np.testing.assert_allclose(mine.value, other.value, atol=1e-9)
    np.testing.assert_allclose(mine.emd_bounds, other.emd_bounds, atol=1e-9)
    np.testing.assert_allclose(mine.plan, other.plan, atol=1e-6)
    half = {"lam": 2.0 * asked["lam"], **{k: v for k, v in asked.items() if k != "lam"}} if (
        "lam" in asked) else asked  # fmt: skip
    scaled = sd.distance(X[0], X[1], ground.scaled(2.0), **half)
    assert 2.0 * scaled == pytest.approx(sd.distance(X[0], X[1], ground, **asked), abs=1e-6)


def test_a_new_solver_is_one_entry(monkeypatch):
    """It is asked for by its name, listed in the error for others, and answers every verb."""
    patient = Solver("patient", "relaxed sweeps, however many", FOREVER, "newton")
    monkeypatch.setitem(SOLVERS, "patient", patient)
    X = sparse_histograms(4, 9, 1)
    ground = sd.Ground.grid(3, 3)
    found = sd.pairwise(X, ground=ground, lam=4.0, solver="patient", tol=1e-9)
    np.testing.assert_allclose(found, sd.pairwise(X, ground=ground, lam=4.0, tol=1e-9), atol=1e-8)
    assert sd.solve(X[0], X[1], ground, lam=4.0, solver="patient").solver in ("plain", "relaxed")
    with pytest.raises(ValueError, match="'patient'"):
        sd.distance(X[0], X[1], ground, lam=8.0, solver="impatient")
