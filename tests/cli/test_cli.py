"""The command line, as a user meets it: its help, its version, and its mistakes in one sentence."""

import errno
import importlib.metadata
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import sinkdist
from sinkdist.files import read
from sinkdist.solvers.table import SOLVERS
from tests.waiting import LONG, until


def test_version(command):
    assert command("--version") == (0, f"sinkdist {sinkdist.__version__}\n", "")


def test_help_has_an_example_and_the_commands(command):
    code, out, _ = command("--help")
    assert code == 0
    assert "sinkdist pairwise X.npy --ground grid:20x20 --lam 9/median --out D.zarr" in out
    assert all(name in out for name in ("pairwise", "distance", "info", "export", "demo"))


def test_runs_as_a_module():
    arguments = [sys.executable, "-m", "sinkdist", "--version"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout == f"sinkdist {sinkdist.__version__}\n"


def test_asking_for_help_imports_no_compiler():
    code = "import sys, sinkdist.cli; print({'numba', 'sklearn', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("arguments", [("dome",), ("pairwise", "--workers", "0"), ("--vers",)])
def test_mistaken_arguments(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert "Usage:" in err
    assert "Traceback" not in err


# --- plug-ins


@pytest.fixture
def plugins(monkeypatch):
    """The entry points that are found: none, until a test adds some."""
    found = []
    monkeypatch.setattr("sinkdist.cli.plugins.entry_points", lambda group: found)
    return found


def plain(out):
    """A help page without its boxes and line breaks."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())


@pytest.mark.parametrize("arguments", [(), ("all", "--quick"), ("--n", "500", "--out", "pictures")])
@pytest.mark.parametrize("name", ["demo", "reproduce"])
def test_what_is_not_installed_says_how_to_get_it(command, plugins, name, arguments):
    assert command(name, *arguments) == (
        2,
        "",
        f"Error: 'sinkdist {name}' is part of sinkdist-paper, which is not installed: run "
        "pip install ./reproduction in a clone of the sinkdist repository.\n",
    )


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help"), ("reproduce", "-h")])
def test_help_says_how_to_get_what_is_not_installed(command, plugins, arguments):
    code, out, _ = command(*arguments)
    assert code == 0
    assert "Not installed: run pip install ./reproduction in a clone of sinkdist." in plain(out)


def entry(name, value):
    """An entry point of the group that the command line looks at."""
    return importlib.metadata.EntryPoint(name, value, "sinkdist.commands")


def test_a_plugin_is_a_command(command, plugins, tmp_path, monkeypatch):
    (tmp_path / "greeting.py").write_text(
        "import typer\n"
        "app = typer.Typer(add_completion=False)\n"
        "@app.command()\n"
        "def say(name: str, loud: bool = False):\n"
        "    'Say hello.'\n"
        "    print('HELLO' if loud else 'hello', name)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plugins.append(entry("greet", "greeting:app"))
    assert command("greet", "you", "--loud") == (0, "HELLO you\n", "")
    assert "greet Say hello." in plain(command("--help")[1])
    assert "sinkdist greet [OPTIONS] {name}" in plain(command("greet", "--help")[1])
    code, out, err = command("greet")
    assert (code, out) == (2, "") and "Usage: sinkdist greet" in err
    plugins.append(entry("info", "greeting:app"))  # our own commands cannot be replaced
    assert "Say hello" not in plain(command("info", "--help")[1])


def test_a_broken_plugin_spoils_nothing_else(command, plugins):
    plugins.append(entry("greet", "no_such_module_here:app"))
    assert "greet Cannot be loaded: reinstall no_such_module_here." in plain(command("--help")[1])
    code, out, err = command("greet", "you")
    assert (code, out) == (2, "")
    assert err.startswith("Error: 'sinkdist greet' cannot be loaded (ModuleNotFoundError: ")
    assert command("--version")[0] == 0


# --- computing


D = 16  # bins: pixels of 4 x 4


@pytest.fixture
def family(tmp_path, monkeypatch):
    """Forty histograms in X.npy, in an empty folder to work in; messages show bare names."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).dirichlet(np.ones(D), 40)
    np.save("X.npy", X)
    return X


def wanted(X, Y=None, **options):
    """What the package computes for the same input."""
    ground = sinkdist.Ground.grid(4, 4)
    return sinkdist.pairwise(X, Y, ground=ground, **({"lam": 2.0} | options))


PAIRWISE = ("pairwise", "X.npy", "--ground", "grid:4x4")


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet"])
def test_pairwise_to_a_file(command, family, ending):
    code, out, err = command(*PAIRWISE, "--lam", 2, "--out", f"D{ending}", "--no-progress")
    assert (code, out, err) == (0, f"D{ending}: 40 x 40 distances, float64\n", "")
    np.testing.assert_array_equal(read(f"D{ending}"), wanted(family))
    assert sorted(os.listdir()) == sorted(["X.npy", f"D{ending}"])


def test_pairwise_to_a_store(command, family):
    code, out, err = command(*PAIRWISE, "--lam", 2, "--out", "D.zarr/", "--no-progress")
    assert (code, out, err) == (0, "D.zarr: 40 x 40 distances, float64\n", "")
    np.testing.assert_allclose(sinkdist.open_matrix("D.zarr")[:], wanted(family), rtol=1e-12)


def test_pairwise_of_two_families(command, family):
    np.save("Y.npy", family[:7])
    command("pairwise", "X.npy", "Y.npy", "--ground", "grid:4x4", "--lam", 2, "--out", "D.npy")
    np.testing.assert_array_equal(np.load("D.npy"), wanted(family, family[:7]))


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (("--reg", 0.25), {"lam": None, "reg": 0.25}),
        (("--alpha", 0.4), {"lam": None, "alpha": 0.4}),
        (("--emd",), {"lam": np.inf}),
        (("--lam", 2, "--iterations", 5), {"iterations": 5}),
        (("--lam", 2, "--tol", 1e-2), {"tol": 1e-2}),
        (("--lam", 2, "--solver", "plain"), {"solver": "plain"}),
        (("--lam", 2, "--dtype", "float32"), {"dtype": "float32"}),
        (("--lam", 2, "--coincidence"), {"coincidence": True}),
        (("--lam", 2, "--workers", 1, "--memory", "16GB"), {}),
    ],
)
def test_pairwise_options(command, family, given, options):
    code, _, err = command(*PAIRWISE, *given, "--out", "D.npy")
    assert (code, err) == (0, "")
    answer, right = np.load("D.npy"), wanted(family, **options)
    assert answer.dtype == right.dtype
    np.testing.assert_array_equal(answer, right)
    if options:  # the option makes a difference, so it was not lost on the way
        assert right.dtype != np.float64 or not np.array_equal(right, wanted(family))


