"""
From soft to sharp: the path along lam
======================================

How large must ``lam`` be? Every solution carries proven bounds on the exact distance, so this can
be seen for the pair at hand.
"""

import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

X = load_digits().data
X = X / X.sum(axis=1, keepdims=True)
ground = sd.Ground.grid(8, 8).scaled()

# %%
# ``path`` solves one pair for many values of ``lam``, each starting from the one before.

steps = sd.path(X[3], X[8], ground, np.geomspace(1, 500, 16))
exact = sd.distance(X[3], X[8], ground, lam=np.inf)
ax = sd.plot.path(steps)
ax.axhline(exact, color="black", linewidth=1)
ax.annotate("exact", (1.1, exact), (0, 4), textcoords="offset points")

# %%
# At the end of the path the bounds are close together: the exact distance is known without having
# been computed.

low, high = steps[-1].emd_bounds
print(f"proven: {low:.5f} <= exact distance <= {high:.5f}; computed: {exact:.5f}")
