"""
From neighbours to t-SNE, UMAP and HDBSCAN
==========================================

Methods that draw maps or find clusters need the nearest neighbours of every point, not all
distances. ``neighbors`` finds them under transport, and hands over a graph that these packages
take.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

import sinkdist as sd

X, y = load_digits(return_X_y=True)
X, y = X[:700] / X[:700].sum(axis=1, keepdims=True), y[:700]
ground = sd.Ground.grid(8, 8).scaled()

# %%
# 92 neighbours of each digit, which is what t-SNE with a perplexity of 30 asks for.

found = sd.neighbors(X, ground=ground, k=92, lam=np.inf)
solved = found.solved.sum() / (700 * 699)
print(f"{solved:.0%} of the ordered pairs were solved")
graph = found.to_graph()
places = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(graph)

# %%
# HDBSCAN on all distances, which a family of this size can afford.

D = sd.pairwise(X, ground=ground, lam=np.inf)
labels = HDBSCAN(
    metric="precomputed",
    min_cluster_size=20,
    min_samples=2,
    cluster_selection_method="leaf",
    copy=True,
).fit_predict(D)
print(f"{labels.max() + 1} clusters, {np.mean(labels < 0):.0%} of the digits in none")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, colours, title in (
    (left, y, "t-SNE, by digit"),
    (right, labels, "t-SNE, by HDBSCAN's cluster"),
):
    grey = colours < 0
    ax.scatter(*places[grey].T, s=6, color="#bbbbbb")
    ax.scatter(*places[~grey].T, s=10, c=colours[~grey], cmap="tab10")
    ax.set_title(title)
    ax.axis("off")

# %%
# UMAP takes the same neighbours, if it is installed:
#
# .. code-block:: python
#
#    import umap
#
#    own = np.column_stack([np.arange(len(X)), found.indices[:, :14]])
#    far = np.column_stack([np.zeros(len(X)), found.distances[:, :14]])
#    umap.UMAP(n_neighbors=15, metric="precomputed", precomputed_knn=(own, far)).fit_transform(D)
