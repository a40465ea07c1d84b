"""Estimators for scikit-learn on transport and classic distances.

::

    TransportKernel (kernel.py)                  histograms to exp(-d/t), positive semi-definite
    TransportSVC (svc.py)                        libsvm on that kernel
    TransportNeighborsClassifier (neighbors.py)  the nearest histograms vote
    TransportKMeans (kmeans.py)                  clusters around barycentres
    TransportKMedoids (kmedoids.py)              clusters around rows, by swaps (swaps.py)
      |-- seeding.py      first centres, as in k-means++
    TransportNeighborsRegressor (regressor.py)   the mean of their targets
    TransportNeighborsTransformer (transformer.py)  the sparse graph of nearest histograms
      |-- searching.py    the nearest training rows, for these three
      |-- estimator.py    what they share: reading rows, distances to the training set
      |-- distance_spec.py   which distance: all that decides a number
      |-- hashed_rows.py     rows known by their content
      `-- cache.py        distances that this process knows
            |-- distance_table.py   those of one specification
            `-- gaps.py   what is missing, as blocks to solve

Import them from here: ``import sinkdist`` does not import scikit-learn.
"""

from sinkdist.errors import needs_extra

with needs_extra("learn", "sinkdist.learn"):
    import sklearn as _sklearn  # noqa: F401

from sinkdist.learn.cache import CacheInfo, DistanceCache, distance_cache
from sinkdist.learn.kernel import TransportKernel
from sinkdist.learn.kmeans import TransportKMeans
from sinkdist.learn.kmedoids import TransportKMedoids
from sinkdist.learn.neighbors import TransportNeighborsClassifier
from sinkdist.learn.regressor import TransportNeighborsRegressor
from sinkdist.learn.svc import TransportSVC
from sinkdist.learn.transformer import TransportNeighborsTransformer

__all__ = [
    "CacheInfo",
    "DistanceCache",
    "TransportKMeans",
    "TransportKMedoids",
    "TransportKernel",
    "TransportNeighborsClassifier",
    "TransportNeighborsRegressor",
    "TransportNeighborsTransformer",
    "TransportSVC",
    "distance_cache",
]
