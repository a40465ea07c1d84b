"""Net masses over edges against exact sums, with the errors that the kernel owns up to."""

from fractions import Fraction

import numpy as np
import pytest

from sinkdist.kernels.flows import edge_flows
from tests.kernels.comparison import twin
from tests.oracles.exact import normalised
from tests.problems import simplex


def found(parent, A, B):
    net, mass, excess = np.full(B.shape, np.nan), np.full(B.shape, np.nan), np.full(len(B), np.nan)
    edge_flows(parent, A, B, net, mass, excess, np.empty((4, parent.size)))
    return net, mass, excess


def exactly(parent, a, b, sign=-1):
    """Sums over subtrees of the normalised masses, as fractions."""
    net = [x + sign * y for x, y in zip(normalised(a), normalised(b), strict=True)]
    for k in range(len(net) - 1, 0, -1):
        net[parent[k]] += net[k]
    return [Fraction(0), *net[1:]]


def parents(kind, nodes):
    rng = np.random.default_rng(nodes)
    drawn = {
        "path": [0, *range(nodes - 1)],
        "star": [0] * nodes,
        "random": [0, *(int(rng.integers(0, k)) for k in range(1, nodes))],
    }
    return np.array(drawn[kind], np.int64)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", ["path", "star", "random"])
@pytest.mark.parametrize("difference", [1.0, 1e-6, 1e-14])
def test_flows_are_exact_to_what_they_say(kind, difference):
    """Nearly all digits, also where the histograms are the same in all digits but the last two."""
    parent = parents(kind, 60)
    A, B = simplex(2, 60, 0), simplex(2, 60, 1)
    B = (1 - difference) * A + difference * B
    net, mass, excess = found(parent, A, B)
    assert (excess >= 0).all() and (excess <= 1e-14).all()
    for k in range(2):
        truth = exactly(parent, A[k], B[k])
        errors = [float(abs(Fraction(x) - y)) for x, y in zip(net[k], truth, strict=True)]
        assert (errors <= 1e-15 * np.abs(net[k]) + 1e-29 * mass[k]).all()
        both = exactly(parent, A[k], B[k], sign=1)
        np.testing.assert_allclose(mass[k], np.array(both, float), rtol=1e-13)


@pytest.mark.nojit
def test_a_shared_row_and_equal_rows():
    parent = parents("random", 30)
    A, B = simplex(1, 30, 2), simplex(3, 30, 3)
    B[1] = A[0]
    net, mass, _ = found(parent, A, B)
    apart, _, _ = found(parent, A.repeat(3, 0), B)
    np.testing.assert_array_equal(net, apart)
    assert not net[1].any() and not mass[1].any() and net[0].any()


@pytest.mark.nojit
@pytest.mark.parametrize("kind", ["path", "star", "random"])
def test_flows_are_those_of_the_formula(xp, kind):
    parent = parents(kind, 40)
    A, B = simplex(1, 40, 4) * (1 + 1e-9), simplex(3, 40, 5) * (1 - 1e-9)
    B[2] = A[0]
    expected = twin(xp, "edge_flows", parent, A, B)
    for ours, theirs in zip(found(parent, A, B), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-15)
