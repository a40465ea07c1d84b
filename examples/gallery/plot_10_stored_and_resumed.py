"""
A stored run that is interrupted and resumed
============================================

A matrix of distances may take the night. With ``out=`` it is written tile by tile; what is finished
survives a stop, and the same call resumes after the last finished tile.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

X = load_digits().data[:600]
ground = sd.Ground.grid(8, 8).scaled()
folder = tempfile.TemporaryDirectory()
out = Path(folder.name) / "D.zarr"

# %%
# After forty per cent of the pairs the run is stopped, as Ctrl-C would stop it.


def stop(progress):
    """Called after each tile."""
    if progress.done > 0.4 * progress.total:
        raise KeyboardInterrupt


call = {"ground": ground, "lam": 9, "iterations": 20, "normalize": True, "out": out}
try:
    sd.pairwise(X, **call, progress=stop, workers=1)
except KeyboardInterrupt:
    print("stopped:", sd.open_matrix(out))

# %%
# What is there can be read already; what is not raises an error rather than showing a number. Here
# missing entries are filled in on request, to draw them.

half = sd.open_matrix(out).to_numpy(missing=np.nan)

# %%
# The same call again computes the rest.

done_before = []
D = sd.pairwise(X, **call, progress=lambda p: done_before.append(p.before))
print(f"resumed with {done_before[-1]:,} pairs from the first run: {D}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, matrix, title in (
    (left, half, "after the stop"),
    (right, D.to_numpy(), "after the second call"),
):
    ax.imshow(matrix, cmap="viridis", interpolation="nearest")
    ax.set_title(title)
    ax.axis("off")

# %%
# In a notebook a stored matrix shows itself as a table.

D

# %%
# (The folder was a temporary one.)

folder.cleanup()
