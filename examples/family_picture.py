"""Draw docs/family.png: the family of distances between two real digits.

Left, two of scikit-learn's digits, each summed up by a few clusters of ink (a signature, as Rubner
et al. call it). Middle, all couplings of these signatures: 2 clusters against 3 leave two degrees
of freedom, so the transport polytope is a polygon and nothing has to be projected. Right, the
distances between the same two digits pixel by pixel, from the independence table down to the exact
distance.

Run ``python examples/family_picture.py [file.png]``; it needs
``pip install "sinkdist[learn,plot]"``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import sinkdist as sd

FIRST, SECOND = 0, 6  # rows of the data set: a nought and a six
SHARES = (0.1, 0.3, 0.6)  # radii that are drawn, as parts of what the exact plan needs
# Okabe and Ito's colours, which the colour-blind can tell apart, and a grey.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"
# A basis of the 2 x 3 matrices whose rows and columns sum to 0, orthonormal.
AXES = np.array([[[1, -1, 0], [-1, 1, 0]], [[1, 1, -2], [-1, -1, 2]]]) / np.sqrt([[[4]], [[12]]])
AXES[0] *= -1  # a mirror image, which puts the exact plan on the right


def signature(image, clusters):
    """Weights and centres of a few clusters of ink."""
    pixels = np.argwhere(np.ones((8, 8)))
    means = KMeans(clusters, n_init=10, random_state=0).fit(pixels, sample_weight=image)
    weights = np.bincount(means.labels_, image, clusters)
    return weights / weights.sum(), means.cluster_centers_


def place(plan, centre):
    """The coordinates of a coupling in the plane of all of them."""
    return np.tensordot(AXES, plan - centre, axes=([1, 2], [0, 1]))


def corners(centre):
    """The vertices of the polygon where every entry of ``centre + x A + y B`` is non-negative."""
    sides = np.column_stack([AXES[0].ravel(), AXES[1].ravel(), centre.ravel()])
    points = []
    for i, one in enumerate(sides):
        for other in sides[:i]:
            if abs(np.linalg.det([one[:2], other[:2]])) > 1e-9:
                point = np.linalg.solve([one[:2], other[:2]], [-one[2], -other[2]])
                if (sides @ [*point, 1.0] > -1e-12).all():
                    points.append(point)
    return np.array(sorted(points, key=lambda p: np.arctan2(p[1], p[0])))


def divergence(x, y, centre):
    """KL of the couplings at ``x, y`` from the independence table; NaN outside the polygon."""
    plans = centre + x[..., None, None] * AXES[0] + y[..., None, None] * AXES[1]
    inside = (plans >= 0.0).all(axis=(-1, -2))
    plans = np.maximum(plans, 1e-300)
    return np.where(inside, (plans * np.log(plans / centre)).sum(axis=(-1, -2)), np.nan)


def draw_digit(ax, image, name, weights, centres, colour):
    """A digit with its clusters."""
    ax.imshow(image.reshape(8, 8), cmap="Greys", vmax=30)
    ax.scatter(centres[:, 1], centres[:, 0], s=900 * weights, color=colour, alpha=0.55, linewidth=0)
    for weight, (row, column) in zip(weights, centres, strict=True):
        ax.text(column, row, f"{weight:.2f}", ha="center", va="center", fontsize=8)
    ax.set(xticks=[], yticks=[], title=name)


def draw_polygon(ax, r, c, ground):
    """All couplings, balls around the independence table, and the path to the exact plan."""
    centre, exact = np.outer(r, c), sd.solve(r, c, ground, lam=np.inf)
    polygon = corners(centre)
    outline = Polygon(polygon, facecolor="#F4F4F4", edgecolor="black", linewidth=1.4)
    ax.add_patch(outline)
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    x, y = np.meshgrid(*(np.linspace(low[k], high[k], 600) for k in range(2)))
    information = divergence(x, y, centre)
    radii = [share * exact.alpha for share in SHARES]
    for radius in radii[::-1]:
        ax.contourf(x, y, information, levels=[-1.0, radius], colors=[BLUE], alpha=0.13)
        ax.contour(x, y, information, levels=[radius], colors=[BLUE], linewidths=1.0)
    lams = np.geomspace(1e-2, 2e3, 150)
    trail = [place(s.plan, centre) for s in sd.path(r, c, ground, lams)]
    trail = np.array([place(centre, centre), *trail, place(exact.plan, centre)])
    ax.plot(*trail.T, color=RED, linewidth=2.0)
    slope = np.tensordot(AXES, ground.matrix, axes=([1, 2], [0, 1]))
    along = np.array([-slope[1], slope[0]]) / np.linalg.norm(slope)
    for radius in radii:
        point = place(sd.solve(r, c, ground, alpha=radius).plan, centre)
        ends = np.array([point - 0.1 * along, point + 0.1 * along])
        (line,) = ax.plot(*ends.T, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=3)
        line.set_clip_path(outline)
        if radius == radii[0]:
            ax.text(*(ends[0] + [0.0, 0.004]), "equal cost", color=GREY, ha="center")
        ax.plot(*point, "o", color=RED, markeredgecolor="white", markersize=8, zorder=4)
        bottom = np.nanmin(np.where(information <= radius, y, np.nan))
        ax.text(
            0.0, bottom + 0.008, rf"$\alpha={radius:.2f}$", color=BLUE, ha="center", va="bottom"
        )
    ax.plot(0.0, 0.0, "s", color="black", markersize=7, zorder=4)
    ax.plot(*trail[-1], "*", color="black", markersize=17, zorder=5)
    ax.annotate(
        r"independence table $rc^T$", (0.0, 0.0), (0, 9), textcoords="offset points", ha="center"
    )
    ax.annotate("exact plan", trail[-1], (-8, 12), textcoords="offset points", ha="right")
    ax.text(0.055, -0.022, r"$P^\lambda$", color=RED, ha="center", va="center")
    ax.set_title(r"All couplings of the clusters, and the balls of radius $\alpha$")
    ax.set(xlim=(low[0] - 0.01, high[0] + 0.02), ylim=(low[1] - 0.01, high[1] + 0.01))
    ax.set_aspect("equal")
    ax.axis("off")


def draw_values(ax, r, c, ground):
    """The value and what is known about the exact distance, against lam."""
    lams = np.geomspace(0.02, 400.0, 120)
    path = sd.path(r, c, ground, lams)
    exact, independence = (sd.solve(r, c, ground, lam=lam) for lam in (np.inf, 0))
    lower, upper = np.array([s.emd_bounds for s in path]).T
    value = [s.value for s in path]
    ax.fill_between(lams, lower, upper, color=ORANGE, alpha=0.25, linewidth=0)
    ax.plot(lams, lower, color=ORANGE, linewidth=1.2)
    ax.plot(lams, value, color=RED, linewidth=2.2)
    ax.plot(lams, [s.objective for s in path], color=GREEN, linewidth=1.5, linestyle=(0, (5, 2)))
    for end in (exact, independence):
        ax.axhline(end.value, color="black", linewidth=0.9, linestyle=":")
    for share in SHARES:
        s = sd.solve(r, c, ground, alpha=share * exact.alpha)
        ax.plot(s.lam, s.value, "o", color=RED, markeredgecolor="white", markersize=8, zorder=4)
        label = rf"$\alpha={s.alpha:.2f}$"
        ax.annotate(label, (s.lam, s.value), (7, 4), textcoords="offset points", color=RED)
    ax.text(380, independence.value - 0.012, r"independence $r^T M c$", ha="right", va="top")
    ax.text(0.022, exact.value + 0.008, "exact EMD", ha="left", va="bottom")
    ax.text(0.022, value[0] - 0.03, r"value $\langle P^\lambda, M\rangle$", color=RED, va="top")
    ax.text(0.3, 0.09, "emd_bounds", color="#9A6A00", ha="center")
    ax.text(
        17.0, 0.03, "objective,\nbelow 0 for\nsmaller " r"$\lambda$", color="#00705A", ha="right"
    )
    ax.set(xscale="log", xlim=(0.02, 400), ylim=(0.0, 1.07 * independence.value))
    ax.set(xlabel=r"$\lambda$ (costs divided by their median)", ylabel="cost, in medians")
    ax.set_title("The same two digits, pixel by pixel")


def main(target):
    """Draw and save."""
    plt.rcParams.update({"font.size": 10.5, "axes.titlesize": 11.5})
    images = load_digits().data[[FIRST, SECOND]]
    (r, here), (c, there) = signature(images[0], 2), signature(images[1], 3)
    figure = plt.figure(figsize=(14, 5.4), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[1, 3, 3])
    draw_digit(figure.add_subplot(grid[0, 0]), images[0], "r: 2 clusters", r, here, BLUE)
    draw_digit(figure.add_subplot(grid[1, 0]), images[1], "c: 3 clusters", c, there, ORANGE)
    draw_polygon(figure.add_subplot(grid[:, 1]), r, c, sd.Ground.points(here, there).scaled())
    histograms = images / images.sum(axis=1, keepdims=True)
    draw_values(figure.add_subplot(grid[:, 2]), *histograms, sd.Ground.grid(8, 8).scaled())
    figure.savefig(target, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "family.png")
