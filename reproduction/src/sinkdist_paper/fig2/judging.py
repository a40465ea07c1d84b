"""The paper's claims about the experiment, and what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sinkdist_paper.fig2.results import LABELS, Errors, choices, column, complete, errors_of
from sinkdist_paper.figure import Claim, Records
from sinkdist_paper.verdict import Verdict

__all__ = ["claims"]

CLEARLY = 5 / 6  # the share of experiments that the better distance has to win
_FEWEST = 12  # experiments: with fewer, no claim is decided
_NAMED = 3  # of the other distances, how many are named


def claims(records: Records) -> list[Claim]:
    """Judge what the paper says about the experiment, at the largest N with all distances."""
    errors = complete(errors_of(records))
    n = _largest_common(errors)
    if n is None:
        return []
    few = max(len(values) for values in errors.values()) < _FEWEST
    judged = [
        judgement
        for judge in (_beats_all, _nine_is_best, _small_powers, _mahalanobis_is_worse)
        if (judgement := judge(records, errors, n)) is not None
    ]
    return [replace(claim, verdict=Verdict.OPEN) for claim in judged] if few else judged


def _largest_common(errors: Errors) -> int | None:
    """The largest N at which all distances were measured.

    Distances with a fixed alpha, which are not in the paper's figure, do not count.
    """
    names = {name for name, _ in errors if name != "alpha"}
    sizes = [n for n in {n for _, n in errors} if all((name, n) in errors for name in names)]
    return max(sizes, default=None)


def _beats_all(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether Sinkhorn distances are better than each of the others, and by a safe margin."""
    others = [name for name, size in errors if size == n and name not in ("sinkhorn", "alpha")]
    if ("sinkhorn", n) not in errors or not others:
        return None
    ours = np.array(errors["sinkhorn", n])
    theirs = {name: np.array(errors[name, n]) for name in others}
    better = all(ours.mean() < error.mean() for error in theirs.values())
    safe = better and all(np.mean(ours < error) >= CLEARLY for error in theirs.values())
    ranked = sorted(others, key=lambda name: float(theirs[name].mean()))
    listed = [
        f"{LABELS[name]} {theirs[name].mean():.2%} (Sinkhorn is better in "
        f"{int((ours < theirs[name]).sum())} of {len(ours)} experiments)"
        for name in ranked
        if name in ranked[:_NAMED] or name == "emd"
    ]
    return Claim(
        "The Sinkhorn distance beats by a safe margin all other distances, including the EMD.",
        f"At N = {n:,} the mean error of the Sinkhorn distance is {ours.mean():.2%}. The nearest "
        f"others: {'; '.join(listed)}. Two tests: it is better on average than each other "
        "distance; and by a safe margin, in five of six experiments against each.",
        Verdict.of(better, safe),
    )


def _nine_is_best(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether lam = 9 is chosen more often than any other, and in most folds."""
    counts = choices(records, "sinkhorn", n)
    if not counts:
        return None
    total, nine = sum(counts.values()), counts.get(9, 0)
    means = {
        value: np.mean(column(records, "error", contestant="sinkhorn", n=n, value=value))
        for value in counts
    }
    listed = ", ".join(
        f"{value:g}: {count} ({means[value]:.2%})" for value, count in sorted(counts.items())
    )
    return Claim(
        "In most, though not all, folds lam = 9 / q50(M) comes up as the best setting.",
        f"How often each lam q50(M) was chosen in {total} folds at N = {n:,}, and its own mean "
        f"test error: {listed}. Two tests: 9 is chosen more often than any other; and in more than "
        "half of the folds.",
        Verdict.of(
            all(nine > count for value, count in counts.items() if value != 9), nine > total / 2
        ),
    )


def _small_powers(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether the independence kernel prefers a small power, and the smallest."""
    counts = choices(records, "independence", n)
    if not counts:
        return None
    total = sum(counts.values())
    listed = ", ".join(f"{value:g}: {count}" for value, count in sorted(counts.items()))
    return Claim(
        "For the independence kernel smaller values of a seem to be preferable.",
        f"How often each a was chosen at N = {n:,}: {listed}. Two tests: a value below the largest "
        "is chosen in more than half of the folds; and the smallest is.",
        Verdict.of(total - counts[max(counts)] > total / 2, counts[min(counts)] > total / 2),
    )


def _mahalanobis_is_worse(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether each of the Mahalanobis distances is in the lower half of the ranking."""
    names = [name for name in ("mahalanobis", "mahalanobis-inverse") if (name, n) in errors]
    if not names or ("sinkhorn", n) not in errors:
        return None
    means = {
        name: float(np.mean(values))
        for (name, size), values in errors.items()
        if size == n and name != "alpha"
    }
    ranked = sorted(means.values())
    places = {name: 1 + ranked.index(means[name]) for name in names}
    listed = ", ".join(
        f"{LABELS[name]} {means[name]:.2%} (place {place} of {len(ranked)})"
        for name, place in places.items()
    )
    return Claim(
        "Mahalanobis distances with exp(-t M^2) or its inverse are not competitive.",
        f"Mean errors at N = {n:,}: {listed}; Sinkhorn {means['sinkhorn']:.2%}. One test for each: "
        "it is in the lower half of the ranking of the paper's distances.",
        Verdict.of(*(place > len(ranked) / 2 for place in places.values())),
    )