def test_pairwise_scaled(command, family):
    command(*PAIRWISE, "--lam", 2, "--scaled", "--out", "D.npy")
    ground = sinkdist.Ground.grid(4, 4).scaled()
    np.testing.assert_array_equal(
        np.load("D.npy"), sinkdist.pairwise(family, ground=ground, lam=2.0)
    )


def test_pairwise_of_counts(command, family):
    counts = np.random.default_rng(1).integers(0, 2**40, (5, D))
    counts[3] = 0
    np.save("X.npy", counts)
    code, _, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy")
    assert code == 2 and "of 'X.npy' has no mass: " in err and "pass --on-empty nan" in err
    code, _, err = command(*PAIRWISE, "--lam", 2, "--on-empty", "nan", "--out", "D.npy")
    assert code == 2 and err.endswith("pass --normalize to divide by the row sums.\n")
    code, _, err = command(
        *PAIRWISE, "--lam", 2, "--on-empty", "nan", "--normalize", "--out", "D.npy"
    )
    assert (code, err) == (0, "")
    right = wanted(counts, normalize=True, on_empty="nan")
    assert np.isnan(right[3]).all()
    np.testing.assert_array_equal(np.load("D.npy"), right)


def test_pairwise_of_sparse_rows(command, family):
    rows = np.where(family > 0.05, family, 0.0)
    scipy.sparse.save_npz("S.npz", scipy.sparse.csr_array(rows))
    arguments = ("pairwise", "S.npz", "--ground", "grid:4x4", "--emd", "--normalize")
    code, _, err = command(*arguments, "--out", "D.npy")
    assert (code, err) == (0, "")
    np.testing.assert_allclose(np.load("D.npy"), wanted(rows, lam=np.inf, normalize=True))


def test_unconverged_pairs_are_a_warning_in_one_line(command, family):
    code, _, err = command(*PAIRWISE, "--lam", 2, "--max-iter", 2, "--out", "D.npy")
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith("Warning: ")
    assert "820 pairs did not reach --tol 1e-06: " in err
    assert "stopped at --max-iter 2; " in err
    assert "Raise --max-iter or --tol; " in err
    assert os.path.exists("D.npy")


def test_a_store_is_continued_and_never_replaced_by_accident(command, family):
    command(*PAIRWISE, "--lam", 2, "--out", "D.zarr")
    before = {path: path.stat().st_mtime_ns for path in Path("D.zarr").glob("*/c/*/*")}
    assert command(*PAIRWISE, "--lam", 2, "--out", "D.zarr")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in Path("D.zarr").glob("*/c/*/*")} == before
    code, out, err = command(*PAIRWISE, "--lam", 3, "--out", "D.zarr")
    assert (code, out) == (2, "")
    assert err == (
        "Error: 'D.zarr' holds another matrix: lam is 2.0 there and 3.0 here. Nothing was changed: "
        "pass --overwrite to replace it, or another --out.\n"
    )
    assert command(*PAIRWISE, "--lam", 3, "--out", "D.zarr", "--overwrite")[0] == 0
    np.testing.assert_allclose(sinkdist.open_matrix("D.zarr")[:], wanted(family, lam=3), rtol=1e-12)


