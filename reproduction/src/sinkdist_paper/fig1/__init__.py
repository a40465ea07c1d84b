"""Figure 1: the transportation polytope and the balls around the independence table, computed.

::

    measuring.py   the points
    points.py      reading them
    drawing.py     the figure
    judging.py     the paper's claims, and a table

The paper's figure is a sketch. Tables with two rows and three columns have two degrees of freedom,
so their polytope can be drawn exactly.
"""

from __future__ import annotations

from sinkdist_paper.fig1.drawing import draw
from sinkdist_paper.fig1.judging import claims, views
from sinkdist_paper.fig1.measuring import cells
from sinkdist_paper.figure import Experiment

__all__ = ["EXPERIMENT"]

ABOUT = """\
The paper's figure 1 is a sketch; this is a true drawing. Tables with row sums r = (0.45, 0.55) and
column sums c = (0.28, 0.42, 0.3) have two degrees of freedom, so their polytope U(r, c) is a
polygon, drawn to scale. All points are computed: the vertices, the surfaces of the balls (by
bisection along rays from r c^T), the best table of each ball, the path of P^lam as lam grows from
0.02 to 150, and the optimal vertex P*. Balls are round near r c^T and take the polytope's shape as
they grow.
"""

EXPERIMENT = Experiment(
    name="fig1",
    title="The transportation polytope and the balls in it",
    about=ABOUT,
    keys=("part", "radius"),
    inches=(9.0, 4.4),
    cells=cells,
    draw=draw,
    claims=claims,
    views=views,
)
