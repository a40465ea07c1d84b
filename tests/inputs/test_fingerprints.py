"""Digests of inputs: those of stores that exist, and equal for what is equal."""

import numpy as np
import pytest
from scipy import sparse

import sinkdist as sd
from sinkdist.inputs.fingerprints import digest, fingerprint, identities
from sinkdist.inputs.histograms import read
from sinkdist.pairs import job, matched

X = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [0.5, 0.5, -0.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_families_have_the_digests_of_transport(form):
    """Stores of classic and of transport distances know a family by the same digest."""
    family = read(form(X), "X", dtype=np.dtype(float))
    other = read(form(X[[1, 0, 2]]), "X", dtype=np.dtype(float))
    assert fingerprint(family) == job.fingerprint(family)
    assert fingerprint(family) != fingerprint(other)
    for first, second in ((family, family), (family, other)):
        ours, theirs = identities(first, second), matched.identities(first, second)
        np.testing.assert_array_equal(ours, theirs)
    assert identities(family, other)[0].tolist() == [0, 1, 0]


def test_grounds_have_the_digests_of_transport():
    ground = sd.Ground.grid(2, 3)
    assert digest([ground.matrix], str(ground.shape)) == job.ground_fingerprint(ground)
