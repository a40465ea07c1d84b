"""Small random pairs, and what is true of them by means that share nothing with the package."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests import naive

#: A few bins on each side, and a seed: what most properties are drawn from.
shapes = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))


@dataclass(frozen=True)
class Pair:
    """Costs, two histograms with mass in every bin, and the kernel."""

    M: np.ndarray
    r: np.ndarray
    c: np.ndarray
    lam: float

    @property
    def K(self):
        return np.exp(-self.lam * self.M)

    @property
    def truth(self):
        """The entropic plan by log-sum-exp in plain loops: P, value, f, g."""
        found = naive.log_sinkhorn(
            self.M.tolist(), self.lam, self.r.tolist(), self.c.tolist(), tol=1e-12
        )
        return np.array(found.P), found.value, np.array(found.f), np.array(found.g)


def small_pair(m, n, seed, lam=5.0):
    """Costs are no metric; no mass is below a thousandth."""
    rng = np.random.default_rng([seed, m, n])
    r, c = (rng.dirichlet(np.ones(d)) + 1e-3 for d in (m, n))
    return Pair(rng.uniform(0.0, 1.0, (m, n)), r / r.sum(), c / c.sum(), lam)


def highs(M, r, c):
    """The exact distance, by a general solver of linear programs."""
    m, n = M.shape
    sums = np.vstack([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))])
    found = linprog(M.ravel(), A_eq=sums[:-1], b_eq=np.concatenate([r, c])[:-1])
    assert found.success
    return found.fun


def off(P, r, c):
    """The L1 marginal error of a plan."""
    return abs(P.sum(axis=1) - r).sum() + abs(P.sum(axis=0) - c).sum()
