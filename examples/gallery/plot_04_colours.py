"""
Colours of photographs
======================

Two photographs are alike in their colours if little has to be moved to make one palette from the
other. The ground is the colour cube: neighbouring colours are cheap to exchange, which distances
that compare bin by bin do not know.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

import sinkdist as sd
from sinkdist.similarity.plane import plane

# %%
# The two photographs of scikit-learn, cut into tiles; of each tile the histogram of its colours, in
# a cube of 6 x 6 x 6.

SIDE = 6
tiles, origin = [], []
for photograph, image in enumerate(load_sample_images().images):
    for top in range(0, image.shape[0] - 106, 106):
        for left in range(0, image.shape[1] - 106, 106):
            tiles.append(image[top : top + 106, left : left + 106])
            origin.append(photograph)


def colours(tile):
    """Shares of the colours of a tile, in the cube."""
    bins = tile.reshape(-1, 3).astype(int) * SIDE // 256
    index = np.ravel_multi_index(bins.T, (SIDE, SIDE, SIDE))
    return np.bincount(index, minlength=SIDE**3) / index.size


X = np.array([colours(tile) for tile in tiles])
ground = sd.Ground.grid(SIDE, SIDE, SIDE).scaled()
D = sd.pairwise(X, ground=ground, lam=np.inf)
print(f"{len(X)} tiles, {X.shape[1]} colours, {np.mean(X > 0):.0%} of the bins in use")

# %%
# The tiles, placed by the distances between their colours.

places = plane(D)
ax = sd.plot.embedding(D, np.array(["temple", "flower"])[origin])
for (x, y), tile in zip(places, tiles, strict=True):
    width = 0.035 * np.ptp(places[:, 0])
    ax.imshow(tile, extent=(x - width, x + width, y - width, y + width), zorder=3)
ax.autoscale()
ax.figure.set_size_inches(8, 6)

# %%
# What has to change in the colours of one tile to give those of another: the largest movements,
# named by their colour.


def name(index):
    """The colour in the middle of a bin, as on the web."""
    levels = np.array(np.unravel_index(index, (SIDE, SIDE, SIDE))) * 255 // (SIDE - 1)
    return "#{:02x}{:02x}{:02x}".format(*levels)


one, other = 2, len(tiles) - 3
s = sd.solve(X[one], X[other], ground, lam=np.inf)
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 4), layout="constrained", width_ratios=[1, 2, 1]
)
left.imshow(tiles[one])
right.imshow(tiles[other])
for ax in (left, right):
    ax.axis("off")
sd.plot.flow(s, names=[name(k) for k in range(SIDE**3)], top=12, ax=middle)
for text in middle.texts:
    text.set_backgroundcolor(text.get_text())
    text.set_color("white" if int(text.get_text()[3:5], 16) < 128 else "black")
