"""The distances that Sinkhorn distances are compared with, for all pairs of histograms.

They know no ground cost, but for the Mahalanobis distance, and transport nothing: so they stand
apart, and share only the tiles, stores and clusters of `pairwise`.

binwise    Euclidean, squared Euclidean, Hellinger, chi-squared, total variation
grounded   Mahalanobis; embedding makes a Euclidean distance of it
formulas   each distance between two blocks of histograms
summed     those that are no matrix products: NumPy's way, and a compiled one for large families
pairs      from what the caller holds to a job of tiles
docstrings what their docstrings share
"""

from sinkdist.classic.binwise import chi2, euclidean, hellinger, sqeuclidean, total_variation
from sinkdist.classic.grounded import mahalanobis

__all__ = ["chi2", "euclidean", "hellinger", "mahalanobis", "sqeuclidean", "total_variation"]
