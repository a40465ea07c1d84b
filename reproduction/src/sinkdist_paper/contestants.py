"""The distances that the paper compares, and the values of their parameters that it tries.

A contestant has one variant for each value of its parameter; a variant is one matrix of distances
between all images. Matrices are stored, so an interrupted run resumes after the last finished tile,
and the experiments never compute a distance twice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import sinkdist as sd
from sinkdist import classic
from sinkdist_paper.data import Images
from sinkdist_paper.progress import duration

__all__ = ["ALL", "Contestant", "Variant", "stored_distances"]

Array: TypeAlias = npt.NDArray[Any]

LAMBDAS = (5, 7, 9, 11)  # in units of 1 / q50(M)
POWERS = (0.01, 0.1, 1)
ALPHAS = (1,)  # what lam = 7 / q50(M) reaches on MNIST, about
ALPHA_TOL = 1e-3  # of the marginals; for most pairs, 20 iterations at lam = 9 leave more
ITERATIONS = 20
SECONDS_BETWEEN_LINES = 10.0

# Widths of the paper's Mahalanobis matrices, in pixels^-2. The inverse of exp(-t M^2) has a
# condition number of 1e9 at t = 0.25 already, and soon no digits at all below that.
WIDTHS = (0.01, 0.1, 1)
INVERSE_WIDTHS = (0.25, 0.5, 1)


@dataclass(frozen=True, slots=True)
class Variant:
    """A contestant at one value of its parameter.

    Attributes
    ----------
    name : str
        The name of its matrix on disk.
    value : float or str
        The value of the parameter, or an empty text where there is none.
    distances : function
        ``distances(images, **options)``, with the options `out`, `workers` and `progress` of
        `pairwise`.
    """

    name: str
    value: float | str
    distances: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A distance of the experiment.

    Attributes
    ----------
    name : str
        In files.
    label : str
        In figures and tables.
    parameter : str
        The name of the parameter in which its variants differ.
    variants : tuple of Variant
        At least one.
    """

    name: str
    label: str
    parameter: str
    variants: tuple[Variant, ...]


def _transport(images: Images, *, of: dict[str, Any], **options: Any) -> Any:
    """Distances of the family of Sinkhorn distances, in pixels."""
    return sd.pairwise(images.histograms, ground=images.ground, **of, **options)


def _sinkhorn(images: Images, *, multiple: float, **options: Any) -> Any:
    """Algorithm 1, a fixed number of iterations."""
    lam = multiple / float(np.median(images.ground.matrix))
    return _transport(images, of={"lam": lam, "iterations": ITERATIONS}, **options)


def _independence(images: Images, *, power: float, **options: Any) -> Any:
    """``r^T M^a c``."""
    ground = images.ground.matrix**power
    return sd.pairwise(images.histograms, ground=ground, lam=0, **options)


def _classic(images: Images, *, of: Callable[..., Any], **options: Any) -> Any:
    """A distance that does not use the ground metric."""
    return of(images.histograms, **options)


def _mahalanobis(images: Images, *, width: float, inverse: bool, **options: Any) -> Any:
    """With the matrix ``exp(-t M^2)`` or its inverse; in double precision, for the inverse."""
    return classic.mahalanobis(
        images.histograms.astype(np.float64),
        normalize=True,  # float32 shares sum to 1 in float32 only
        ground=images.ground,
        t=width,
        inverse=inverse,
        **options,
    )


def _alone(name: str, label: str, distances: Callable[..., Any]) -> Contestant:
    """A contestant without a parameter."""
    return Contestant(name, label, "", (Variant(name, "", distances),))


def _mahalanobis_variants(inverse: bool, widths: tuple[float, ...]) -> tuple[Variant, ...]:
    """One for each width."""
    stem = "mahalanobis-inverse" if inverse else "mahalanobis"
    return tuple(
        Variant(f"{stem}-{t:g}", t, partial(_mahalanobis, width=t, inverse=inverse)) for t in widths
    )


