"""Digests of inputs: those of stores that exist, and equal for what is equal."""

import numpy as np
import pytest
from scipy import sparse

import sinkdist as sd
from sinkdist.inputs.fingerprints import digest, fingerprint, identities
from sinkdist.inputs.histograms import read

X = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [0.5, 0.5, -0.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_families_are_known_by_their_digest(form):
    family = read(form(X), "X", dtype=np.dtype(float))
    other = read(form(X[[1, 0, 2]]), "X", dtype=np.dtype(float))
    assert fingerprint(family) != fingerprint(other)
    assert identities(family, other)[0].tolist() == [0, 1, 0]


def test_grounds_are_known_by_their_digest():
    ground = sd.Ground.grid(2, 3)
    assert digest([ground.matrix], str(ground.shape)) == ground.fingerprint
