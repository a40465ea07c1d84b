"""What happens where an optional package is not installed: one sentence, and the rest works."""

import subprocess
import sys

import numpy as np
import pytest

# Packages that this process shall not find, as if they were not installed.
BLOCKER = """
import sys

class WithoutSome:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.split(".")[0] in {blocked!r}
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(WithoutSome, sys.meta_path)
"""

OPTIONAL = {
    "dask", "distributed", "filelock", "fsspec", "google_crc32c", "matplotlib", "ot", "pandas",
    "psutil", "pyarrow", "rich", "sklearn", "typer", "zarr",
}  # fmt: skip

SETUP = """
import numpy as np, sinkdist as sd
X, M = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]), [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
"""


def run(blocked, code, cwd=None):
    """A new interpreter without some packages."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKER.format(blocked=set(blocked)) + code],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def sentence(purpose, package, extra):
    return (
        f'{purpose} needs {package}: run pip install "sinkdist[{extra}]" '
        f'(in a clone: pip install ".[{extra}]").'
    )


@pytest.mark.parametrize(
    ("blocked", "call", "expected"),
    [
        ("zarr", "sd.pairwise(X, ground=M, lam=9, out='D.zarr')",
         sentence("Storing a matrix", "zarr", "store")),
        ("zarr", "sd.Index(X, M, lam=9).save('X.index')",
         sentence("Saving an index", "zarr", "store")),
        ("zarr", "sd.open_matrix('D.zarr')", sentence("Storing a matrix", "zarr", "store")),
        ("google_crc32c", "sd.pairwise(X, ground=M, lam=9, out='D.zarr')",
         sentence("Storing a matrix", "google-crc32c", "store")),
        ("filelock", "sd.pairwise(X, ground=M, lam=9, out='D.zarr')",
         sentence("Storing a matrix", "filelock", "store")),
        ("fsspec", "sd.pairwise(X, ground=M, lam=9, out='memory://D.zarr')",
         sentence("A matrix in an object store", "fsspec", "cloud")),
        ("distributed", "sd.pairwise(X, ground=M, lam=9, client=object())",
         sentence("Computing on a cluster", "distributed", "cluster")),
        ("sklearn", "import sinkdist.learn", sentence("sinkdist.learn", "scikit-learn", "learn")),
        ("matplotlib", "sd.plot", sentence("sinkdist.plot", "matplotlib", "plot")),
        ("sklearn", "from sinkdist.similarity.plane import plane; plane(np.ones((6, 6)), 'tsne')",
         sentence("A map by t-SNE", "scikit-learn", "learn")),
        ("pyarrow", "from sinkdist.files import read; read('X.parquet')",
         sentence("A file in Parquet", "pyarrow", "parquet")),
        ("PIL", "from sinkdist.files import read; read('X.png')",
         sentence("A picture", "pillow", "images")),
    ],
)  # fmt: skip
def test_a_missing_package_is_one_sentence(tmp_path, blocked, call, expected):
    code = f"{SETUP}\ntry:\n    {call}\nexcept sd.MissingExtraError as error:\n    print(error)"
    (tmp_path / "X.parquet").write_text("PAR1")
    (tmp_path / "X.png").write_text("PNG")
    done = run({blocked}, code, tmp_path)
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")
    assert not (tmp_path / "D.zarr").exists()


def test_the_command_line_without_typer():
    done = run({"typer"}, "from sinkdist.__main__ import main; main()")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"Error: {sentence('The command line', 'typer', 'cli')}\n"


def test_the_command_line_without_zarr(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(2))
    code = (
        "import sys; sys.argv[1:] = ['pairwise', 'X.npy', '--ground', 'grid:2', '--lam', '9', "
        "'--out', 'D.zarr']; from sinkdist.__main__ import main; main()"
    )
    done = run({"zarr"}, code, tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"Error: {sentence('Storing a matrix', 'zarr', 'store')}\n"


CORE = """
solution = sd.solve(X[0], X[1], M, lam=9)
assert solution.value > 0
assert sd.distance(X[0], X[1], M, lam=9) > 0 and sd.distance(X[0], X[1], M, lam=np.inf) > 0
steep = np.square(M)  # no closed form
assert sd.distance(X[0], X[1], steep, lam=np.inf) > 0
assert sd.solve(X[0], X[1], steep, lam=np.inf).solver == "simplex"
D = sd.pairwise(X, ground=M, lam=9, progress=True)
assert D.shape == (2, 2) and D[0, 1] > 0
assert sd.pairwise(X, ground=M, alpha=0.5).shape == (2, 2)
from sinkdist import *
from sinkdist import classic, similarity
for distance in (classic.chi2, classic.total_variation, classic.euclidean, classic.hellinger):
    assert distance(X)[0, 1] > 0
assert not isinstance(D, sd.StoredMatrix)
"""


def test_the_core_needs_no_extra():
    done = run(OPTIONAL, SETUP + CORE)
    assert done.returncode == 0, done.stderr
    line = done.stderr.splitlines()
    assert len(line) == 1 and line[0].startswith("3 of 3 pairs, ") and "took" in line[0]


def test_classic_distances_need_no_numba(tmp_path):
    code = """
from sinkdist import classic
for distance in (classic.chi2, classic.total_variation, classic.euclidean, classic.sqeuclidean,
                 classic.hellinger):
    assert distance(X)[0, 1] > 0
assert classic.mahalanobis(X, ground=sd.Ground.grid(3), t=1)[0, 1] > 0
assert classic.chi2(X, out="D.zarr").is_complete
"""
    done = run({"numba", "ot"}, SETUP + code, tmp_path)
    assert done.returncode == 0, done.stderr