# From the cheapest to the most expensive, so that first results are there soon.
ALL = (
    Contestant(
        "sinkhorn",
        "Sinkhorn",
        "lam q50(M)",
        tuple(Variant(f"lam-{x}", x, partial(_sinkhorn, multiple=x)) for x in LAMBDAS),
    ),
    Contestant(
        "independence",
        "Independence",
        "a",
        tuple(Variant(f"independence-{a:g}", a, partial(_independence, power=a)) for a in POWERS),
    ),
    _alone("hellinger", "Hellinger", partial(_classic, of=classic.hellinger)),
    _alone("chi2", "Chi squared", partial(_classic, of=classic.chi2)),
    _alone("total-variation", "Total variation", partial(_classic, of=classic.total_variation)),
    _alone("sqeuclidean", "Squared Euclidean", partial(_classic, of=classic.sqeuclidean)),
    Contestant("mahalanobis", "Mahalanobis", "t", _mahalanobis_variants(False, WIDTHS)),
    Contestant(
        "mahalanobis-inverse",
        "Mahalanobis, inverse",
        "t",
        _mahalanobis_variants(True, INVERSE_WIDTHS),
    ),
    Contestant(
        "alpha",
        "Sinkhorn, fixed alpha",
        "alpha",
        tuple(
            Variant(f"alpha-{x:g}", x, partial(_transport, of={"alpha": x, "tol": ALPHA_TOL}))
            for x in ALPHAS
        ),
    ),
    _alone("emd", "EMD", partial(_transport, of={"lam": np.inf})),
)


def stored_distances(
    variant: Variant,
    images: Images,
    folder: Path,
    *,
    workers: int | None = None,
    tell: Callable[[str], None],
) -> Array:
    """The matrix of a variant; tiles that are already on disk are not computed again.

    Parameters
    ----------
    variant : Variant
        Which distance.
    images : Images
        Between all of these.
    folder : Path
        Where matrices of these images are stored.
    workers : int, optional
        Threads.
    tell : function
        Called with a line on the progress every few seconds.

    Returns
    -------
    ndarray of shape (n, n)
        Memory-mapped from a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listener = _every_few_seconds(partial(_line, variant.name, tell))
    matrix = variant.distances(  # raises if the stored matrix is of other images
        images, out=folder / f"{variant.name}.zarr", workers=workers, progress=listener
    )
    flat = folder / f"{variant.name}.npy"
    if not flat.exists():
        _flatten(matrix, flat)
    distances: Array = np.load(flat, mmap_mode="r")
    return distances


def _flatten(matrix: sd.StoredMatrix, path: Path) -> None:
    """Write a stored matrix as one .npy file, atomically."""
    unfinished = path.with_suffix(".part")
    flat = np.lib.format.open_memmap(unfinished, "w+", matrix.dtype, matrix.shape)
    for rows in _slabs(len(matrix)):
        flat[rows] = matrix[rows]
    flat.flush()
    unfinished.replace(path)


def _slabs(n: int, height: int = 1024) -> Iterator[slice]:
    """Rows, some at a time."""
    for start in range(0, n, height):
        yield slice(start, min(start + height, n))


def _line(name: str, tell: Callable[[str], None], progress: sd.Progress) -> None:
    """Say how many pairs of a matrix are done, and how long the others take."""
    line = f"distances {name}: {progress.done:,} of {progress.total:,} pairs"
    rate, left = progress.pairs_per_second, progress.total - progress.done
    tell(f"{line}, {duration(math.ceil(left / rate))} left" if rate > 0 and left else line)


def _every_few_seconds(
    listener: Callable[[sd.Progress], None],
) -> Callable[[sd.Progress], None]:
    """A listener that passes on a record every few seconds, and the last one."""
    last = -SECONDS_BETWEEN_LINES

    def listen(progress: sd.Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES or progress.done == progress.total:
            last = now
            listener(progress)

    return listen
