"""Bins with mass: histograms and matrices cut down to them."""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array

__all__ = ["all_bins", "in_double", "support", "union"]


def in_double(weights: Array) -> Array:
    """Histograms (the last axis) in float64; what float32 summed to 1 is made to sum to 1 again."""
    if weights.dtype == np.float64:
        return weights
    weights = weights.astype(np.float64)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def support(histogram: Array) -> Array | None:
    """The bins with mass, or None when that is all of them."""
    return None if np.count_nonzero(histogram) == histogram.size else np.flatnonzero(histogram)


def union(H: Array) -> Array | None:
    """Bins with mass in any of the histograms; None for all of them."""
    occupied = H.any(axis=0)
    return None if occupied.all() else np.flatnonzero(occupied)


def all_bins(rows: Array | None, columns: Array | None, R: Array, C: Array) -> tuple[Array, Array]:
    """Bins as indices, where None stands for all."""
    return (
        np.arange(R.shape[1]) if rows is None else rows,
        np.arange(C.shape[1]) if columns is None else columns,
    )
