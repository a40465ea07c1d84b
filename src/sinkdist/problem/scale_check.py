"""The warning for a lam that ignores the unit of the costs.

The paper's lam is for costs of median 1. On pixels, whose distances run to dozens, lam = 9 is
almost the exact distance: right, but slow, and rarely what was meant.
"""

from __future__ import annotations

import math
from typing import Any

from sinkdist.errors import ScaleWarning, warn_caller
from sinkdist.ground import Ground
from sinkdist.problem.strength import is_relative
from sinkdist.wording import either

__all__ = ["MOST", "check_scale"]

MOST = 100.0  #: lam times the median cost from which on lam was probably meant for scaled costs
_PIXEL = 1.0  #: lam times the cost of a step to the next pixel
_UNIT = 1e-9  #: how far from 1 a median is that somebody has divided by
#: Largest costs that are in a unit made for them: of a unit square, cosines, maxima of 1.
_SMALL = 4.0


def check_scale(lam: float, given: Any, ground: Ground) -> None:
    """Warn, once for a ground, where lam is large for costs that nobody has scaled.

    Parameters
    ----------
    lam : float
        What was read; NaN where it is not known, and inf for the exact distance.
    given : object
        The ``lam`` option: one that is relative to the median is meant as it is.
    ground : Ground
        The costs.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     check_scale(9.0, 9.0, Ground.grid(28, 28))
    ...     check_scale(9.0, 9.0, Ground.grid(28, 28).scaled())
    >>> len(heard)
    1
    """
    if not lam < math.inf or is_relative(given) or ground.is_unit_known:
        return
    if ground.as_grid is not None and lam * min(ground.as_grid.steps) <= _PIXEL:
        return  # on a large grid, a blur of about a pixel is far from the exact distance
    if ground.max <= _SMALL:
        return  # costs that the caller has scaled, or that are bounded: such a lam is meant
    if lam * ground.max <= MOST or lam * ground.median <= MOST:
        return
    if abs(ground.median - 1.0) <= _UNIT:
        return
    ground.know_unit()
    name = "lam" if given is not None else "1 / reg"
    warn_caller(
        ScaleWarning(
            f"{name} times the median cost is {lam * ground.median:.3g}, which is almost the exact "
            "distance: the costs were not scaled. {}",
            either(
                "Pass ground.scaled(), or lam='9/median', which is the same in every unit. "
                "Where it is meant, filter sinkdist.ScaleWarning.",
                "Pass --scaled, or --lam 9/median, which is the same in every unit.",
            ),
        )
    )
