"""How far numbers may be off and still count as histograms: the same on every device.

By the name of a dtype, which all libraries share.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["NEGLIGIBLE", "TOTALS", "negative_rounding", "slack"]

#: Masses below these count as zero: they change no distance that can be seen, and their scalings
#: would leave the range of the dtype. Twice the limit is what rescaling cannot push below it.
NEGLIGIBLE = {"float32": float(np.finfo(np.float32).tiny), "float64": 1e-100}
#: What histograms may sum to where they need not sum to 1: far from `NEGLIGIBLE` masses.
TOTALS = 1e-30, 1e30
_NEGATIVE = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6}
_EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def negative_rounding(dtype: str) -> float:
    """Negative entries down to this fraction of their row's maximum are rounding and become 0."""
    return _NEGATIVE.get(dtype, 1e-12)


def slack(dtype: str, bins: int) -> float:
    """How far a sum may be from 1 and count as rounding.

    float64 is held to the rounding of float32 as well: softmaxes of networks are often float32
    numbers that were cast. One per cent is never rounding, not even in half precision.
    """
    return min(10.0 * _EPS.get(dtype, 2.0**-23) * math.sqrt(bins), 0.01)
