"""All pairs as a job for `scale`: the facts that decide the values, and what they may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sinkdist.inputs.fingerprints import fingerprint
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.matched import TILE_PAIRS
from sinkdist.pairs.report import SHORT
from sinkdist.scale.job import Job
from sinkdist.solution.status import Status

if TYPE_CHECKING:
    from sinkdist.pairs.all_pairs import AllPairs

__all__ = ["job_of", "mean_support", "statuses"]

_SAMPLE = 1000  #: rows looked at for the mean support
_ARRAYS = 8  #: of pairs x bins in double precision that a row batch holds at most
_KERNELS = 4  #: copies of a pair's kernel, or of the whole one


def job_of(pairs: AllPairs, *, stored: bool) -> Job:
    """The work of `pairs`, described to `scale`; what only stores need, where it is ``stored``."""
    problem, A, B = pairs.problem, pairs.A, pairs.B
    support, other = mean_support(A), mean_support(B)
    rows, columns = problem.ground.shape
    seconds = problem.member.seconds_per_entry(problem.stopping)
    return Job(
        (A.n, B.n),
        problem.dtype,
        pairs.upper,
        pairs,
        {"parameters": problem.facts(), "fingerprints": _fingerprints(pairs)} if stored else {},
        statuses(),
        SHORT,
        max(1e-7, seconds * support * other),
        8 * (_ARRAYS * TILE_PAIRS * (rows + columns) + _KERNELS * rows * columns),
        8 * _KERNELS * rows * columns,
        by_rows=TILE_PAIRS,
    )


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
    sample = family.dense(slice(0, _SAMPLE))
    return float(np.count_nonzero(sample)) / len(sample)
