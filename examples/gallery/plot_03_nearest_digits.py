"""
Nearest neighbours, exactly, without most of the solves
=======================================================

Finding the nearest of 1,700 digits does not need 1,700 distances: every solve proves lower bounds
on many others.
"""

import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

X, y = load_digits(return_X_y=True)
X = X / X.sum(axis=1, keepdims=True)
ground = sd.Ground.grid(8, 8).scaled()
queries, searched = X[:97], X[97:]

found = sd.neighbors(queries, searched, ground=ground, k=7, lam=np.inf)
print(found)

# %%
# Each query is followed by its nearest digits and their distances. All of them are proven to be the
# nearest.

sd.plot.neighbors(found, queries, searched, ground=ground, queries=[5, 8, 13, 26, 72])

# %%
# As a classifier, the nearest digit alone:

right = y[97:][found.indices[:, 0]] == y[:97]
print(f"{right.mean():.1%} of {len(right)} queries have a nearest digit with their own label")

# %%
# With a budget the search ends early, and a star marks what is not proven then.

few = sd.neighbors(queries, searched, ground=ground, k=7, lam=np.inf, budget=12)
sd.plot.neighbors(few, queries, searched, ground=ground, queries=[5, 8, 13])
