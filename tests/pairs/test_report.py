"""One warning for pairs that stopped short: counts, reasons, the worst error."""

import warnings

import pytest

from sinkdist.errors import ConvergenceWarning
from sinkdist.pairs.report import SHORT, warn
from sinkdist.problem.stopping import Stopping
from sinkdist.scale.tally import Tally
from sinkdist.solution.status import Status

STOP = Stopping(1e-6, 500, None)


def test_nothing_is_said_where_all_is_well():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = {int(Status.CONVERGED): 3, int(Status.FIXED): 1, int(Status.EMPTY): 2}
        warn(Tally(fine, dict.fromkeys(fine, 0.0)), STOP)


@pytest.mark.parametrize(
    ("counts", "worst", "said"),
    [
        ({0: 5, 1: 2}, {0: 0.0, 1: 0.25}, "2 of 7 pairs did not reach tol=1e-06: 2 stopped at "
         "max_iter=500; the worst marginal error is 0.25."),
        ({2: 1, 4: 3}, {2: 0.5, 4: 0.0}, "1 of 1 pair did not reach tol=1e-06: 1 stalled at the "
         "limit of rounding; the worst marginal error is 0.5."),
        ({1: 1, 2: 2}, {1: 0.125, 2: 0.5}, "3 of 3 pairs did not reach tol=1e-06: 1 stopped at "
         "max_iter=500 and 2 stalled at the limit of rounding; the worst marginal error is 0.5."),
    ],
)  # fmt: skip
def test_what_is_said(counts, worst, said):
    with pytest.warns(ConvergenceWarning) as caught:
        warn(Tally(counts, worst), STOP)
    assert len(caught) == 1 and str(caught[0].message).startswith(said)


def test_short_are_the_statuses_with_a_remedy():
    assert set(SHORT) == {Status.MAX_ITER, Status.STALLED}
