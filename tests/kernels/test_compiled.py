"""How kernels are compiled: once, for one signature, by one process, and only when needed."""

import os
import subprocess
import sys
import textwrap

import numba
import pytest

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="nothing is compiled when kernels are interpreted"
)

LINE = "sinkdist: compiling, once for this environment"

PROBLEM = """
import numpy as np
rng = np.random.default_rng(0)
bins = rng.uniform(size=(32, 2))
M = np.hypot(*(bins[:, None] - bins).transpose(2, 0, 1))
M /= np.median(M)
X, Y = rng.dirichlet(np.ones(32), (2, 4))
import sinkdist as sd
"""

KERNELS = """
import sys
from numba.core.dispatcher import Dispatcher
KERNELS = {
    f"{name.rpartition('.')[2]}.{key}": value
    for name, module in list(sys.modules.items()) if name.startswith("sinkdist.")
    for key, value in vars(module).items()
    if isinstance(value, Dispatcher) and value.py_func.__module__ == name
}
"""

#: Kernels that Python calls with more than one dtype.
IN_BOTH_PRECISIONS = {
    "exponential.gibbs_kernel", "pair.gather", "block.row_step", "block.column_step",
    "block.column_error", "binwise.excess", "binwise.harmonic",
    "log_scalings.move_columns", "log_scalings.column_errors", "log_scalings.move_rows",
    "relaxed.least_costs", "transforms.costs_to_query",
}  # fmt: skip


def start(cache, *scripts, quiet=""):
    """A new process with its own folder for compiled code."""
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join(map(textwrap.dedent, scripts))],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "SINKDIST_QUIET": quiet},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    """What it wrote to stdout and stderr."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


def run(cache, *scripts, quiet=""):
    """Both."""
    return end(start(cache, *scripts, quiet=quiet))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with everything compiled, what the process printed that did it, and its stderr."""
    cache = tmp_path_factory.mktemp("cache")
    script = """
    from sinkdist.cli.warmup import warm_up
    for _ in warm_up(): pass
    """
    show = """
    for name, kernel in KERNELS.items():
        if kernel.targetoptions["inline"] == "never":
            print(name, len(kernel.signatures))
    """
    return cache, *run(cache, script, KERNELS, show)


def test_every_kernel_is_compiled_for_one_signature(filled):
    counts = dict(line.split() for line in filled[1].splitlines())
    assert counts.keys() >= IN_BOTH_PRECISIONS | {"pair.row_pass", "newton.newton_pair"}
    wrong = {
        name: count
        for name, count in counts.items()
        if int(count) != (2 if name in IN_BOTH_PRECISIONS else 1)
    }
    assert not wrong


def test_after_a_warmup_nothing_is_left_to_compile(filled):
    script = """
    from sinkdist.kernels.compiling import compiling
    sparse = np.where(X > 0.02, X, 0.0)
    for H in (X, sparse, X.astype("f4"), np.asfortranarray(X)):
        for lam in (1.0, 9.0, 100.0, 3000.0):
            sd.distance(H[0], H[1], M, lam=lam, normalize=True)
            sd.pairwise(H, Y, ground=M, lam=lam, normalize=True)
        sd.pairwise(H, ground=M, alpha=0.1, normalize=True)
        sd.solve(H[0], H[1], M, alpha=0.01, normalize=True).bracket
        sd.distance(H[0], H[1], M, lam=9.0, iterations=5, normalize=True)
    X.setflags(write=False)
    sd.distance(X[0], X[1], M, lam=9.0)
    print(compiling.seconds)
    """
    out, err = run(filled[0], PROBLEM, script)
    assert (float(out), err) == (0.0, "")


def test_an_easy_pairwise_does_not_compile_newton(tmp_path):
    """Nor does the diagonal of one family, nor the hard constraint."""
    script = """
    sd.pairwise(X, Y, ground=M, lam=9.0)
    sd.pairwise(X, ground=M, lam=9.0)
    sd.pairwise(X, ground=M, alpha=0.1)
    from sinkdist.solvers.compiled import lam_search, newton, scaling
    for kernel in (scaling.scale_each, lam_search.constrain_each, newton.newton_pair):
        print(len(kernel.signatures))
    """
    assert run(tmp_path, PROBLEM, script, quiet="1") == ("1\n1\n0\n", "")


def test_one_line_says_that_kernels_are_compiled(filled):
    cache, _, err = filled
    assert err.startswith(LINE) and err.count("\n") == 1
    call = "sd.pairwise(X, Y, ground=M, lam=9.0)"
    assert run(cache, PROBLEM, call) == ("", "")


def test_processes_that_start_together_compile_once(tmp_path):
    script = """
    D = sd.pairwise(X, Y, ground=M, lam=9.0)
    from sinkdist.kernels.pair import row_pass
    print(D.tobytes().hex(), sum(row_pass.stats.cache_misses.values()))
    """
    together = [start(tmp_path, PROBLEM, script, quiet="1") for _ in range(2)]
    values, _ = zip(*(end(process)[0].split() for process in together), strict=True)
    assert values[0] == values[1]
    alone = run(tmp_path, PROBLEM, script, quiet="1")[0].split()
    assert alone == [values[0], "0"]


def test_kernels_that_make_no_arrays_count_no_references(tmp_path):
    script = """
    from sinkdist.solvers.compiled.simplex.tree import exchange
    exchange.compile(exchange.declared)
    (code,) = exchange.inspect_llvm().values()
    print("define" in code, "NRT_" in code)
    """
    assert run(tmp_path, script, quiet="1") == ("True False\n", "")


def test_kernels_are_not_copied_into_their_callers(tmp_path):
    """They are called by a symbol, so the caller's own code has no definition of them."""
    script = """
    from sinkdist.kernels.pair import row_pass
    from sinkdist.solvers.compiled.scaling import rows_exact
    rows_exact.compile(rows_exact.declared)
    (code,) = rows_exact.inspect_llvm().values()
    lines = [line for line in code.splitlines() if "row_pass" in line]
    print(any(row_pass.symbol in line for line in lines))
    print(any(line.startswith("define") for line in lines))
    """
    assert run(tmp_path, script, quiet="1") == ("True\nFalse\n", "")