def test_a_file_is_replaced_only_on_request(command, family):
    Path("D.npy").write_text("precious")
    code, _, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy")
    assert (code, err) == (2, "Error: 'D.npy' exists already: pass --overwrite to replace it.\n")
    assert Path("D.npy").read_text() == "precious"
    assert command(*PAIRWISE, "--lam", 2, "--out", "D.npy", "--overwrite")[0] == 0
    assert np.load("D.npy").shape == (40, 40)


ONE_OF = (
    "Which distance is wanted must be said by exactly one of --lam, --reg, --alpha and --emd. Got "
)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), ONE_OF + "none of them instead."),
        (("--lam", 2, "--emd"), ONE_OF + "--lam and --emd instead."),
        (("--lam", -1), "--lam must be non-negative. Got -1.0 instead."),
        (("--lam", "nan"), "--lam must be non-negative. Got nan instead."),
        (
            ("--lam", 2, "--tol", 0),
            "The --tol option must be positive and finite. Got 0.0 instead.",
        ),
        (("--lam", 2, "--max-iter", 0), "The --max-iter option must be at least 1. Got 0 instead."),
        (
            ("--lam", 2, "--iterations", 3, "--max-iter", 5),
            "--iterations runs exactly that many steps, without a test: leave out --max-iter.",
        ),
        (
            ("--emd", "--iterations", 3),
            "--iterations counts steps of Algorithm 1, which needs a positive, finite --lam or "
            "--reg; this call asks for the exact distance.",
        ),
        (
            ("--lam", 2, "--solver", "best"),
            "The --solver option must be one of 'auto', 'plain', 'relaxed', 'newton', 'log'. "
            "Got 'best' instead.",
        ),
        (
            ("--lam", 2, "--memory", "much"),
            "The --memory option must be a size such as '2GB' or '500 MiB'. Got 'much' instead.",
        ),
        (
            ("--lam", 2, "--ground", "grid:3x3"),
            "'X.npy' has 16 bins per row, but the ground metric has 9.",
        ),
        (
            ("--lam", 2, "--ground", "grid:8x5"),
            "'X.npy' has 16 bins per row, but the ground metric has 40. Rows are histograms, and "
            "its shape is (40, 16): transpose it if that is not meant.",
        ),
        (
            ("--lam", 2, "--ground", "M.npy"),
            "'M.npy' cannot be read: No such file or directory.",
        ),
        (
            ("--lam", 2, "--out", "D.txt"),
            "'D.txt' cannot be written: its name must end in .zarr, .npy, .csv or .parquet.",
        ),
        (
            ("--lam", 2, "--out", "none/D.npy"),
            "'none/D.npy' cannot be written: there is no folder 'none'.",
        ),
    ],
)
def test_mistakes_in_one_sentence(command, family, arguments, sentence):
    code, out, err = command(*PAIRWISE, "--out", "D.npy", *arguments)
    assert (code, out, err) == (2, "", f"Error: {sentence}\n")
    assert os.listdir() == ["X.npy"]


def test_ground_mistakes_show_the_forms(command, family):
    code, _, err = command("pairwise", "X.npy", "--ground", "4x4", "--lam", 2, "--out", "D.npy")
    assert code == 2
    assert err.startswith("Error: '4x4' describes no ground: give a file with a matrix of costs")
    assert err.count("\n") == 1


def test_pairwise_needs_a_family(command, family):
    np.save("X.npy", family[0])
    code, _, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy")
    assert (code, err) == (
        2,
        "Error: 'X.npy' holds one histogram of 16 bins, but all pairs need a family, one per row. "
        "Use 'sinkdist distance' for a single one.\n",
    )


def test_bad_numbers_are_named_by_file_and_place(command, family):
    Y = family.copy()
    Y[3, 5] = -0.5
    np.save("Y.npy", Y)
    code, _, err = command(
        "pairwise", "X.npy", "Y.npy", "--ground", "grid:4x4", "--lam", 2, "--out", "D.npy"
    )
    assert (code, err) == (
        2, "Error: Entry (3, 5) of 'Y.npy' is -0.5, but masses must be non-negative.\n"
    )  # fmt: skip


