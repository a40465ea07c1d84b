"""Figure 5: how many iterations of Algorithm 1 it takes until x changes by no more than 0.01.

::

    measuring.py   counts iterations for random pairs and images
    counts.py      reads the records: counts for each lambda and d
    fitting.py     fits the number of iterations to advise for a lambda
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
between Gaussian points in dimension d / 10, divided by their median. The number of updates of x in
Algorithm 1 is counted, from x = 1/d until ||x - x'||_2 <= 0.01, which is tested after each update.
Pairs that do not pass the test within 5,000 updates (2,000 in the quick version) are given up and
counted with that number.

x is tested without normalisation, as in the paper. Its size is about 1/d for small lambda, and more
than a million for large ones. So the threshold 0.01 is easy to reach for small lambda and large d,
and hard to reach for large lambda; the tables show how far from its limit the distance is when the
test is passed.

The advice, sinkdist.iterations_for, is ceil(a + b L^c) iterations for L = lambda median(M), fitted
so that at each lambda 95 % of the pairs of all d pass the test by then. Values of lambda at which
more than 5 % of the pairs are given up are not used for the fit. The error after the advised number
of iterations is measured up to d = 512, and on images, with the distances between their pixels.
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
