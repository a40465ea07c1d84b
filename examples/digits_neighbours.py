"""The nearest digits to a few others, under four members of the family and the Euclidean distance.

Run ``python examples/digits_neighbours.py``; it needs ``pip install "sinkdist[learn]"``.
"""

# ruff: noqa: T201
import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

ink, labels = load_digits(return_X_y=True)
X = ink / ink.sum(axis=1, keepdims=True)  # every image is a histogram over its 64 pixels
queries, others = X[:50], X[50:550]
ground = sd.Ground.grid(8, 8).scaled()  # distances between pixels, divided by their median

distances = {
    "Euclidean": np.linalg.norm(queries[:, None] - others, axis=2),
    "independence, lam=0": sd.pairwise(queries, others, ground=ground, lam=0),
    "Sinkhorn, lam=9": sd.pairwise(queries, others, ground=ground, lam=9),
    "d_{M,alpha}, alpha=1.5": sd.pairwise(queries, others, ground=ground, alpha=1.5),
    "exact, lam=inf": sd.pairwise(queries, others, ground=ground, lam=np.inf),
}
for name, D in distances.items():
    nearest = labels[50:550][D.argmin(axis=1)]
    print(f"{name:24s} {np.mean(nearest == labels[:50]):4.0%} right, the first: {nearest[:16]}")
print(f"{'the digits themselves':24s} {'':16s} the first: {labels[:16]}")