def test_a_full_disk_is_a_sentence(command, family, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy")
    assert (code, err) == (2, "Error: No space left on device.\n")
    assert os.listdir() == ["X.npy"]


def test_too_little_memory_is_a_sentence(command, family, monkeypatch):
    def large(*_, **__):
        raise MemoryError("Unable to allocate 4.66 GiB")

    monkeypatch.setattr(sinkdist, "pairwise", large)
    code, _, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy")
    assert (code, err) == (
        2, "Error: There is not enough memory: Unable to allocate 4.66 GiB.\n"
    )  # fmt: skip


def test_mistakes_of_our_own_are_not_hidden(command, family, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(sinkdist, "pairwise", broken)
    with pytest.raises(ZeroDivisionError):
        command(*PAIRWISE, "--lam", 2, "--out", "D.npy")


# --- Ctrl-C


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("D.zarr", "Stopped. Finished tiles are kept in 'D.zarr': give the same command again to "
         "continue.\n"),
        ("D.npy", "Stopped. 'D.npy' was not written. A run with --out to a .zarr can be "
         "continued.\n"),
    ],
)  # fmt: skip
def test_ctrl_c(command, family, monkeypatch, out, sentence):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sinkdist, "pairwise", stopped)
    assert command(*PAIRWISE, "--lam", 2, "--out", out) == (130, "", sentence)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are another matter there")
def test_ctrl_c_in_a_real_run(family):
    X = np.random.default_rng(0).dirichlet(np.ones(144), 1500)
    np.save("X.npy", X)
    # Where the runner ignores Ctrl-C, so would the process it starts.
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code = start + "from sinkdist.cli import main; main()"
    arguments = ["pairwise", "X.npy", "--ground", "grid:12x12", "--lam", "20", "--out", "D.zarr"]
    run = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True
    )
    until(lambda: list(Path(".").glob("D.zarr/distance/c/*/*")))
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=LONG)
    assert run.returncode == 130
    assert err.endswith(
        "Stopped. Finished tiles are kept in 'D.zarr': give the same command again to continue.\n"
    )
    assert "Traceback" not in err
    found = sinkdist.open_matrix("D.zarr").summary()
    assert found.pairs > 0 and found.missing_pairs > 0


# --- distance


@pytest.fixture
def pair(family):
    """One histogram in r.npy, five in C.npy."""
    np.save("r.npy", family[0])
    np.save("C.npy", family[:5])
    return family[0], family[:5]


DISTANCE = ("distance", "r.npy", "C.npy", "--ground", "grid:4x4")


def test_distance_prints_a_number_per_line(command, pair):
    r, C = pair
    code, out, err = command(*DISTANCE, "--lam", 2)
    assert (code, err) == (0, "")
    right = sinkdist.distance(r, C, sinkdist.Ground.grid(4, 4), lam=2.0)
    assert [float(line) for line in out.splitlines()] == right.tolist()


@pytest.mark.parametrize("shape", [(D,), (1, D), (D, 1)])
def test_distance_of_one_pair(command, pair, shape):
    r, C = pair
    np.savetxt("c.csv", C[1].reshape(shape), delimiter=",")
    code, out, err = command("distance", "r.npy", "c.csv", "--ground", "grid:4x4", "--emd")
    assert (code, err) == (0, "")
    right = sinkdist.distance(r, C[1], sinkdist.Ground.grid(4, 4), lam=np.inf)
    assert float(out) == pytest.approx(right, rel=1e-12)


def test_distance_from_one_sparse_histogram(command, pair):
    r, C = pair
    scipy.sparse.save_npz("s.npz", scipy.sparse.csr_array(r[None]))
    code, out, err = command("distance", "s.npz", "C.npy", "--ground", "grid:4x4", "--lam", 2)
    assert (code, err) == (0, "")
    right = sinkdist.distance(r, C, sinkdist.Ground.grid(4, 4), lam=2.0)
    assert [float(line) for line in out.splitlines()] == pytest.approx(right, rel=1e-12)


def test_distance_in_single_precision_has_its_own_digits(command, pair):
    _, out, _ = command(*DISTANCE, "--lam", 2, "--dtype", "float32")
    assert all(len(line) <= 12 for line in out.splitlines())


def test_distance_table(command, pair):
    r, C = pair
    code, out, err = command(*DISTANCE, "--emd", "--all")
    assert (code, err) == (0, "")
    heading, *lines = [line.split() for line in out.splitlines()]
    assert heading[:4] == ["value", "emd_lower", "emd_upper", "lam"]
    right = sinkdist.distance(r, C, sinkdist.Ground.grid(4, 4), lam=np.inf)
    assert [float(line[0]) for line in lines] == pytest.approx(right, rel=1e-5)
    assert {line[3] for line in lines} == {"inf"}
    assert {line[7] for line in lines} == {"converged"}


