"""
Totals that differ
==================

Counts need not have the same total. ``mass_penalty`` is what a unit of mass costs that appears or
disappears, instead of being moved.
"""

import matplotlib.pyplot as plt
import numpy as np

import sinkdist as sd

bins = np.arange(60)
r = np.exp(-0.5 * ((bins - 12) / 3) ** 2) + 0.7 * np.exp(-0.5 * ((bins - 45) / 2) ** 2)
c = np.exp(-0.5 * ((bins - 17) / 3) ** 2)
ground = sd.Ground.grid(60)

# %%
# The first has a second bump that the second lacks. The smaller the penalty, the more of it is
# given up rather than moved.

figure, axes = plt.subplots(1, 3, figsize=(12, 3), layout="constrained", sharey=True)
for penalty, ax in zip([1, 5, 30], axes, strict=True):
    s = sd.solve(r, c, ground, lam=5, mass_penalty=penalty)
    leaves, arrives = s.marginals
    ax.fill_between(bins, r, color="#D55E00", alpha=0.25, label="first")
    ax.fill_between(bins, c, color="#0072B2", alpha=0.25, label="second")
    ax.plot(bins, leaves, color="#D55E00", label="what leaves")
    ax.plot(bins, arrives, color="#0072B2", label="what arrives")
    ax.set_title(f"mass_penalty={penalty}: {leaves.sum():.1f} of {r.sum():.1f} moved")
axes[0].legend(frameon=False)
