"""Train a small network to predict an ordered quantity as a histogram, with two losses.

The data are scikit-learn's 442 diabetes patients. The target, a measure of the disease's progress
after one year, is cut into bins of equal width, and a network predicts a histogram over them.
Cross-entropy does not know that bins have an order: a miss by one bin costs what a miss by ten
costs. The Sinkhorn divergence does, by its ground metric, the distance between bins. Both networks
are the same, start from the same weights, see the same splits, and each is stopped where it is best
on the validation patients, by the measure it is then judged by on the test patients.

Run ``python examples/train_with_sinkhorn_loss.py [file.png]``; it takes under a minute and needs
``pip install "sinkdist[torch,learn,plot]"``. It prints what it measures and draws docs/loss.png.
"""

# ruff: noqa: T201
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_diabetes

import sinkdist as sd
from sinkdist.torch import SinkhornLoss

SIZES, SPLITS, EPOCHS, EVERY = (8, 16, 32, 64), 12, 100, 5
BLUE, ORANGE = "#0072B2", "#E69F00"
ENTROPY, SINKHORN = "cross-entropy", "Sinkhorn divergence"
COLOURS = {ENTROPY: ORANGE, SINKHORN: BLUE}


def patients(size):
    """Features, the progress of the disease, the bin it lies in, and the middles of the bins."""
    features, progress = load_diabetes(return_X_y=True)
    edges = np.linspace(progress.min(), progress.max(), size + 1)
    bins = np.clip(np.searchsorted(edges, progress, side="right") - 1, 0, size - 1)
    features = torch.tensor(features / features.std(axis=0), dtype=torch.float32)
    return features, progress, torch.tensor(bins), (edges[1:] + edges[:-1]) / 2


def losses(size):
    """Both, for logits over so many bins; the ground is |i - j| over its median."""
    ground = sd.Ground.grid(size).scaled()
    return {
        ENTROPY: torch.nn.functional.cross_entropy,
        SINKHORN: SinkhornLoss(ground, lam=9.0, logits=True),
    }


def judged(logits, progress, middles):
    """The mean error of the predicted median, in units of progress."""
    median = (torch.softmax(logits, 1).cumsum(1) < 0.5).sum(1).numpy()
    return float(np.abs(middles[median] - progress).mean())


def trained(loss, data, parts, seed):
    """Train; the test's error at the epoch that is best for the validation part, and its logits."""
    features, progress, bins, middles = data
    torch.manual_seed(seed)
    network = torch.nn.Sequential(
        torch.nn.Linear(features.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, len(middles))
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2, weight_decay=1e-3)
    train, check, test = parts
    best = (np.inf, np.inf, None)
    for epoch in range(EPOCHS):
        optimiser.zero_grad()
        loss(network(features[train]), bins[train]).backward()
        optimiser.step()
        if epoch % EVERY == 0:
            with torch.no_grad():
                error = judged(network(features[check]), progress[check], middles)
                if error < best[0]:
                    logits = network(features[test])
                    best = error, judged(logits, progress[test], middles), logits
    return best[1:]


def draw(path, errors, histograms, truth, middles):
    """What the losses see, what they reach, and what their networks predict."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    distance = np.arange(16)[:, None] - np.arange(16)
    logits, wanted = torch.tensor(-0.5 * distance**2).float().clamp(min=-8), torch.full((16,), 4)
    for name, loss in losses(16).items():
        seen = np.array([loss(logits[k : k + 1], wanted[k : k + 1]).item() for k in range(16)])
        axes[0].plot(seen / seen.max(), color=COLOURS[name], marker="o", ms=3, label=name)
    axes[0].set(title="What each loss sees: the true bin is 4", xlabel="bin that is predicted")
    axes[0].set_xticks(range(0, 16, 4))
    axes[0].set_ylabel("loss, over its maximum")
    axes[0].legend(frameon=False, loc="lower right")
    for name, colour in COLOURS.items():
        runs = np.array([errors[size, name] for size in SIZES])
        axes[1].errorbar(
            SIZES, runs.mean(1), runs.std(1) / SPLITS**0.5, color=colour, marker="o", capsize=3
        )
    axes[1].set(title=f"Error on test patients, {SPLITS} splits", xlabel="number of bins")
    axes[1].set_xscale("log", base=2)
    axes[1].set_xticks(SIZES, map(str, SIZES))
    axes[1].set_ylabel("error of the predicted median")
    step = 1.15 * max(rows.max() for rows in histograms.values())
    for name, rows in histograms.items():
        for k, row in enumerate(rows):
            axes[2].step(middles, row + step * k, where="mid", color=COLOURS[name], lw=1.2)
    for k, value in enumerate(truth):
        axes[2].axhline(step * k, color="black", lw=0.5)
        axes[2].plot(value, step * k, "^", color="black", ms=7, clip_on=False, zorder=3)
    axes[2].set(title="Four patients, 32 bins (▲ the truth)", yticks=[])
    axes[2].set_xlabel("progress of the disease after a year")
    figure.savefig(path, dpi=110)


def main():
    """Train under both losses on every split, for coarse and for fine bins; print and draw."""
    torch.set_num_threads(1)  # so small a network is quickest on one
    errors, histograms, truth, shown = {}, {}, [], None
    print("error on test patients    " + "   ".join(f"{name:>20s}" for name in COLOURS))
    for size in SIZES:
        data = patients(size)
        for split in range(SPLITS):
            order = torch.tensor(np.random.default_rng(split).permutation(len(data[2])))
            parts = order[:264], order[264:352], order[352:]
            for name, loss in losses(size).items():
                error, logits = trained(loss, data, parts, split)
                errors.setdefault((size, name), []).append(error)
                if size == 32 and split == 0:
                    histograms[name] = torch.softmax(logits[:4], 1).numpy()
                    truth, shown = data[1][parts[2]][:4], data[3]
        runs = [errors[size, name] for name in COLOURS]
        spread = [f"{np.mean(run):.1f} ± {np.std(run) / SPLITS**0.5:.1f}" for run in runs]
        better = int((np.array(runs[1]) < runs[0]).sum())
        cells = "   ".join(f"{cell:>20s}" for cell in spread)
        print(
            f"{size:3d} bins                  {cells}   (Sinkhorn better on {better} of {SPLITS})"
        )
    default = Path(__file__).parents[1] / "docs" / "loss.png"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    draw(path, errors, histograms, truth, shown)


if __name__ == "__main__":
    main()
