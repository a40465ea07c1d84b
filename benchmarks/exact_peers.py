"""Who else computes exact distances: POT, OpenCV, pyemd, and this package when it called POT.

Each is prepared for some pairs and returns their values. What a solver wants its input converted to
is made before the clock starts.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact_problems import BATCH, LOOP, TRIMMED, Case
from benchmarks.present import is_there
from benchmarks.problems import Array
from sinkdist_paper.emd_solvers import SOLVERS

Values = Callable[[Any], Array]

HERE = Path(__file__).resolve().parent.parent
BEFORE = "643052f"  #: the last commit whose ``lam=inf`` called POT


def dense(rows: Any, count: int) -> Array:
    """The first rows, dense."""
    rows = rows[:count]
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())


def _each(solver: str, trim: bool) -> Callable[[Case, Array, int], Values]:
    """A loop over pairs by a solver of one pair, on all bins or on those with mass."""

    def prepare(case: Case, M: Array, count: int) -> Values:
        solves = []
        for r, c in zip(dense(case.R, count), dense(case.C, count), strict=True):
            if trim:
                rows, columns = np.flatnonzero(r), np.flatnonzero(c)
                solves.append(
                    SOLVERS[solver].prepare(r[rows], c[columns], M[np.ix_(rows, columns)])
                )
            else:
                solves.append(SOLVERS[solver].prepare(r, c, M))
        return lambda _: np.array([solve() for solve in solves])

    return prepare


def _square(case: Case, M: Array, count: int) -> Values:
    """pyemd, which wants one set of bins for both sides: those with mass on either."""
    solves = []
    for r, c in zip(dense(case.R, count), dense(case.C, count), strict=True):
        bins = np.flatnonzero(r + c)
        solves.append(SOLVERS["FastEMD"].prepare(r[bins], c[bins], M[np.ix_(bins, bins)]))
    return lambda _: np.array([solve() for solve in solves])


def _together(case: Case, M: Array, count: int) -> Values:
    """POT's proximal point method for batches, with its own tolerance."""
    import ot

    R, C = dense(case.R, count), dense(case.C, count)
    costs = np.repeat(M[None], count, axis=0)

    def solve(_: Any) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(ot.solve_batch(costs, a=R, b=C).value_linear)

    return solve


#: A module that has to be there, and how a contestant is prepared.
PEERS: dict[str, tuple[str, Callable[[Case, Array, int], Values]]] = {
    LOOP: ("ot", _each("POT", False)),
    TRIMMED: ("ot", _each("POT", True)),
    "OpenCV": ("cv2", _each("Rubner", True)),
    "pyemd": ("pyemd", _square),
    BATCH: ("ot", _together),
}


def installed(names: dict[str, int]) -> dict[str, int]:
    """Those of the peers, and numbers of pairs, that can take part."""
    return {name: count for name, count in names.items() if is_there(PEERS[name][0])}


SCRIPT = """
import pickle, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import sinkdist as sd
for line in sys.stdin.buffer:
    with open(line.decode().strip(), "rb") as file:
        expression, data, R, C = pickle.load(file)
    ground = eval(expression)
    sd.distance(R[:2], C[:2], ground, lam=float("inf"), workers=1)  # compiles, and makes its matrix
    pickle.dump("ready", sys.stdout.buffer); sys.stdout.buffer.flush()
    while sys.stdin.buffer.readline() == b"go\\n":
        start = time.process_time()
        values = sd.distance(R, C, ground, lam=float("inf"), workers=1)
        taken = time.process_time() - start
        pickle.dump((np.atleast_1d(values), taken), sys.stdout.buffer); sys.stdout.buffer.flush()
"""


class Earlier:
    """This package at the commit `BEFORE`, in a process of its own; computes when it is told to.

    It tells its processor time itself: `seconds` is the best of the case it was prepared for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.begun, self.seconds = folder, False, float("inf")
        archive = subprocess.run(
            ["git", "-C", str(HERE), "archive", BEFORE, "src"], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(folder / "src"), "SINKDIST_QUIET": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip

    def prepare(self, case: Case) -> Values:
        """Hand it a case; the result asks for the values."""
        path = self.folder / "case.pickle"
        path.write_bytes(pickle.dumps((case.ground, case.data, case.R, case.C)))
        if self.begun:
            self._say("end\n")
        self._say(f"{path}\n")
        self.begun = True
        assert self._hear() == "ready"
        self.seconds = float("inf")

        def ask(_: Any) -> Array:
            self._say("go\n")
            values, seconds = self._hear()
            self.seconds = min(self.seconds, seconds)
            return np.asarray(values)

        return ask

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def _hear(self) -> Any:
        assert self.process.stdout is not None
        return pickle.load(self.process.stdout)


def earlier(folder: str) -> Earlier | None:
    """The earlier state, or None where git does not have it or POT is not there."""
    if not is_there("ot"):
        return None
    try:
        return Earlier(Path(folder))
    except (OSError, subprocess.CalledProcessError):
        return None


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder for the earlier state and what it compiles."""
    return tempfile.TemporaryDirectory()
