"""
Age pyramids
============

Ages are bins on a line, so the exact distance has a closed form, and it means something: the mean
number of years by which people would have to be older or younger. The pyramids here are drawn from
simple models of growth, ageing and a baby boom; they are made up, not measured.
"""

import matplotlib.pyplot as plt
import numpy as np

import sinkdist as sd

AGES = np.arange(100)
ground = sd.Ground.grid(100)  # costs in years


def pyramid(growth, life, boom=None):
    """Shares of ages: births that grow by a rate, survival to an age, and a boom years ago."""
    people = np.exp(-growth * AGES) / (1 + np.exp((AGES - life) / 6))
    if boom is not None:
        people *= 1 + 0.8 * np.exp(-0.5 * ((AGES - boom) / 6) ** 2)
    return people / people.sum()


names = [
    "fast growth",
    "slow growth",
    "stable",
    "shrinking",
    "boom 20 years ago",
    "boom 45",
    "boom 70",
]
X = np.array([
    pyramid(0.03, 65), pyramid(0.015, 72), pyramid(0.0, 78), pyramid(-0.01, 84),
    pyramid(0.0, 80, 20), pyramid(0.0, 80, 45), pyramid(0.0, 80, 70),
])  # fmt: skip

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for row, label in zip(X, names, strict=True):
    ax.plot(AGES, row, label=label)
ax.set_xlabel("age")
ax.set_ylabel("share")
ax.legend(frameon=False)

# %%
# All pairs, in years. The longer the time between two booms, the larger their distance; distances
# bin by bin would find all three equally far apart.

D = sd.pairwise(X, ground=ground, lam=np.inf)
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
sd.plot.matrix(D, labels=names, ax=ax)
ax.tick_params(axis="x", rotation=90)
print(f"from {names[4]} to {names[6]}: {D[4, 6]:.1f} years")

# %%
# Who is where: mass moves along the line.

sd.plot.flow(sd.solve(X[0], X[3], ground, lam=np.inf))

# %%
# Between two pyramids: the barycentres, which age, rather than the averages, which would have two
# bumps. Costs are squared years here.

squared = sd.Ground.grid(100, metric="sqeuclidean").scaled()
sd.plot.interpolation(X[4], X[6], squared, lam=300, steps=5)
