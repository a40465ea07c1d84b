"""One record of options: signatures, facts, flags and the reference all agree with it."""

import inspect
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.cli import options as cli_options
from sinkdist.pairs.reading import problem_of
from sinkdist.problem.options import Options, about, deciding, documented

DOCS = Path(__file__).parents[2] / "docs" / "options.md"
VERBS = {"solve": sd.solve, "distance": sd.distance, "pairwise": sd.pairwise,
         "estimate": sd.estimate,
         "divergence": sd.divergence, "path": sd.path, "neighbors": sd.neighbors,
         "barycenter": sd.barycenter, "solve_barycenter": sd.solve_barycenter}  # fmt: skip
DATA = ("ground", "weights")  # arguments that are no options, but named


def signature_differences(verb, options=Options):
    """What a verb's keyword options and the record do not agree on."""
    taken = {
        name: parameter.default
        for name, parameter in inspect.signature(VERBS[verb]).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in DATA
    }
    known = {
        x.name: x.metadata["defaults"].get(verb, x.default)
        for x in fields(options)
        if verb in x.metadata["verbs"]
    }
    if verb == "path":
        known.pop("lam", None)  # many of them, as an argument
    return {name for name in taken | known if taken.get(name, 0) != known.get(name, 1)}


@pytest.mark.parametrize("verb", VERBS)
def test_signatures_are_those_of_the_record(verb):
    assert not signature_differences(verb)


def test_the_reference_is_made_from_the_record():
    assert documented() in DOCS.read_text(encoding="utf-8")


def test_flags_are_those_of_the_record():
    """Every flag that the record names is one of the command line, and has its sentence there."""
    from typer.testing import CliRunner

    from sinkdist.cli import app

    run = CliRunner().invoke
    commands = ("pairwise", "nearest")
    shown = "".join(run(app, [x, "--help"], env={"COLUMNS": "400"}).output for x in commands)
    for x in fields(Options):
        if x.metadata["flag"]:
            assert x.metadata["flag"] in shown, x.name


def test_every_deciding_option_is_a_fact():
    problem = problem_of(np.ones((2, 2)), Options(lam=3), np.dtype(float))
    facts = problem.facts()
    assert set(facts) == {"distance", *deciding()} - {"reg"}
    for other in ({"lam": 4}, {"lam": 3, "tol": 1e-3}, {"lam": 3, "max_iter": 7},
                  {"lam": 3, "iterations": 3}, {"lam": 3, "solver": "log"},
                  {"lam": 3, "coincidence": True}, {"alpha": 3}):  # fmt: skip
        assert problem_of(np.ones((2, 2)), Options(**other), np.dtype(float)).facts() != facts
    for same in ({"reg": 1 / 3}, {"lam": 3, "workers": 1}, {"lam": 3, "tol": 1e-6}):
        assert problem_of(np.ones((2, 2)), Options(**same), np.dtype(float)).facts() == facts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class More(Options):
    """The record with one more option."""

    spice: float = field(
        default=0.5, metadata=about("More of it.", verbs=("solve",), decides=True, flag="--spice")
    )


def test_one_more_option_appears_everywhere():
    """Adding an option is one field; what else has to be written is told by these checks."""
    assert signature_differences("solve", More) == {"spice"}
    assert "| `spice` | `0.5` | More of it. | `solve` | `--spice` |" in documented(More)
    facts = problem_of(np.ones((2, 2)), More(lam=3, spice=2.0), np.dtype(float)).facts()
    assert facts["spice"] == 2.0
    flag = cli_options.declared("spice", None, of=More)
    assert flag.default == "--spice" and flag.help == "More of it."


def test_no_other_file_lists_the_options():
    """`max_iter` is written where it is used, not where it is only handed on."""
    root = Path(sd.__file__).parent
    relayed = [
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if "max_iter=max_iter" in file.read_text(encoding="utf-8")
    ]
    assert sorted(relayed) == [
        "api/barycenter.py", "api/divergence.py", "api/estimate.py", "api/neighbors.py",
        "api/pairs.py", "api/path.py", "cli/computing.py", "cli/means.py", "cli/searching.py",
        "jax.py", "search/index.py",
    ]  # fmt: skip


def test_a_problem_travels_without_what_belongs_to_a_run():
    import pickle
    import threading

    options = Options(
        lam=3, coincidence=True, client=threading.Lock(), progress=print, out="D.zarr"
    )
    problem = problem_of(np.ones((2, 2)), options, np.dtype(float))
    other = pickle.loads(pickle.dumps(problem))
    assert other.facts() == problem.facts() and other.options.coincidence
    assert other.options.client is None and other.options.out is None
