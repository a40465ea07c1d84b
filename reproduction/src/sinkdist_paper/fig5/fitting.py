"""Fits the advice, ``ceil(a + b L^c)`` iterations at ``L = lam median(M)``, to the counts."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sinkdist import InputError
from sinkdist_paper.fig5.counts import COVERED, covering, of, share_stopped, strengths
from sinkdist_paper.figure import Records

__all__ = ["fit"]

Array = npt.NDArray[np.float64]

# The values of a and c that are tried.
STARTS = tuple(tenths / 10 for tenths in range(5, 31))
POWERS = tuple(hundredths / 100 for hundredths in range(50, 801))


def fit(records: Records) -> tuple[float, float, float, float]:
    """Fit the number of iterations to the counts on the simplex.

    At each lambda, the fit needs the number of iterations by which 95 % of the pairs of all
    dimensions pass the test. Of the curves that are nowhere below these numbers, the one with the
    smallest largest ratio to them is returned. Values of lambda at which more than 5 % of the pairs
    were given up are left out.

    Parameters
    ----------
    records : sequence of dict
        The records of figure 5.

    Returns
    -------
    a, b, c : float
        The constants, in three digits.
    largest : float
        The largest lambda of the fit.
    """
    counted = of(records)
    points = [
        (lam, covering(of(counted, lam=lam)))
        for lam in strengths(counted)
        if share_stopped(of(counted, lam=lam)) >= COVERED / 100
    ]
    if len(points) < 3:
        raise InputError(
            "A fit needs counts at three or more values of lambda with at most 5 % of the pairs "
            f"given up. Got {len(points)} instead."
        )
    lams, needed = np.array(points).T
    a, b, c = min(
        (_covering(a, c, lams, needed) for a in STARTS for c in POWERS),
        key=lambda curve: _excess(curve, lams, needed),
    )
    return a, b, c, float(lams.max())


def _covering(a: float, c: float, lams: Array, needed: Array) -> tuple[float, float, float]:
    """The lowest curve with these a and c that is nowhere below the numbers needed."""
    return a, _rounded_up(float(np.max((needed - a) / lams**c))), c


def _excess(curve: tuple[float, float, float], lams: Array, needed: Array) -> float:
    """The largest ratio of a curve to the numbers needed."""
    a, b, c = curve
    return float(np.max((a + b * lams**c) / needed))


def _rounded_up(number: float) -> float:
    """The number rounded up to three significant digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return float(f"{math.ceil(number / unit) * unit:.2e}")
