"""Figure 2: the test error of support vector machines against the number of images.

::

    measuring.py   from a setting to cells: each contestant in each experiment
    results.py     what the records say, experiment by experiment
    drawing.py     the figure
    judging.py     the paper's claims
    tables.py      the errors, and what the paper's largest N would take

The smaller sets of images are the beginnings of the larger. A record is one variant of a
contestant in one experiment, so the file also holds the chosen parameter and the errors of the
other ones.
"""

from __future__ import annotations

from sinkdist_paper.fig2.drawing import draw
from sinkdist_paper.fig2.judging import claims
from sinkdist_paper.fig2.measuring import cells
from sinkdist_paper.fig2.results import complete, errors_of
from sinkdist_paper.fig2.tables import views
from sinkdist_paper.figure import Experiment

__all__ = ["EXPERIMENT"]

ABOUT = """\
Images are classified by support vector machines (libsvm, one against one) on the kernel
exp(-d / t) of each distance d. The machines are trained on a quarter of N images and tested on
the other three quarters, for each quarter in turn; this is repeated with other quarters. Within a
training fold, t in {1, q10, q20, q50}, C in {0.01, 1, 100, 10,000} and the parameter of the
distance are chosen together, by the error over 2 repeats of 2 folds. Kernels that are not positive
semi-definite get the smallest diagonal term that makes them positive semi-definite.

Sinkhorn distances are 20 iterations of Algorithm 1, with lam in {5, 7, 9, 11} / q50(M). The
distance with a fixed alpha, the hard constraint of the paper's Definition 1, is converged (to 1e-3
in the marginals), with alpha in {0.5, 1, 2}, up to N = 3,000; for more images, only with the alpha
that was chosen most often there. Between two digits of MNIST, lam = 7 / q50(M) gives an alpha of
about 1, and the EMD one of 3.3 to 5. M is in pixels.

Most claims say more than one thing. Each is tested by a number, which the verdict names; a claim
holds if all its tests pass, and in part if some do. They are judged at the largest N at which every
distance of the paper was measured.

Our choices where the paper does not specify them: folds are not stratified by digit; the sets are
nested, the smaller ones are the beginnings of the largest; ties go to the first candidate;
quantiles are of up to 100,000 distances in the training fold; the distance of an image to itself is
what the algorithm returns, which is not 0 for Sinkhorn distances; each pair is computed once, in
the order of its images, although 20 iterations are not exactly symmetric; the widths of the
Mahalanobis matrices are {0.01, 0.1, 1} per squared pixel, and {0.25, 0.5, 1} for the inverse, which
cannot be computed in double precision for smaller widths.
Bars: plus and minus one standard deviation over the experiments; they are moved sideways a little,
so that those of different distances do not lie on each other.
"""

EXPERIMENT = Experiment(
    name="fig2",
    title="Classifying digits: test error against the number of images",
    about=ABOUT,
    keys=("kind", "contestant", "n", "repeat", "fold"),
    inches=(8.6, 5.0),
    cells=cells,
    draw=draw,
    claims=claims,
    views=views,
    is_enough=lambda records: bool(complete(errors_of(records))),
)
