"""Figure 4: how long one distance takes, by solvers of the EMD and by Algorithm 1.

::

    stopwatch.py     interleaved timing; the best time of each contestant counts
    contestants.py   the exact solvers, Algorithm 1 as printed, and sinkdist
    measuring.py     from a setting to cells: random pairs of each dimension
    times.py         reading the records
    drawing.py       the figure
    judging.py       the paper's claims, and tables
"""

from __future__ import annotations

from sinkdist_paper.fig4.drawing import draw
from sinkdist_paper.fig4.judging import claims, views
from sinkdist_paper.fig4.measuring import cells
from sinkdist_paper.figure import Experiment

__all__ = ["EXPERIMENT"]

ABOUT = """\
Time to compute one distance between two histograms drawn uniformly from the simplex, under a random
metric: distances between Gaussian points in dimension d / 10, divided by their median. Means over
several draws (one at d = 2,048), each the best of up to five interleaved repetitions; everything
on one thread.

Exact solvers: Rubner's (in OpenCV), Pele and Werman's FastEMD (emd_hat_gd_metric, in pyemd), and
two that are newer than the paper, POT's network simplex and sinkdist with lam=inf, a transport
simplex of its own after removing the mass that need not move under a metric. Preparing the input,
and checking that M is a metric, is not timed. One that takes more than 5 seconds (0.5 in the quick
version) is run once, and one that takes more than 20 seconds (1) is not run for larger d. The code
of Rubner's that the paper used cannot go beyond d = 512; OpenCV's can, but it stops after 500 steps
of the simplex method, and its result is then too large: the table shows by how much.

Sinkhorn distances, for lambda = 1 and 9: Algorithm 1 in a few lines of NumPy, for one pair, until
the change of x is at most 0.01, tested at every iteration; sinkdist for the same pair with the same
number of iterations; and sinkdist for one histogram against a family of 512 (128 in the quick
version), time per pair, with as many iterations as 95 % of the family need. Building exp(-lambda M)
is included in all these times. If PyTorch finds a GPU, the family is also measured there.
"""

EXPERIMENT = Experiment(
    name="fig4",
    title="Time per distance against the dimension",
    about=ABOUT,
    keys=("d", "draw"),
    inches=(9.2, 5.2),
    cells=cells,
    draw=draw,
    claims=claims,
    views=views,
)
