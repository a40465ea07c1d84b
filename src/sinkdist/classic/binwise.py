"""The distances that look at one bin at a time, with the options of `pairwise`."""

from __future__ import annotations

from typing import Any

from sinkdist.classic import formulas
from sinkdist.classic.docstrings import fill_docstring
from sinkdist.classic.pairs import compute, read_families
from sinkdist.problem.options import Options

__all__ = ["chi2", "euclidean", "hellinger", "sqeuclidean", "total_variation"]


@fill_docstring
def euclidean(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Euclidean distances ``sqrt(sum_k (X[i, k] - Y[j, k])^2)`` between all rows.

    <families>
    <options>

    <result>

    See Also
    --------
    sqeuclidean : the same without the root.
    hellinger : the same on square roots, bounded by 1.

    Examples
    --------
    >>> from sinkdist.classic import euclidean
    >>> euclidean([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.414, 0.707],
           [1.414, 0.   , 0.707],
           [0.707, 0.707, 0.   ]])
    """
    options = Options(
        normalize=normalize, on_empty=on_empty, workers=workers, progress=progress, memory=memory,
        out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    return compute(formulas.EUCLIDEAN, read_families(X, Y, options), options)


@fill_docstring
def sqeuclidean(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Squared Euclidean distances ``sum_k (X[i, k] - Y[j, k])^2`` between all rows.

    No metric, since the triangle inequality fails; ``exp(-d / t)`` is the Gaussian kernel.

    <families>
    <options>

    <result>

    See Also
    --------
    euclidean : their square roots.

    Examples
    --------
    >>> from sinkdist.classic import sqeuclidean
    >>> sqeuclidean([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    array([[0. , 2. , 0.5],
           [2. , 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    options = Options(
        normalize=normalize, on_empty=on_empty, workers=workers, progress=progress, memory=memory,
        out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    return compute(formulas.SQEUCLIDEAN, read_families(X, Y, options), options)


@fill_docstring
def hellinger(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Hellinger distances ``sqrt(sum_k (sqrt(X[i, k]) - sqrt(Y[j, k]))^2 / 2)`` between all rows.

    A metric between 0 (equal rows) and 1 (rows without a common bin).

    <families>
    <options>

    <result>

    See Also
    --------
    euclidean : the same without square roots.

    Examples
    --------
    >>> from sinkdist.classic import hellinger
    >>> hellinger([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.   , 0.541],
           [1.   , 0.   , 0.541],
           [0.541, 0.541, 0.   ]])
    """
    options = Options(
        normalize=normalize, on_empty=on_empty, workers=workers, progress=progress, memory=memory,
        out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    return compute(formulas.HELLINGER, read_families(X, Y, options), options)


@fill_docstring
def chi2(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Chi-squared distances ``1/2 sum_k (X[i, k] - Y[j, k])^2 / (X[i, k] + Y[j, k])``, all rows.

    With the factor 1/2 they lie between 0 (equal rows) and 1 (rows without a common bin);
    scikit-learn's ``additive_chi2_kernel`` is -2 times this. A bin that is empty in both rows
    adds 0. No metric; their square roots are one.

    <families>
    <options>

    <result>

    See Also
    --------
    total_variation : at least this, and at most its square root.

    Examples
    --------
    >>> from sinkdist.classic import chi2
    >>> chi2([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.   , 0.333],
           [1.   , 0.   , 0.333],
           [0.333, 0.333, 0.   ]])
    """
    options = Options(
        normalize=normalize, on_empty=on_empty, workers=workers, progress=progress, memory=memory,
        out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    return compute(formulas.CHI2, read_families(X, Y, options), options)


@fill_docstring
def total_variation(
    X: Any,
    Y: Any = None,
    *,
    normalize: bool = False,
    on_empty: str = "raise",
    workers: int | None = None,
    progress: Any = False,
    memory: str | int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
) -> Any:
    """Total variation distances ``1/2 sum_k |X[i, k] - Y[j, k]|`` between all rows.

    A metric between 0 (equal rows) and 1 (rows without a common bin): half of the L1 distance, and
    the earth mover's distance if every move costs 1.

    <families>
    <options>

    <result>

    See Also
    --------
    chi2 : at most this, and at least its square.

    Examples
    --------
    >>> from sinkdist.classic import total_variation
    >>> total_variation([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    array([[0. , 1. , 0.5],
           [1. , 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    options = Options(
        normalize=normalize, on_empty=on_empty, workers=workers, progress=progress, memory=memory,
        out=out, overwrite=overwrite, client=client,
    )  # fmt: skip
    return compute(formulas.TOTAL_VARIATION, read_families(X, Y, options), options)
