"""Small transport problems, padded as the kernels want them."""

from types import SimpleNamespace

import numpy as np

from sinkdist.solvers.compiled.simplex.pricing import HUGE, padded
from sinkdist.solvers.compiled.simplex.tree import LINKS


def problem(m, n, seed=0, costs=None):
    """Random masses and costs of at most 1, with all work space of `optimise`."""
    rng = np.random.default_rng(seed)
    first, width = padded(m, n)
    C = np.full((first, width), HUGE)
    C[:m, :n] = rng.uniform(size=(m, n)) if costs is None else costs
    mass = np.zeros(first + width)
    mass[:m], mass[first : first + n] = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    nodes = first + width
    return SimpleNamespace(
        m=m, n=n, first=first, width=width, C=C, mass=mass, M=C[:m, :n].copy(),
        r=mass[:m], c=mass[first : first + n],
        coarse=np.empty((0, 0), np.float32), single=np.empty(0, np.float32),
        flow=np.zeros(nodes, np.int64), potential=np.zeros(nodes),
        links=np.zeros((LINKS, nodes), np.uint32), order=np.zeros(nodes, np.uint32),
        scratch=np.zeros(2 * nodes + 64), stop=np.zeros(1, np.int64),
    )  # fmt: skip


SHAPES = [(1, 1), (1, 5), (5, 1), (2, 3), (4, 32), (7, 40), (30, 33), (50, 50)]