def test_distance_json(command, pair):
    r, C = pair
    code, out, err = command(*DISTANCE, "--alpha", 0.3, "--json")
    assert (code, err) == (0, "")
    records = [json.loads(line) for line in out.splitlines()]
    s = sinkdist.solve(r, C, sinkdist.Ground.grid(4, 4), alpha=0.3)
    assert [record["value"] for record in records] == s.value.tolist()
    assert [record["lam"] for record in records] == s.lam.tolist()
    for record in records:
        assert record["emd_lower"] <= record["emd_upper"]
        assert record["status"] == "converged"


def test_json_has_null_for_what_is_no_number(command, pair):
    np.save("C.npy", np.array([pair[0], np.zeros(D)]))
    _, out, _ = command(*DISTANCE, "--emd", "--on-empty", "nan", "--json")
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in out.splitlines())
    assert first["lam"] is None and first["value"] == 0.0
    assert second["value"] is None and second["status"] == "empty"


def test_distance_of_families_of_other_lengths(command, pair):
    code, _, err = command("distance", "X.npy", "C.npy", "--ground", "grid:4x4", "--lam", 2)
    assert (code, err) == (
        2,
        "Error: 'X.npy' has 40 rows and 'C.npy' has 5 rows: families are matched row by row. "
        "Use 'sinkdist pairwise' for all pairs.\n",
    )


# --- means


def test_barycentres(command, family):
    arguments = ("barycenter", "X.npy", "--ground", "grid:4x4")
    code, out, err = command(*arguments, "--lam", 3, "--out", "mean.csv")
    assert (code, out, err) == (0, "mean.csv: 1 barycentre of 40 histograms, 1 converged\n", "")
    ground = sinkdist.Ground.grid(4, 4)
    np.testing.assert_array_equal(
        read("mean.csv"), sinkdist.barycenter(family, ground=ground, lam=3)[None]
    )
    weights = np.eye(40)[:2] / 2 + 1 / 80
    np.save("W.npy", weights)
    code, out, _ = command(
        *arguments,
        "--scaled",
        "--reg",
        0.5,
        "--weights",
        "W.npy",
        "--no-debiased",
        "--out",
        "m.npy",
    )
    assert (code, out) == (0, "m.npy: 2 barycentres of 40 histograms, 2 converged\n")
    right = sinkdist.barycenter(
        family, ground=ground.scaled(), lam=2, weights=weights, debiased=False
    )
    np.testing.assert_array_equal(np.load("m.npy"), right)


def test_clusters(command, family):
    arguments = ("cluster", "X.npy", "-k", 3, "--ground", "grid:4x4", "--normalize")
    code, out, err = command(*arguments, "--lam", 3, "--out", "labels.csv", "--centers", "C.npy")
    assert (code, err) == (0, "") and out.startswith("labels.csv: 40 rows in 3 clusters of ")
    from sinkdist.learn import TransportKMeans, TransportKMedoids

    ground = sinkdist.Ground.grid(4, 4)
    right = TransportKMeans(3, ground, lam=3, random_state=0).fit(family)
    np.testing.assert_array_equal(read("labels.csv").ravel(), right.labels_)
    np.testing.assert_array_equal(np.load("C.npy"), right.cluster_centers_)
    code, _, err = command(*arguments, "--emd", "--around", "medoids", "--out", "medoids.npy")
    assert (code, err) == (0, "")
    right = TransportKMedoids(3, ground, lam=np.inf, random_state=0, n_init=1).fit(family)
    np.testing.assert_array_equal(np.load("medoids.npy").ravel(), right.labels_)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("barycenter", "--lam", "inf"), "Barycentres need entropy: the --lam option must be "),
        (("barycenter",), "must be given by exactly one of --lam, --reg and --alpha. Got none"),
        (("barycenter", "--lam", 2, "--ground", "M.npy"), "asymmetric: pass --no-debiased."),
        (("barycenter", "--lam", 2, "--weights", "W.npy"), "The --weights option must have one "),
        (("cluster", "-k", 3, "--emd"), "need entropy, --lam or --reg: pass --around medoids "),
        (("cluster", "-k", 99, "--lam", 2), "The --n-clusters option must be at most the number "),
    ],
    ids=str,
)
def test_means_that_cannot_be(command, family, arguments, sentence):
    np.save("M.npy", np.triu(np.ones((D, D))))
    np.save("W.npy", np.ones(3))
    given = arguments if "--ground" in arguments else (*arguments, "--ground", "grid:4x4")
    code, out, err = command(*given, "X.npy", "--out", "new.npy")
    assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1
    assert not os.path.exists("new.npy")


# --- closed pipes


def unread(arguments, stream="stdout"):
    """Run a command whose output nobody reads; gives the exit code and the other stream."""
    reader, writer = os.pipe()
    os.close(reader)
    others = {"stdout", "stderr"} - {stream}
    streams = {stream: writer} | dict.fromkeys(others, subprocess.PIPE)
    try:
        done = subprocess.run([sys.executable, "-m", "sinkdist", *map(str, arguments)], **streams)
    finally:
        os.close(writer)
    return done.returncode, (done.stderr if stream == "stdout" else done.stdout).decode()


