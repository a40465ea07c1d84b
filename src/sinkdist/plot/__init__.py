"""Pictures of plans, histograms, neighbours and matrices (Matplotlib, the extra ``plot``).

::

    plan.py           a coupling as an image, with its sums at the sides
    flow.py           what moves where: arrows on a grid or between points, bands between names
    histogram.py      one histogram: an image, bars, or the names of its largest bins
    neighbors.py      queries, each with its nearest histograms
    matrix.py         a matrix of distances, ordered by clusters
    embedding.py      a family as points in the plane
    path.py           the distance along lam, between the proven bounds on the exact one
    interpolation.py  barycentres between two histograms
      `-- canvas.py   axes, colours, and small pictures of one histogram

Each function draws on ``ax``, or on new axes, and returns the axes. ``import sinkdist`` does not
import Matplotlib: ``sinkdist.plot`` does, on first use.
"""

from sinkdist.errors import needs_extra

with needs_extra("plot", "sinkdist.plot"):
    import matplotlib as mpl  # noqa: F401

from sinkdist.plot.embedding import embedding
from sinkdist.plot.flow import flow
from sinkdist.plot.histogram import histogram
from sinkdist.plot.interpolation import interpolation
from sinkdist.plot.matrix import matrix
from sinkdist.plot.neighbors import neighbors
from sinkdist.plot.path import path
from sinkdist.plot.plan import plan

__all__ = [
    "embedding",
    "flow",
    "histogram",
    "interpolation",
    "matrix",
    "neighbors",
    "path",
    "plan",
]
