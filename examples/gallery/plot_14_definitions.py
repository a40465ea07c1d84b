"""
Word mover's distance: which definitions mean alike
===================================================

A definition is a histogram over words, and moving mass from a word to another costs the distance of
their vectors. Definitions without a common word may be near each other, and the plan says why. The
table of 1,600 definitions is derived from WordNet and comes with ``sinkdist-paper``.
"""

import numpy as np

import sinkdist as sd
from sinkdist_paper.demo import definitions

table = definitions.load()
ground = sd.Ground.points(table.vectors)
print(f"{len(table):,} definitions over {len(table.words):,} words")

# %%
# The five nearest of each, exactly.

found = sd.neighbors(table.histograms, ground=ground, k=5, lam=np.inf)
print(found)

# %%
# The pair that is nearest without a common word: what moves to where.

rows = table.histograms.toarray() > 0
apart = [
    (float(distance), query, int(other))
    for query, (near, distances) in enumerate(zip(found.indices, found.distances, strict=True))
    for other, distance in zip(near, distances, strict=True)
    if not (rows[query] & rows[other]).any() and min(rows[query].sum(), rows[other].sum()) > 3
]
distance, one, other = min(apart)
pair = sd.solve(
    table.histograms[[one]].toarray()[0], table.histograms[[other]].toarray()[0], ground, lam=np.inf
)
ax = sd.plot.flow(pair, names=table.words)
ax.set_title(f"{table.heads[one]} to {table.heads[other]}: {distance:.3f}")

# %%
# All distances between the definitions of animals and of food, ordered by clusters.

some = np.flatnonzero(np.isin(table.kinds, ["animal", "food"]))
D = sd.pairwise(table.histograms[some], ground=ground, lam=np.inf)
sd.plot.matrix(D, table.kinds[some])
