"""
A graph as the ground: bicycles between stations
================================================

Bins may be the nodes of a graph; moving mass costs the length of the shortest path. Here bicycles
pile up at some stations during the day and have to be brought back at night. The town is made up.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array

import sinkdist as sd

# %%
# Stations, and streets between those that are near each other; a river crosses the town, with two
# bridges.

rng = np.random.default_rng(3)
stations = rng.uniform(0, 10, size=(40, 2))
north = stations[:, 1] > 5
apart = np.hypot(*(stations[:, None] - stations).transpose(2, 0, 1))
rows, columns = np.nonzero(np.triu(apart < 3.2, 1))
streets = [(i, j) for i, j in zip(rows, columns, strict=True) if north[i] == north[j]]
across = [(i, j) for i in np.flatnonzero(north) for j in np.flatnonzero(~north)]
for x in (2.0, 8.0):  # the bridges
    from_bridge = {ij: abs(stations[list(ij), 0] - x).sum() + apart[ij] for ij in across}
    streets += [min(from_bridge, key=from_bridge.get)]
i, j = np.array(streets).T
graph = coo_array((apart[i, j], (i, j)), shape=(40, 40))
ground = sd.Ground.graph(graph)
print(ground)

# %%
# Bicycles in the evening and where they are wanted in the morning. The numbers differ at most
# stations, but the totals agree.

evening = rng.multinomial(300, rng.dirichlet(np.where(north, 3.0, 0.6)))
morning = rng.multinomial(300, rng.dirichlet(np.full(40, 2.0)))
s = sd.solve(evening, morning, ground, lam=np.inf, normalize=True)
print(f"{300 * s.value:.0f} bicycle kilometres")
print(s.moves(top=5))

# %%
# The plan: orange stations give, blue ones receive. Arrows go from station to station; the vans
# follow the streets.

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
for a, b in streets:
    ax.plot(*stations[[a, b]].T, color="#cccccc", linewidth=1, zorder=0)
ax.axhline(5, color="#9ecae1", linewidth=8, zorder=-1)
sd.plot.flow(s, positions=stations, ax=ax)
