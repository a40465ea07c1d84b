"""Estimators for scikit-learn on transport and classic distances.

::

    TransportKernel (kernel.py)                  histograms to exp(-d/t), positive semi-definite
    TransportSVC (svc.py)                        libsvm on that kernel
    TransportNeighborsClassifier (neighbors.py)  the nearest histograms vote
      |-- estimator.py    what they share: reading rows, distances to the training set
      |-- distance_spec.py   which distance: all that decides a number
      |-- hashed_rows.py     rows known by their content
      `-- cache.py        distances that this process knows
            |-- distance_table.py   those of one specification
            `-- gaps.py   what is missing, as blocks to solve

Import them from here: ``import sinkdist`` does not import scikit-learn.
"""

from importlib.util import find_spec

from sinkdist.errors import MissingExtraError

if find_spec("sklearn") is None:
    raise MissingExtraError("scikit-learn", "learn")

from sinkdist.learn.cache import CacheInfo, DistanceCache, distance_cache
from sinkdist.learn.kernel import TransportKernel
from sinkdist.learn.neighbors import TransportNeighborsClassifier
from sinkdist.learn.svc import TransportSVC

__all__ = [
    "CacheInfo",
    "DistanceCache",
    "TransportKernel",
    "TransportNeighborsClassifier",
    "TransportSVC",
    "distance_cache",
]
