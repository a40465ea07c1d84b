"""The Mahalanobis distance, the one among the classic distances that knows the ground."""

from __future__ import annotations

import math
import numbers
from typing import Any

from sinkdist.classic.docstrings import fill_docstring
from sinkdist.classic.embedding import factor
from sinkdist.classic.formulas import MAHALANOBIS
from sinkdist.classic.pairs import Options, compute, embed, read_families
from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs.fingerprints import digest
from sinkdist.inputs.flags import flag

__all__ = ["mahalanobis"]


@fill_docstring
def mahalanobis(
    X: Any,
    Y: Any = None,
    *,
    ground: Any,
    t: float,
    inverse: bool = False,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Mahalanobis distances ``sqrt((X[i] - Y[j])^T A (X[i] - Y[j]))`` between all rows.

    ``A = exp(-t M^2)`` entry by entry, or the inverse of that matrix: the two that the paper tries.
    For large t both are the Euclidean distance.

    <families>
    ground : Ground or array_like, shape (d, d)
        The costs M, symmetric. Where they are Euclidean distances, A is positive definite for every
        t; where it is not even semi-definite there is no distance, which is an error.
    t : float
        Positive; in units of one over squared cost.
    inverse : bool
        Take the inverse of ``exp(-t M^2)``. For small t that is too badly conditioned to be
        computed: beyond a condition number of 1e10, which leaves some six digits, it is an error.
    <options>

    <result>

    Examples
    --------
    >>> import sinkdist as sd
    >>> from sinkdist.classic import mahalanobis
    >>> mahalanobis([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], ground=sd.Ground.grid(2), t=1).round(3)
    array([[0.   , 1.124, 0.562],
           [1.124, 0.   , 0.562],
           [0.562, 0.562, 0.   ]])
    """
    options = Options(normalize, on_empty, workers, progress, memory, out, overwrite, client)
    ground = Ground.of(ground)
    _check_mahalanobis(t, inverse)
    families = read_families(X, Y, options, bins=ground.shape[0])
    return compute(
        MAHALANOBIS,
        families,
        options,
        rows=embed(families, factor(ground, float(t), inverse=bool(inverse))),
        parameters={"t": float(t), "inverse": bool(inverse)},
        fingerprints={"ground": digest([ground.matrix], str(ground.shape))},
    )


def _check_mahalanobis(t: Any, inverse: Any) -> None:
    """Raise for what is no strength, or no answer to a question."""
    if isinstance(t, bool) or not isinstance(t, numbers.Real) or not 0.0 < float(t) < math.inf:
        raise InputError(f"The 't' option must be a positive number. Got {t!r} instead.")
    flag("inverse", inverse)
