"""The distances that the paper compares, and the values of their parameters that it tries.

A contestant has one variant for each value of its parameter; a variant is one matrix of distances
between all images; `sinkdist_paper.block_store` stores it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import sinkdist as sd
from sinkdist import classic
from sinkdist_paper.data import Images

__all__ = ["ALL", "Contestant", "Variant"]

LAMBDAS = (5, 7, 9, 11)  # in units of 1 / q50(M)
POWERS = (0.01, 0.1, 1)
# Between two digits of MNIST, lam = 7 / q50(M) gives an alpha of about 1, and the optimal table of
# the EMD has one between 3.3 and 5.0 (of 5,000 pairs; half of them below 4.3). So alpha = 4 is the
# EMD, or nearly, and takes more than 20 times as long: it is not tried.
ALPHAS = (0.5, 1, 2)
ALPHA_LIMIT = 3_000  # images
ALPHA_TOL = 1e-3  # of the marginals; for most pairs, 20 iterations at lam = 9 leave more
ITERATIONS = 20

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
        ``distances(images, others, **options)``: between all images and all others, or between all
        images where `others` is None; with the options `out`, `workers` and `progress` of
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
    limit : int, optional
        The largest number of images for which all variants are tried. For more images, only the one
        is that cross-validation chose most often for the largest number up to the limit (for the
        smallest number, where all are above the limit).
    """

    name: str
    label: str
    parameter: str
    variants: tuple[Variant, ...]
    limit: int | None = None


def _transport(images: Images, others: Images | None, *, of: dict[str, Any], **options: Any) -> Any:
    """Distances of the family of Sinkhorn distances, in pixels."""
    X, Y = _rows(images, others)
    return sd.pairwise(X, Y, ground=images.ground, **of, **options)


def _sinkhorn(images: Images, others: Images | None, *, multiple: float, **options: Any) -> Any:
    """Algorithm 1, a fixed number of iterations."""
    lam = multiple / float(np.median(images.ground.matrix))
    return _transport(images, others, of={"lam": lam, "iterations": ITERATIONS}, **options)


def _independence(images: Images, others: Images | None, *, power: float, **options: Any) -> Any:
    """``r^T M^a c``."""
    ground = images.ground.matrix**power
    X, Y = _rows(images, others)
    return sd.pairwise(X, Y, ground=ground, lam=0, **options)


def _classic(
    images: Images, others: Images | None, *, of: Callable[..., Any], **options: Any
) -> Any:
    """A distance that does not use the ground metric."""
    return of(*_rows(images, others), **options)


def _mahalanobis(
    images: Images, others: Images | None, *, width: float, inverse: bool, **options: Any
) -> Any:
    """With the matrix ``exp(-t M^2)`` or its inverse; in double precision, for the inverse."""
    return classic.mahalanobis(
        *(None if rows is None else rows.astype(np.float64) for rows in _rows(images, others)),
        normalize=True,  # float32 shares sum to 1 in float32 only
        ground=images.ground,
        t=width,
        inverse=inverse,
        **options,
    )


def _rows(images: Images, others: Images | None) -> tuple[Any, Any]:
    """The histograms of both families; None for the second where there is one."""
    return images.histograms, None if others is None else others.histograms


def _alone(name: str, label: str, distances: Callable[..., Any]) -> Contestant:
    """A contestant without a parameter."""
    return Contestant(name, label, "", (Variant(name, "", distances),))


def _mahalanobis_variants(inverse: bool, widths: tuple[float, ...]) -> tuple[Variant, ...]:
    """One for each width."""
    stem = "mahalanobis-inverse" if inverse else "mahalanobis"
    return tuple(
        Variant(f"{stem}-{t:g}", t, partial(_mahalanobis, width=t, inverse=inverse)) for t in widths
    )


# The paper's own from the cheapest to the most expensive, so that first results are there soon.
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
    _alone("emd", "EMD", partial(_transport, of={"lam": np.inf})),
    Contestant(
        "alpha",
        "Sinkhorn, fixed alpha",
        "alpha",
        tuple(
            Variant(f"alpha-{x:g}", x, partial(_transport, of={"alpha": x, "tol": ALPHA_TOL}))
            for x in ALPHAS
        ),
        ALPHA_LIMIT,
    ),
)
