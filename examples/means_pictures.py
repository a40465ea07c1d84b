"""Draw the pictures in docs/means.md: mean digits, a path between two, clusters, ages.

Run ``python examples/means_pictures.py``, with names for some of them. It needs
``pip install "sinkdist[learn,plot]"`` and MNIST, by way of ``pip install ./reproduction``. The
picture of ages reads ``demography/us_population_age_sex.npz`` in the folder that ``SINKDIST_DATA``
names, and is left out without it.
"""

import math
import os
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import sinkdist as sd
from sinkdist.learn import TransportKMeans, TransportKMedoids
from sinkdist_paper.mnist import training_set

DOCS = Path(__file__).parents[1] / "docs"
SIDE = 28
MEANS, PATH = 1.5, 1.0  # lam for pixels and for squared pixels
# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"]


def mnist(n):
    """The first images as histograms of ink, and their labels."""
    images, labels = training_set()
    X = images[:n].reshape(n, -1).astype(np.float64)
    return X / X.sum(axis=1, keepdims=True), labels[:n]


def show(axes, image, title=None):
    """An image in black on white, its darkest pixel black."""
    side = math.isqrt(image.size)
    axes.imshow(image.reshape(side, side), cmap="gray_r", vmin=0.0)
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
    if title:
        axes.set_title(title, fontsize=9)


def rows_of_images(rows, names, file, titles=None):
    """A picture of several rows of images, with a name before each."""
    height, width = len(rows), len(rows[0])
    figure, axes = plt.subplots(height, width, figsize=(0.85 * width + 0.9, 0.95 * height + 0.15))
    for i, (row, name) in enumerate(zip(rows, names, strict=True)):
        for j, image in enumerate(row):
            show(axes[i, j], image, titles[j] if titles and i == 0 else None)
        axes[i, 0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=9)
    figure.tight_layout(pad=0.3)
    figure.savefig(DOCS / file, dpi=110)
    plt.close(figure)


def draw_digits():
    """Means of 100 images of each digit: ten barycentres in one call."""
    X, y = mnist(1200)
    chosen = np.concatenate([np.flatnonzero(y == digit)[:100] for digit in range(10)])
    X, weights = X[chosen], np.kron(np.eye(10), np.full(100, 0.01))
    ground = sd.Ground.grid(SIDE, SIDE)
    start = time.perf_counter()
    sharp = sd.barycenter(X, ground=ground, weights=weights, lam=MEANS, tol=1e-4)
    blurred = sd.barycenter(X, ground=ground, weights=weights, lam=MEANS, tol=1e-4, debiased=False)
    say(f"digits: twenty barycentres of 100 images in {time.perf_counter() - start:.0f} s")
    rows_of_images(
        [weights @ X, blurred, sharp], ["Euclidean\nmean", "with\nentropy", "debiased"],
        "means_digits.png",
    )  # fmt: skip


def draw_path():
    """From one digit to another: barycentres of two, and mixtures of two."""
    X, y = mnist(200)
    ends = X[[np.flatnonzero(y == 4)[0], np.flatnonzero(y == 9)[1]]]
    t = np.linspace(0, 1, 9)
    weights = np.stack([1 - t, t], axis=1)
    ground = sd.Ground.grid(SIDE, SIDE, metric="sqeuclidean")
    options = {"ground": ground, "weights": weights, "lam": PATH, "tol": 1e-4}
    sharp = sd.barycenter(ends, **options)
    blurred = sd.barycenter(ends, debiased=False, **options)
    rows_of_images(
        [weights @ ends, blurred, sharp], ["cross-fade", "with\nentropy", "debiased"],
        "means_path.png",
        [f"{x:.3g}" for x in t],
    )  # fmt: skip


def purity(labels, truth):
    """The share of rows whose label is the most common one of their cluster."""
    return sum(np.bincount(truth[labels == k]).max() for k in np.unique(labels)) / truth.size


def draw_clusters(n=600):
    """Ten clusters of scikit-learn's digits, and how well they agree with the labels."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:n] / X[:n].sum(axis=1, keepdims=True), y[:n]
    ground = sd.Ground.grid(8, 8).scaled()
    models = {
        "k-means\non pixels": KMeans(10, n_init=1, random_state=0),
        "medoids,\nexact EMD": TransportKMedoids(10, ground, lam=np.inf, n_init=1, random_state=0),
        "barycentres,\nlam = 20": TransportKMeans(10, ground, lam=20, n_init=1, random_state=0),
    }
    rows, names = [], []
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X)
        order = np.argsort([np.bincount(y[model.labels_ == k]).argmax() for k in range(10)])
        rows.append(model.cluster_centers_[order])
        names.append(f"{name}\npurity {purity(model.labels_, y):.2f}")
        say(f"clusters: {names[-1]!r} in {time.perf_counter() - start:.0f} s")
    rows_of_images(rows, names, "means_clusters.png")


def draw_ages():
    """Age pyramids of the United States, and the mean of the first and of the last five."""
    file = Path(os.environ.get("SINKDIST_DATA", "")) / "demography" / "us_population_age_sex.npz"
    if not file.is_file():
        say("ages: left out, since SINKDIST_DATA names no folder with demography/")
        return
    data = np.load(file)
    ages, years, X = data["ages"], data["years"], data["counts"].sum(axis=1)
    ground = sd.Ground.points(ages.astype(float), metric="sqeuclidean")
    weights = np.zeros((2, years.size))
    weights[0, :5] = weights[1, -5:] = 1
    shares = X / X.sum(axis=1, keepdims=True)
    means = sd.barycenter(X, ground=ground, weights=weights, lam=0.05, normalize=True)
    plain = (weights / 5) @ shares
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    for k, part in enumerate((slice(0, 5), slice(-5, None))):
        for row in shares[part]:
            axes[k].plot(ages, 100 * row, color="0.75", lw=1)
        axes[k].plot(ages, 100 * plain[k], color=COLOURS[1], ls="--", label="mean of each bin")
        axes[k].plot(ages, 100 * means[k], color=COLOURS[0], lw=2, label="barycentre")
        axes[k].set(title=f"{years[part][0]} to {years[part][-1]}", xlabel="age")
    axes[0].set_ylabel("% of the population")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(DOCS / "means_ages.png", dpi=110)
    plt.close(figure)


def say(line):
    """One line of progress."""
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    known = {
        "digits": draw_digits, "path": draw_path, "clusters": draw_clusters, "ages": draw_ages,
    }  # fmt: skip
    for name in sys.argv[1:] or known:
        known[name]()
