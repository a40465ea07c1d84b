"""The paper's claims about the experiment, and what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sinkdist_paper.fig2.results import LABELS, Errors, choices, column, errors_of
from sinkdist_paper.figure import Claim, Records

__all__ = ["claims"]

CLEARLY = 5 / 6  # the share of experiments that the better distance has to win
_FEWEST = 12  # experiments: with fewer, no claim is decided
_NAMED = 3  # of the other distances, how many are named


def claims(records: Records) -> list[Claim]:
    """Judge what the paper says about the experiment."""
    errors = errors_of(records)
    if not errors:
        return []
    n = max(n for _, n in errors)
    few = max(len(values) for values in errors.values()) < _FEWEST
    judged = [
        judgement
        for judge in (_beats_all, _nine_is_best, _small_powers, _mahalanobis_is_worse)
        if (judgement := judge(records, errors, n)) is not None
    ]
    return [replace(claim, holds=None) for claim in judged] if few else judged


def _beats_all(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether Sinkhorn distances are better than each of the others."""
    others = [name for name, size in errors if size == n and name not in ("sinkhorn", "alpha")]
    if ("sinkhorn", n) not in errors or not others:
        return None
    ours = np.array(errors["sinkhorn", n])
    theirs = {name: np.array(errors[name, n]) for name in others}
    holds = all(
        ours.mean() < error.mean() and np.mean(ours < error) >= CLEARLY for error in theirs.values()
    )
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
        f"others: {'; '.join(listed)}. A safe margin is taken to mean: better on average, and in "
        "five of six experiments.",
        bool(holds),
    )


def _nine_is_best(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether lam = 9 is chosen in most folds."""
    counts = choices(records, "sinkhorn", n)
    if not counts:
        return None
    total = sum(counts.values())
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
        f"test error: {listed}.",
        counts.get(9, 0) > total / 2,
    )


def _small_powers(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether the independence kernel prefers a small power."""
    counts = choices(records, "independence", n)
    if not counts:
        return None
    listed = ", ".join(f"{value:g}: {count}" for value, count in sorted(counts.items()))
    return Claim(
        "For the independence kernel smaller values of a seem to be preferable.",
        f"How often each a was chosen at N = {n:,}: {listed}.",
        max(counts, key=lambda value: counts[value]) == min(counts)
        and counts[min(counts)] > sum(counts.values()) / 2,
    )


def _mahalanobis_is_worse(records: Records, errors: Errors, n: int) -> Claim | None:
    """Whether the Mahalanobis distances have larger errors."""
    names = [name for name in ("mahalanobis", "mahalanobis-inverse") if (name, n) in errors]
    if not names or ("sinkhorn", n) not in errors:
        return None
    ours = float(np.mean(errors["sinkhorn", n]))
    theirs = {name: float(np.mean(errors[name, n])) for name in names}
    ranked = sorted(float(np.mean(values)) for (_, size), values in errors.items() if size == n)
    listed = ", ".join(
        f"{LABELS[name]} {error:.2%} (place {1 + ranked.index(error)} of {len(ranked)})"
        for name, error in theirs.items()
    )
    return Claim(
        "Mahalanobis distances with exp(-t M^2) or its inverse are not competitive.",
        f"Mean errors at N = {n:,}: {listed}; Sinkhorn {ours:.2%}.",
        min(theirs.values()) > ours,
    )
