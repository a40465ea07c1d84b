"""Figure 5: how many iterations of Algorithm 1 it takes until x changes by no more than 0.01.

::

    measuring.py   random pairs and images, counted
    counts.py      what the records say: counts for each lambda and d
    fitting.py     the paper's advice, a number that depends on lambda only, made of the counts
    drawing.py     the figure
    judging.py     the paper's claims, and tables
"""

from __future__ import annotations

from sinkdist_paper.fig5.drawing import draw
from sinkdist_paper.fig5.fitting import fit
from sinkdist_paper.fig5.judging import claims, views
from sinkdist_paper.fig5.measuring import cells
from sinkdist_paper.figure import Experiment

__all__ = ["EXPERIMENT", "fit"]

ABOUT = """\
Pairs of histograms drawn uniformly from the simplex, and random metrics as in figure 4: distances
between Gaussian points in dimension d / 10, divided by their median. Counted are the updates of x
in Algorithm 1, from x = 1/d, until ||x - x'||_2 <= 0.01, which is tested after each of them. Pairs
that are still moving after 5,000 updates (2,000 in the quick version) are given up and count as
that many.

x is tested as it stands, as in the paper. Its size is whatever the start makes of it: some 1/d for
small lambda, and more than a million for large ones. So the same 0.01 asks for little where lambda
is small and d is large, and for very much where lambda is large; the tables tell how far from its
limit the distance is when the test is passed.

The advice is ceil(a + b L^c) iterations for L = lambda median(M), sinkdist.iterations_for: fitted
so that at each lambda 95 % of the pairs, of all d, are at rest by then. Of a lambda at which more
than 5 % are given up nothing is fitted. What it buys is measured up to d = 512, and on images, on
the grid of their pixels.
"""

EXPERIMENT = Experiment(
    name="fig5",
    title="Iterations to convergence",
    about=ABOUT,
    keys=("on", "d", "lam", "draw"),
    inches=(8.2, 4.8),
    cells=cells,
    draw=draw,
    claims=claims,
    views=views,
)
