"""Transport between unequal masses, in plain NumPy: sweeps in the log domain, and the objective.

Plain alternating maximisation of the dual, written from the optimality conditions; no acceleration,
no certificates. Sides whose penalty is infinite are held exactly. Arrays may be of extended
precision.
"""

import numpy as np

SWEEPS = 200_000


def reference(r, c):
    """``r c^T / sqrt(sum(r) sum(c))``."""
    return np.outer(r, c) / np.sqrt(r.sum() * c.sum())


def divergence(x, y):
    """``sum x log(x / y) - x + y`` with 0 log 0 = 0; infinite where mass is and none may be."""
    if (x[y == 0] > 0).any():
        return np.inf
    some = x > 0
    return (x[some] * np.log(x[some] / y[some])).sum() - x.sum() + y.sum()


def objective(P, r, c, M, lam, rho, Q=None):
    """What the plan minimises."""
    Q = reference(r, c) if Q is None else Q
    found = (P * M).sum() + divergence(P.ravel(), Q.ravel()) / lam
    for penalty, x, y in zip(rho, (P.sum(axis=1), P.sum(axis=0)), (r, c), strict=True):
        found += penalty * divergence(x, y) if penalty < np.inf else 0.0
    return found


def plan(r, c, M, lam, rho, tol=1e-15):
    """The optimal plan, by sweeps until the potentials no longer change."""
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    a, b, N = r[rows], c[columns], lam * M[np.ix_(rows, columns)]
    log_Q = np.log(reference(a, b)) - N
    powers = [1.0 if side == np.inf else lam * side / (1 + lam * side) for side in rho]
    x, y = np.zeros_like(a), np.zeros_like(b)
    for _ in range(SWEEPS):
        before = y
        x = powers[0] * (np.log(a) - np.logaddexp.reduce(log_Q + y, axis=1))
        y = powers[1] * (np.log(b) - np.logaddexp.reduce(log_Q + x[:, None], axis=0))
        if np.abs(y - before).max() <= tol * (1 + np.abs(y).max()):
            break
    P = np.zeros_like(M)
    P[np.ix_(rows, columns)] = np.exp(x[:, None] + y + log_Q)
    return P