@pytest.mark.skipif(os.name == "nt", reason="pipes are another matter there")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",), ("--help",), ("pairwise", "--help"), (*DISTANCE, "--lam", 2),
        (*DISTANCE, "--lam", 2, "--json"), ("info", "D.zarr"), ("export", "D.zarr", "D.npy"),
    ],
)  # fmt: skip
def test_a_closed_pipe_ends_in_silence(pair, stored, arguments):
    """As other programs end: a shell says 141 of them."""
    assert unread(arguments) == (141, "")


@pytest.mark.skipif(os.name == "nt", reason="pipes are another matter there")
def test_a_result_is_written_though_nobody_reads_of_it(pair):
    assert unread((*PAIRWISE, "--lam", 2, "--out", "D.npy")) == (141, "")
    assert np.load("D.npy").shape == (40, 40)


@pytest.mark.skipif(os.name == "nt", reason="pipes are another matter there")
@pytest.mark.parametrize("arguments", [("info", "none.zarr"), ("dome",), ("distance", "r.npy")])
def test_a_complaint_that_nobody_reads(pair, arguments):
    assert unread(arguments, "stderr") == (141, "")


# --- stored matrices


@pytest.fixture
def stored(family):
    """A finished matrix in D.zarr, and what is in it."""
    sinkdist.pairwise(family, ground=sinkdist.Ground.grid(4, 4), lam=2.0, out="D.zarr")
    return sinkdist.open_matrix("D.zarr").to_numpy()


def lose_a_tile():
    """Remove one tile from D.zarr, as if the run had been stopped before it."""
    for array in ("distance", "status", "marginal_error"):
        Path("D.zarr", array, "c", "0", "1").unlink()


def test_info(command, stored):
    code, out, err = command("info", "D.zarr/")
    assert (code, err) == (0, "")
    assert out == f"{sinkdist.open_matrix('D.zarr').summary()}\n"
    assert "40 x 40 distances" in out and "820 computed, 0 missing" in out


def test_info_of_an_unfinished_matrix(command, stored):
    lose_a_tile()
    code, out, _ = command("info", "D.zarr")
    assert code == 0
    assert "564 computed, 256 missing" in out


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet"])
def test_export(command, stored, ending):
    code, out, err = command("export", "D.zarr", f"D{ending}")
    assert (code, out, err) == (0, f"D{ending}: 40 x 40 distances, float64\n", "")
    np.testing.assert_array_equal(read(f"D{ending}"), stored)
    code, _, err = command("export", "D.zarr", f"D{ending}")
    assert (code, err) == (
        2, f"Error: 'D{ending}' exists already: pass --overwrite to replace it.\n"
    )  # fmt: skip
    assert command("export", "D.zarr", f"D{ending}", "--overwrite")[0] == 0


def test_export_of_an_unfinished_matrix(command, stored):
    lose_a_tile()
    code, out, err = command("export", "D.zarr", "D.npy")
    assert (code, out) == (2, "")
    assert err == (
        "Error: 'D.zarr' is incomplete: 256 of 820 pairs have not been computed yet. Give the "
        "command that began it once more: it goes on where it stopped.\n"
    )
    assert not os.path.exists("D.npy")
    assert command(*PAIRWISE, "--lam", 2, "--out", "D.zarr")[0] == 0
    assert command("export", "D.zarr", "D.npy")[0] == 0
    np.testing.assert_array_equal(np.load("D.npy"), stored)


@pytest.mark.parametrize("arguments", [("info",), ("export", "D.npy")])
def test_matrices_that_are_none(command, family, arguments):
    name, *rest = arguments
    code, _, err = command(name, "none.zarr", *rest)
    assert (code, err) == (2, "Error: There is no matrix at 'none.zarr'.\n")
    code, _, err = command(name, "X.npy", *rest)
    assert (code, err) == (2, "Error: 'X.npy' is not a matrix stored by sinkdist.\n")


# --- a cluster


def test_scheduler_gives_a_client(command, family, monkeypatch):
    seen = []

    @contextmanager
    def connect(address):
        seen.append(address)
        yield "client"

    def pairwise(*_, client, **__):
        seen.append(client)
        return np.zeros((40, 40))

    monkeypatch.setattr("sinkdist.scale.cluster.connect", connect)
    monkeypatch.setattr(sinkdist, "pairwise", pairwise)
    code, _, err = command(
        *PAIRWISE, "--lam", 2, "--out", "D.npy", "--scheduler", "tcp://10.0.0.1:8786"
    )
    assert (code, err) == (0, "")
    assert seen == ["tcp://10.0.0.1:8786", "client"]


