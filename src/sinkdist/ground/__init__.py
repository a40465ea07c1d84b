"""What it costs to move mass between bins, and the Gibbs operator made from it.

::

    Ground (ground.py)      a checked cost matrix with its facts and its cached operators
      |-- costs.py          building matrices: grids, points, graphs
      |-- grid.py           costs of a large grid as a formula; grid_plan.py: plans on it
      |                     along lines (separable_plan.py) or by tiles (radial_plan.py, tiling.py)
      `-- gibbs.py          Gibbs: K = exp(-lam M) in one dtype, built on first use
"""

from sinkdist.ground.ground import Ground

__all__ = ["Ground"]
