"""The verb `estimate`: what `pairwise` will take, before an hours-long run."""

from __future__ import annotations

from typing import Any

from sinkdist.errors import InputError
from sinkdist.inputs.array_context import is_on_device
from sinkdist.inputs.named_options import named_options
from sinkdist.pairs.all_pairs import AllPairs
from sinkdist.pairs.debiasing import debiasing
from sinkdist.pairs.job import job_of
from sinkdist.pairs.reading import check_flags, read_families, read_problem, require_families
from sinkdist.problem.options import Options
from sinkdist.scale import threads
from sinkdist.scale.estimate import Estimate, estimated

__all__ = ["estimate"]


@named_options
def estimate(
    X: Any,
    Y: Any = None,
    *,
    ground: Any,
    lam: float | str | None = None,
    reg: float | None = None,
    alpha: float | None = None,
    mass_penalty: float | tuple[float, float] | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    iterations: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    normalize: bool = False,
    on_empty: str = "raise",
    coincidence: bool = False,
    debiased: bool = False,
    workers: int | None = None,
) -> Estimate:
    """What `pairwise` will take for the same arguments: pairs, memory and time.

    Random parts of rows are solved for two seconds, with all workers; compiling is not counted.

    Parameters
    ----------
    X, Y, ground, lam, reg, alpha, mass_penalty, tol, max_iter, iterations, solver, dtype,
    normalize, on_empty, coincidence, debiased, workers
        As for `pairwise`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np, sinkdist as sd
    >>> X = np.random.default_rng(0).dirichlet(np.ones(16), size=200)
    >>> found = sd.estimate(X, ground=sd.Ground.grid(4, 4), lam="9/median")
    >>> found.pairs, found.matrix_bytes, 0 < found.seconds < 60
    (20100, 320000, True)
    """
    options = Options(
        lam=lam, reg=reg, alpha=alpha, mass_penalty=mass_penalty, tol=tol, max_iter=max_iter,
        iterations=iterations, solver=solver, dtype=dtype, normalize=normalize, on_empty=on_empty,
        coincidence=coincidence, debiased=debiased, workers=workers,
    )  # fmt: skip
    check_flags(options)
    if is_on_device(X, Y, ground):
        raise InputError("estimate is for NumPy arrays: bring these to the host first.")
    problem = read_problem(X, Y, ground, options)
    one = Y is None
    A, B = read_families(X, X if one else Y, ("X", "X" if one else "Y"), problem)
    require_families(A, B)
    count = threads.count(workers)
    pairs = AllPairs(
        problem, A, B, one_family=one, need_error=False, workers=workers,
        postprocess=debiasing(problem, A, B, count) if debiased else None,
    )  # fmt: skip
    return estimated(job_of(pairs, stored=False), count)
