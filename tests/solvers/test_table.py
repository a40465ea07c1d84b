"""Solvers by name."""

import pytest

from sinkdist.errors import InputError
from sinkdist.solvers.table import SOLVERS, by_name


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_is_found_by_its_name(name):
    solver = by_name(name)
    assert solver.name == name and solver.fallback in ("newton", "log")
    assert solver.summary and not solver.summary.endswith(".")


@pytest.mark.parametrize("name", ["Auto", "", None, 3, ["auto"]])
def test_other_names_are_answered_with_the_list(name):
    with pytest.raises(InputError) as caught:
        by_name(name)
    assert all(repr(known) in str(caught.value) for known in SOLVERS)
    assert str(caught.value).endswith(f"Got {name!r} instead.")
