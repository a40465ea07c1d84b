"""The quick upper end of the constrained distance: proven, and as sharp as the slow bracket."""

import numpy as np

import sinkdist as sd
from sinkdist.solution.certificates import bracket_pair, rounding_of
from sinkdist.solvers.compiled.upper_end import upper_end


def test_it_is_above_the_distance_and_near_it():
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(60):
        m, n = rng.integers(2, 15, 2)
        M, alpha = rng.random((m, n)), float(rng.choice([0.01, 0.1, 0.5, 1.0]))
        r, c = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
        s = sd.solve(r, c, M, alpha=alpha)
        if not 0.0 < s.lam < np.inf:
            continue
        sharp = sd.solve(r, c, M, alpha=alpha, tol=1e-9).value
        f, g = s.potentials
        for noise in (0.0, 1e-6, 1e-2):  # also of plans that are no couplings
            moved = f + noise * rng.normal(size=m) / s.lam
            scratch = np.empty((m, n)), np.empty(m), np.empty(n)
            pair = M, s.lam, moved, g, r, c, alpha
            found = upper_end(*pair, rounding_of(m + n), M.max(), *scratch)
            assert found >= sharp * (1.0 - 1e-9)
            if noise == 0.0:
                assert found <= bracket_pair(*pair)[1] * (1.0 + 1e-6)  # the tolerance
                seen += 1
    assert seen > 30
