"""The pictures of docs/neighbors.md: neighbours of handwritten digits, and what a budget proves.

Run it from anywhere; scikit-learn's 1,797 digits are the data. It takes about a minute.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import sinkdist as sd

DOCS = Path(__file__).parents[1] / "docs"
SHOWN, NEAR, K = (5, 23, 41, 1002), 8, 10
BUDGETS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 80)
INK, FAINT, BLUE, ORANGE = "#222222", "#bbbbbb", "#1f5fa8", "#d95f02"


def draw_neighbours(X: np.ndarray, ground: sd.Ground) -> None:
    """Some digits with their nearest others, by transport and bin by bin."""
    ways = {
        "transport": sd.neighbors(X, ground=ground, k=NEAR, lam=np.inf),
        "Euclidean": sd.neighbors(X, distance="euclidean", k=NEAR),
    }
    rows = [(digit, name) for digit in SHOWN for name in ways]
    figure, axes = plt.subplots(len(rows), NEAR + 1, figsize=(8.2, 7.6), layout="constrained")
    for line, (digit, name) in zip(axes, rows, strict=True):
        found = ways[name]
        for place, index in enumerate([digit, *found.indices[digit]]):
            line[place].imshow(X[index].reshape(8, 8), cmap="Greys")
            line[place].set(xticks=[], yticks=[])
            for side in line[place].spines.values():
                side.set(color=BLUE if place == 0 else FAINT, linewidth=2 if place == 0 else 0.8)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    axes[0, 0].set_title("query", fontsize=10, color=BLUE)
    axes[0, 1].set_title("nearest", fontsize=10, loc="left", color=INK)
    figure.savefig(DOCS / "search_neighbours.png", dpi=110)


def draw_budget(X: np.ndarray, ground: sd.Ground) -> None:
    """How many of the ten nearest are found, and proven, after so many solves."""
    queries, family = X[::18], np.delete(X, np.s_[::18], axis=0)
    truth = sd.neighbors(queries, family, ground=ground, k=K, lam=np.inf)
    limit, got, proven = truth.distances[:, -1:] * (1.0 + 1e-9), [], []
    for budget in BUDGETS:
        some = sd.neighbors(queries, family, ground=ground, k=K, lam=np.inf, budget=budget)
        got.append(np.nansum(some.distances <= limit) / len(queries))
        proven.append(some.proven.sum() / len(queries))
    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    axis.plot(BUDGETS, got, "o-", color=BLUE, label="found")
    axis.plot(BUDGETS, proven, "s-", color=ORANGE, label="proven")
    axis.axhline(K, color=FAINT, linewidth=0.8)
    axis.set(
        xlabel=f"pairs solved for a query, of {len(family):,}", ylabel=f"of the {K} nearest",
        ylim=(0, K + 0.6), xlim=(0, max(BUDGETS) + 2),
    )  # fmt: skip
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="lower right")
    figure.savefig(DOCS / "search_budget.png", dpi=110)


def main() -> None:
    """Both pictures."""
    X = load_digits().data
    X, ground = X / X.sum(axis=1, keepdims=True), sd.Ground.grid(8, 8)
    draw_neighbours(X, ground)
    draw_budget(X, ground)


if __name__ == "__main__":
    main()