@pytest.mark.parametrize(
    "address",
    [
        "junk", "tcp://", "tcp://:", "tcp://host", "host:", ":8786", "host:port", "tcp://h:99999",
        "tcp://h:0", "http://127.0.0.1:80", "nosuch://host:1", "127.0.0.1", "a b", "://", "",
    ],
)  # fmt: skip
def test_schedulers_that_cannot_be(command, family, address, monkeypatch):
    """Told at once, before any file is read and without a try to connect."""
    Path("X.npy").write_bytes(b"no array")
    monkeypatch.setattr("distributed.comm.core.connect", None)
    code, out, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy", "--scheduler", address)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"Error: '{address}' is not the address of a Dask scheduler, such as ")


@pytest.mark.parametrize("address", ["inproc://1/2/3", "tls://127.0.0.1:1"])
def test_schedulers_that_cannot_be_reached(command, family, address):
    code, out, err = command(*PAIRWISE, "--lam", 2, "--out", "D.npy", "--scheduler", address)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"Error: No Dask scheduler answers at '{address}': ")


def test_a_scheduler_that_cannot_be_leaves_no_traceback(family):
    """Dask used to complain when the interpreter ended."""
    arguments = (*PAIRWISE, "--lam", "2", "--out", "D.npy", "--scheduler", "junk")
    done = subprocess.run(
        [sys.executable, "-m", "sinkdist", *arguments], capture_output=True, text=True, timeout=15
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("listening", [False, True], ids=["nobody", "somebody else"])
def test_a_scheduler_that_does_not_answer(family, listening):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if listening:
            other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        arguments = (*PAIRWISE, "--lam", "2", "--out", "D.npy", "--scheduler", address)
        done = subprocess.run(
            [sys.executable, "-m", "sinkdist", *arguments], capture_output=True, text=True,
            timeout=25,
        )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"Error: No Dask scheduler answers at '{address}': ")


@pytest.mark.slow
def test_scheduler_that_runs(command, family):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        code, _, err = command(
            *PAIRWISE, "--lam", 2, "--out", "D.zarr", "--scheduler", cluster.scheduler_address
        )
    assert (code, err) == (0, "")
    np.testing.assert_allclose(sinkdist.open_matrix("D.zarr")[:], wanted(family), rtol=1e-12)


# --- help


