"""
Means and clusters
==================

The mean of histograms bin by bin is a blur; the barycentre under transport is a histogram of the
same kind. k-means with barycentres gives clusters with centres that can be looked at.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd
from sinkdist.learn import TransportKMeans

X, y = load_digits(return_X_y=True)
X = X / X.sum(axis=1, keepdims=True)
ground = sd.Ground.grid(8, 8).scaled()

# %%
# Means of thirty images of each digit: bin by bin above, barycentres below.

figure, axes = plt.subplots(2, 10, figsize=(11, 2.6), layout="constrained")
for digit in range(10):
    some = X[y == digit][:30]
    sd.plot.histogram(some.mean(axis=0), ground, ax=axes[0, digit])
    sd.plot.histogram(sd.barycenter(some, ground=ground, lam=20), ground, ax=axes[1, digit])

# %%
# On the way from one digit to another. Squared distances move ink at an even pace.

squared = sd.Ground.grid(8, 8, metric="sqeuclidean").scaled()
sd.plot.interpolation(X[1], X[7], squared, lam=20, steps=9)

# %%
# Ten clusters of 300 digits, and the digits that are in each.

model = TransportKMeans(10, ground, lam=15, random_state=0).fit(X[:300])
figure, axes = plt.subplots(1, 10, figsize=(11, 1.6), layout="constrained")
for k, ax in enumerate(axes):
    inside = y[:300][model.labels_ == k]
    most = np.bincount(inside, minlength=10).argmax()
    sd.plot.histogram(np.maximum(model.cluster_centers_[k], 0), ground, ax=ax)
    ax.set_xlabel(f"{np.mean(inside == most):.0%} of {inside.size}\nare {most}", fontsize=8)
