"""All pairs as a job for `scale`: the facts that decide the values, and what they may cost."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.pairs.all_pairs import AllPairs
from sinkdist.pairs.call import Call
from sinkdist.pairs.matched import TILE_PAIRS
from sinkdist.pairs.report import SHORT
from sinkdist.problem.strength import Kind
from sinkdist.scale.job import Job
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.exact import load_simplex

__all__ = ["fingerprint", "ground_fingerprint", "job_of", "statuses"]

_SAMPLE = 1000  # rows looked at for the mean support
#: Seconds for one entry of a pair's kernel, to the nearest power of ten or so: by matrix products
#: for each of Algorithm 1's steps, for a pair to tolerance, for the search of alpha, for the exact
#: distance.
_STEP, _TOLERANCE, _SEARCH, _SIMPLEX = 4e-11, 1e-8, 5e-8, 1e-7
_ARRAYS = 8  # of pairs x bins in double precision that a batch holds at most
_KERNELS = 4  # copies of a pair's kernel, or of the whole one


def job_of(pairs: AllPairs) -> Job:
    """The same work, described to stores and clusters."""
    call, A, B = pairs.call, pairs.A, pairs.B
    if call.strength.kind in (Kind.EXACT, Kind.CONSTRAINED):
        load_simplex()  # now, so that the plan knows what it holds
    support, other = _mean_support(A), _mean_support(B)
    rows, columns = call.ground.shape
    return Job(
        (A.n, B.n),
        call.dtype,
        pairs.upper,
        pairs,
        {"parameters": _parameters(pairs), "fingerprints": _fingerprints(pairs)},
        statuses(),
        SHORT,
        max(1e-7, _seconds_per_entry(call) * support * other),
        8 * (_ARRAYS * TILE_PAIRS * (rows + columns) + _KERNELS * rows * columns),
        8 * _KERNELS * rows * columns,
    )


def statuses() -> dict[int, str]:
    """What the codes of a stored status mean, in a word or two."""
    return {int(status): status.name.lower().replace("_", " ") for status in Status}


def fingerprint(family: Histograms) -> str:
    """A number that two families share only if they are the same, to the bit."""
    rows = family.rows
    if isinstance(rows, np.ndarray):
        arrays = [rows]
    else:  # the type of indices is SciPy's choice
        arrays = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    return _digest(arrays, f"{rows.shape} {rows.dtype}")


def ground_fingerprint(ground: Ground) -> str:
    """The same for costs between bins."""
    return _digest([ground.matrix], str(ground.shape))


def _parameters(pairs: AllPairs) -> dict[str, Any]:
    """What was asked for, as JSON; None where it has no part in the result."""
    strength, stop = pairs.call.strength, pairs.call.stopping
    to_tolerance = stop.iterations is None and strength.kind in (Kind.PENALISED, Kind.CONSTRAINED)
    return {
        "distance": strength.kind.value,
        "lam": _number(strength.lam),
        "alpha": _number(strength.alpha),
        "tol": stop.tol if to_tolerance else None,
        "max_iter": stop.max_iter if to_tolerance else None,
        "iterations": stop.iterations,
        "solver": pairs.call.solver.name,
        "dtype": str(pairs.call.dtype),
        "coincidence": pairs.coincidence,
        "debiased": pairs.postprocess is not None,
    }


def _fingerprints(pairs: AllPairs) -> dict[str, str | None]:
    """The inputs; a second family only where there is one."""
    return {
        "X": fingerprint(pairs.A),
        "Y": None if pairs.one_family else fingerprint(pairs.B),
        "ground": ground_fingerprint(pairs.call.ground),
    }


def _digest(arrays: list[Any], about: str) -> str:
    """A digest of arrays and of what they are."""
    digest = hashlib.sha256(about.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()


def _number(value: float) -> float | str | None:
    """A number that JSON can hold; None for one that was not asked for."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def _seconds_per_entry(call: Call) -> float:
    """Roughly, for one entry of a pair's kernel."""
    if call.strength.kind is Kind.PENALISED:
        iterations = call.stopping.iterations
        return _TOLERANCE if iterations is None else 2 * iterations * _STEP
    return {Kind.CONSTRAINED: _SEARCH, Kind.EXACT: _SIMPLEX}.get(call.strength.kind, _STEP)


def _mean_support(family: Histograms) -> float:
    """Bins with mass in a histogram, on average."""
    if family.n == 0:
        return float(family.d)
    sample = family.dense(slice(0, _SAMPLE))
    return float(np.count_nonzero(sample)) / len(sample)
