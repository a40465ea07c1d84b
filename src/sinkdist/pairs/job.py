"""All pairs as a job for `scale`: the facts that decide the values, and what they may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sinkdist.inputs.fingerprints import fingerprint
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.matched import pairs_at_once
from sinkdist.pairs.report import SHORT
from sinkdist.problem.problem import Problem
from sinkdist.scale.job import Job
from sinkdist.solution.status import Status
from sinkdist.solvers.local import MOST_COSTS

if TYPE_CHECKING:
    from sinkdist.pairs.all_pairs import AllPairs

__all__ = ["job_of", "mean_support", "statuses"]

_SAMPLE = 1000  #: rows looked at for the mean support
_ARRAYS = 8  #: of pairs x bins in double precision that a row batch holds at most
_KERNELS = 4  #: copies of a pair's kernel, or of the whole one
_SECONDS_PER_BIN, _PER_BIN = 1e-6, 100  #: of a pair that needs no matrix: seconds, and numbers held


def job_of(pairs: AllPairs, *, stored: bool) -> Job:
    """The work of `pairs`, described to `scale`; what only stores need, where it is ``stored``."""
    problem, A, B = pairs.problem, pairs.A, pairs.B
    at_once = pairs_at_once(problem.ground, pairs.is_sparse)
    seconds, each, shared = _costs(problem, mean_support(A), mean_support(B), at_once)
    return Job(
        (A.n, B.n),
        problem.dtype,
        pairs.upper,
        pairs,
        {"parameters": problem.facts(), "fingerprints": _fingerprints(pairs)} if stored else {},
        statuses(),
        SHORT,
        seconds,
        each,
        shared,
        by_rows=0 if pairs.is_local else at_once,
    )


def _costs(problem: Problem, support: float, other: float, at_once: int) -> tuple[float, int, int]:
    """Seconds for a pair, bytes for a worker, and bytes that all of them share."""
    ground, member = problem.ground, problem.member
    rows, columns = ground.shape
    seconds, masses = (
        member.seconds_per_entry(problem.stopping),
        _ARRAYS * at_once * (rows + columns),
    )
    by_entries = max(1e-7, seconds * support * other)
    if ground.is_dense:
        kernels = _KERNELS * rows * columns
        return by_entries, 8 * (masses + kernels), 8 * kernels
    if member.needs_matrix(problem):  # between the bins of a tile
        return by_entries, 8 * _KERNELS * MOST_COSTS, 0
    return max(1e-7, _SECONDS_PER_BIN * (rows + columns)), 8 * (masses + _PER_BIN * rows), 0


def statuses() -> dict[int, str]:
    """What the codes of a stored status mean, in a word or two."""
    return {int(status): status.name.lower().replace("_", " ") for status in Status}


def _fingerprints(pairs: AllPairs) -> dict[str, str | None]:
    """The inputs; a second family only where there is one."""
    return {
        "X": fingerprint(pairs.A),
        "Y": None if pairs.one_family else fingerprint(pairs.B),
        "ground": pairs.problem.ground.fingerprint,
    }


def mean_support(family: Histograms) -> float:
    """Bins with mass in a histogram, on average."""
    if family.n == 0:
        return float(family.d)
    if not isinstance(family.rows, np.ndarray):
        return float(family.rows.nnz) / family.n
    sample = family.dense(slice(0, _SAMPLE))
    return float(np.count_nonzero(sample)) / len(sample)
