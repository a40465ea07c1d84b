"""The paper's advice, ``ceil(a + b L^c)`` iterations at ``L = lam median(M)``, from the counts."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sinkdist import InputError
from sinkdist_paper.fig5.counts import COVERED, covering, of, share_stopped, strengths
from sinkdist_paper.figure import Records

__all__ = ["fit"]

Array = npt.NDArray[np.float64]

# Where to look for the constants, which are then no longer than they need be.
STARTS = tuple(tenths / 10 for tenths in range(5, 31))
POWERS = tuple(hundredths / 100 for hundredths in range(50, 801))


def fit(records: Records) -> tuple[float, float, float, float]:
    """Fit the number of iterations to the counts on the simplex.

    At each lambda, the pairs of all dimensions together have a number of iterations by which 95 %
    of them are at rest. Of the curves that are nowhere below these numbers, the one is taken whose
    largest ratio to them is the smallest. A lambda at which more than 5 % of the pairs were given
    up is left out.

    Parameters
    ----------
    records : sequence of dict
        The records of figure 5.

    Returns
    -------
    a, b, c : float
        The constants, in three digits.
    largest : float
        The largest lambda that was fitted to.
    """
    counted = of(records)
    points = [
        (lam, covering(of(counted, lam=lam)))
        for lam in strengths(counted)
        if share_stopped(of(counted, lam=lam)) >= COVERED / 100
    ]
    if len(points) < 3:
        raise InputError(
            "A fit needs counts at three values of lambda at least, with no more than 5 % of the "
            f"pairs given up. Got {len(points)}."
        )
    lams, needed = np.array(points).T
    a, b, c = min(
        (_covering(a, c, lams, needed) for a in STARTS for c in POWERS),
        key=lambda curve: _excess(curve, lams, needed),
    )
    return a, b, c, float(lams.max())


def _covering(a: float, c: float, lams: Array, needed: Array) -> tuple[float, float, float]:
    """The lowest curve with this start and power that is nowhere below what is needed."""
    return a, _rounded_up(float(np.max((needed - a) / lams**c))), c


def _excess(curve: tuple[float, float, float], lams: Array, needed: Array) -> float:
    """The largest ratio of a curve to what is needed."""
    a, b, c = curve
    return float(np.max((a + b * lams**c) / needed))


def _rounded_up(number: float) -> float:
    """The least number of three digits that is not below."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return float(f"{math.ceil(number / unit) * unit:.2e}")
