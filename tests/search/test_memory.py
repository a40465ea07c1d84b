"""The memory budget of a search: its peak stays below, and what cannot fit is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.search import memory
from sinkdist.search.tile_search import TileSearch

SCRIPT = """
import json, re, sys
import numpy as np
import sinkdist as sd

n, side, alpha, workers = json.loads(sys.argv[1])
X = np.random.default_rng(3).dirichlet(np.full(side * side, 0.1), n)
ground = sd.Ground.grid(side, side)
member = {"lam": np.inf} if alpha is None else {"alpha": alpha}
sd.neighbors(X[:1200], X[:1200], ground=ground, k=5, workers=1, budget=1, **member)  # compiles

def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))

class Enough(Exception):
    pass

def listen(record):
    if record.done >= record.total // 16:
        raise Enough

def tried(size):
    try:
        sd.neighbors(X, ground=ground, k=5, workers=workers, memory=size, progress=listen, **member)
    except Enough:
        return True
    except sd.InputError as error:
        assert "memory budget" in str(error), error
        return False

low = kilobytes("VmRSS") * 1000
while not tried(low):
    low = int(low * 1.1)
print(json.dumps([low, kilobytes("VmHWM") * 1024]))
"""


@pytest.mark.parametrize("alpha", [None, pytest.param(0.5, marks=pytest.mark.slow)])
def test_the_smallest_budget_that_is_accepted_is_kept(alpha):
    order = json.dumps([12_000, 8, alpha, 2])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, order], capture_output=True, text=True, check=True
    )
    budget, peak = json.loads(done.stdout.splitlines()[-1])
    assert peak <= budget


def test_what_cannot_fit_is_refused_with_its_sizes():
    X = np.random.default_rng(0).dirichlet(np.ones(9), 50)
    with pytest.raises(sd.InputError) as error:
        sd.neighbors(X, ground=sd.Ground.grid(3, 3), k=3, lam=np.inf, memory="1MB", workers=2)
    said = str(error.value)
    assert said.startswith("The memory budget of 1 MB is too small: this process holds ")
    assert "50 rows prepared for a search take" in said and "2 workers" in said
    assert said.endswith("Raise 'memory', or use fewer 'workers'.")


def test_fewer_queries_are_bounded_together_where_memory_is_short(monkeypatch):
    from sinkdist.pairs.reading import read_families, read_problem
    from sinkdist.problem.options import Options
    from sinkdist.search.ranking import Rule

    X = np.random.default_rng(0).dirichlet(np.ones(9), 5000)
    problem = read_problem(X, None, sd.Ground.grid(3, 3), Options(lam=np.inf))
    A, _ = read_families(X, X, ("X", "X"), problem)
    search = TileSearch(problem, A, A, Rule(5), own=True)
    shared, one = memory.bytes_needed(search, 16)
    monkeypatch.setattr(memory.memory, "held", lambda: 0)
    memory.fit(search, shared + 2 * one, 2)
    assert search.at_once == 16
    memory.fit(search, shared + 2 * one - 1, 2)
    assert search.at_once == 8
    least = sum(memory.bytes_needed(search, 1))
    memory.fit(search, least, 1)
    assert search.at_once == 1
    with pytest.raises(sd.InputError, match="too small"):
        memory.fit(search, least - 1, 1)


def test_a_copy_of_the_costs_is_counted(monkeypatch):
    """Where rows are sparse and there are queries enough."""
    from sinkdist.pairs.reading import read_families, read_problem
    from sinkdist.problem.options import Options
    from sinkdist.search.ranking import Rule

    ground = sd.Ground.points(np.random.default_rng(1).random((200, 3)))
    needed = []
    for zeros, n in ((190, 6), (190, 7), (0, 7)):
        X = np.random.default_rng(0).dirichlet(np.ones(200), n)
        X[:, :zeros] = 0.0
        X /= X.sum(axis=1, keepdims=True)
        problem = read_problem(X, None, ground, Options(lam=np.inf))
        A, _ = read_families(X, X, ("X", "X"), problem)
        search = TileSearch(problem, A, A, Rule(1), own=True)
        with monkeypatch.context() as patch:
            patch.setattr(memory, "is_sparse", lambda _: False)
            without = memory.bytes_needed(search, 16)[0]
        needed.append(memory.bytes_needed(search, 16)[0] - without)
    assert needed == [0, 4 * 200 * 200, 0]
