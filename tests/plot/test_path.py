import numpy as np
import pytest

import sinkdist as sd

M = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
R, C = [0.5, 0.5, 0], [0, 0.3, 0.7]


def test_values_and_bounds_are_drawn_in_the_order_of_lam():
    steps = sd.path([0.6, 0.3, 0.1], [0.1, 0.3, 0.6], M, [9, 1, 3])
    ax = sd.plot.path(steps)
    assert ax.lines[0].get_xdata().tolist() == [1.0, 3.0, 9.0]
    assert ax.lines[0].get_ydata().tolist() == [steps[k].value for k in (1, 2, 0)]
    corners = ax.collections[0].get_paths()[0].vertices
    for step in steps:
        for bound in step.emd_bounds:
            assert np.isclose(corners, [step.lam, bound]).all(axis=1).any()


def test_what_has_not_converged_is_marked():
    with pytest.warns(sd.ConvergenceWarning):
        steps = sd.path([0.6, 0.3, 0.1], [0.1, 0.3, 0.6], M, [1, 200], max_iter=1)
    ax = sd.plot.path(steps)
    late = sorted(float(s.lam) for s in steps if not s.converged)
    assert late and ax.lines[1].get_xdata().tolist() == late


def test_no_steps_and_exact_ones_are_refused():
    with pytest.raises(sd.InputError, match="empty"):
        sd.plot.path([])
    with pytest.raises(sd.InputError, match="finite"):
        sd.plot.path([sd.solve(R, C, M, lam=np.inf)])
