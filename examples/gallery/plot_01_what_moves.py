"""
What moves between two digits
=============================

A transport distance is the cost of the cheapest way to move the ink of one image to where the ink
of another is. Here is that way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

X = load_digits().data
X = X / X.sum(axis=1, keepdims=True)
ground = sd.Ground.grid(8, 8).scaled()  # distances between pixels, divided by their median
one, other = X[5], X[9]

# %%
# ``lam=inf`` is the exact distance, the earth mover's distance. Ink of the first digit is orange,
# that of the second blue; each arrow is a movement of ink, wider where more of it goes.

exact = sd.solve(one, other, ground, lam=np.inf)
sd.plot.flow(exact).set_title(f"exact distance {exact.value:.4f}")
print(exact.moves(top=5))

# %%
# A finite ``lam`` spreads the movements: at a small one every pixel gives to every other. The value
# is the cost of that plan, which is at least the exact distance.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for lam, ax in zip([3, 20, 100], axes, strict=True):
    s = sd.solve(one, other, ground, lam=lam)
    sd.plot.flow(s, top=60, ax=ax).set_title(f"lam = {lam}: {s.value:.4f}")

# %%
# The plan itself, pixel by pixel: a row for each pixel that ink leaves, a column for each where it
# arrives.

sd.plot.plan(sd.solve(one, other, ground, lam=20))