@pytest.mark.parametrize("name", ["pairwise", "nearest", "distance", "info", "export"])
@pytest.mark.parametrize("width", [80, 120])
def test_help_fits_and_has_examples(command, monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = command(name, "--help")
    assert code == 0
    assert f"sinkdist {name} " in out.split("Example")[1]
    assert max(map(len, out.splitlines())) <= width


def test_help_names_every_solver(command):
    _, out, _ = command("pairwise", "--help")
    assert all(solver in out for solver in SOLVERS)


def test_help_shows_the_forms_of_a_ground(command):
    _, out, _ = command("pairwise", "--help")
    assert "grid:HxW[:metric]" in out and "points:FILE[:metric]" in out and "graph:FILE" in out


@pytest.mark.parametrize("arguments", [["--help"], ["pairwise", "--help"], ["export", "-h"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\n"
        "from sinkdist.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "names = {name.split('.')[0] for name in sys.modules}\n"
        "print(names & {'numba', 'zarr', 'dask', 'distributed', 'pyarrow', 'scipy', 'ot'},"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr == "set()\n"


def test_the_whole_way_from_outside(family):
    """Three commands as a shell runs them."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "sinkdist", *arguments], capture_output=True, text=True
        )

    done = run(*PAIRWISE, "--lam", "2", "--out", "D.zarr")
    assert (done.returncode, done.stdout) == (0, "D.zarr: 40 x 40 distances, float64\n")
    done = run("export", "D.zarr", "D.npy")
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_allclose(np.load("D.npy"), wanted(family), rtol=1e-12)
    done = run("export", "D.zarr", "D.npy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: 'D.npy' exists already: pass --overwrite to replace it.\n"


# --- nearest


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """A family of four histograms, two queries and names, in files."""
    monkeypatch.chdir(tmp_path)
    np.save("Y.npy", np.eye(4))
    np.save("X.npy", np.array([[0.9, 0.1, 0.0, 0.0], [0.0, 0.0, 0.2, 0.8]]))
    Path("names.txt").write_text("one\ntwo\nthree\nfour, and last\n")
    return tmp_path


NEAREST = ("nearest", "Y.npy", "--query", "X.npy", "--ground", "grid:2x2", "--emd")


def test_nearest_prints_a_line_for_each_neighbour(command, searched):
    code, out, err = command(*NEAREST, "--k", "1", "--names", "names.txt")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "query,rank,neighbour,name,distance,proven"
    assert [line.split(",")[:3] for line in lines[1:]] == [["0", "1", "0"], ["1", "1", "3"]]
    assert '"four, and last"' in lines[2] and lines[2].endswith(",True")


def test_nearest_of_one_family_within_a_radius(command, searched):
    code, out, _ = command(
        "nearest", "Y.npy", "--ground", "grid:2x2", "--emd", "--radius", "1.0", "--no-progress"
    )
    assert code == 0
    pairs = {tuple(line.split(",")[:3:2]) for line in out.splitlines()[1:]}
    assert pairs == {("0", "1"), ("0", "2"), ("1", "0"), ("1", "3"), ("2", "0"), ("2", "3"),
                     ("3", "1"), ("3", "2")}  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nearest_writes_files(command, searched, ending):
    code, out, _ = command(*NEAREST, "--k", "2", "--out", f"near.{ending}", "--no-progress")
    assert code == 0 and out.startswith(f"near.{ending}: Neighbors(2 x 2 of 4, ")
    pandas = pytest.importorskip("pandas")
    table = getattr(pandas, f"read_{ending}")(f"near.{ending}")
    assert table["neighbour"].tolist()[::2] == [0, 3] and len(table) == 4
    code, _, err = command(*NEAREST, "--out", f"near.{ending}")
    assert code == 2 and "exists already: pass --overwrite" in err
    assert sorted(os.listdir()) == sorted(["Y.npy", "X.npy", "names.txt", f"near.{ending}"])


def test_nearest_into_a_store_resumes_and_refuses_another_request(command, searched):
    call = ("nearest", "Y.npy", "--ground", "grid:2x2", "--emd", "--out", "near.zarr/")
    for _ in range(2):
        code, out, err = command(*call, "--k", "2", "--no-progress")
        assert (code, err) == (0, "") and out.startswith("near.zarr: Neighbors(4 x 2 of 4, ")
    assert sinkdist.open_neighbors("near.zarr").indices.tolist() == [[1, 2], [0, 3], [0, 3], [1, 2]]
    code, out, err = command(*call, "--k", "1", "--no-progress")
    assert (code, out) == (2, "")
    assert "'near.zarr' holds other neighbours: k is 2 there and 1 here" in err
    assert "pass --overwrite to replace them, or another --out" in err
    code, _, _ = command(*call, "--k", "1", "--overwrite", "--no-progress")
    assert code == 0 and sinkdist.open_neighbors("near.zarr").indices.shape == (4, 1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--k", "0"), "The --k option must be at least 1"),
        (("--order", "fast"), "The --order option must be 'proven' or 'heuristic'"),
        (("--names", "X.npy"), "'X.npy' cannot be read as text"),
        (("--out", "near.npy"), "its name must end in .zarr, .csv or .parquet"),
        (("--out", "near.zarr", "--names", "names.txt"), "leave out --names, or write a .csv"),
        (("--out", "near.zarr", "--radius", "1"), "pass --k as well"),
        (("--out", "near.zarr", "--memory", "1MB"), "The memory budget of 1 MB is too small"),
        (("--scheduler", "nowhere"), "'nowhere' is not the address of a Dask scheduler"),
    ],
)
def test_mistakes_of_nearest(command, searched, more, said):
    code, out, err = command(*NEAREST, *more)
    assert (code, out) == (2, "") and said in err


def test_names_must_be_as_many_as_rows(command, searched):
    Path("names.txt").write_text("one\n")
    assert "has 1 name for 4 rows of the table" in command(*NEAREST, "--names", "names.txt")[2]


# --- the page in docs/


PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
CONSOLE = re.compile(r"^\$ sinkdist (.+)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


def parts(text):
    """The text without its numbers and blanks, and the numbers; versions come and go."""
    text = re.sub(r"sinkdist \d+\.\d+\.\w+", "sinkdist", text)
    found = [float(number.replace(",", "")) for number in NUMBER.findall(text)]
    return NUMBER.sub("#", text).split(), found


def test_the_examples_of_the_page_are_real(command, tmp_path, monkeypatch):
    """Words to the letter; numbers up to rounding, which is all that errors of 1e-7 consist of."""
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    exec(re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1], {})
    examples = CONSOLE.findall(text)
    assert len(examples) >= 8
    for line, shown in examples:
        _, out, err = command(*shlex.split(line))
        words, numbers = parts(err + out)
        shown_words, shown_numbers = parts(shown)
        assert words == shown_words, line
        assert numbers == pytest.approx(shown_numbers, rel=1e-4, abs=1e-6), line


@pytest.mark.parametrize("name", ["pairwise", "nearest", "distance", "info", "export"])
def test_the_page_shows_every_command(name):
    assert f"$ sinkdist {name} " in PAGE.read_text(encoding="utf-8")
