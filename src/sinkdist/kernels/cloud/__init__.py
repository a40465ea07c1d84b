"""Compiled primitives for clouds of points: costs on the fly, never a matrix.

exponentials  an exponential that loops turn into vectors, in both precisions
runs          costs from one point to a run of others, and to the box around it
sweeps        rows of a plan: a row update and the sums of columns in one read
moments       means under a plan, its cost, and least costs
"""

from __future__ import annotations

__all__ = ["METRICS", "RUN"]

RUN = 64  #: points that are looked at together
#: The codes of metrics.
METRICS = {"euclidean": 0, "sqeuclidean": 1, "cityblock": 2, "chebyshev": 3}
