"""From distances to similarities: what kernel methods ask for.

kernels       ``exp(-d / t)``, and the paper's choices of t
repair        the smallest diagonal term that makes a kernel positive semi-definite
independence  features for the one kernel of the family that needs no repair
"""

from sinkdist.similarity.independence import IndependenceFeatures, independence_features
from sinkdist.similarity.kernels import bandwidths, kernel
from sinkdist.similarity.repair import is_psd, repaired, repaired_cross, shift

__all__ = [
    "IndependenceFeatures",
    "bandwidths",
    "independence_features",
    "is_psd",
    "kernel",
    "repaired",
    "repaired_cross",
    "shift",
]
