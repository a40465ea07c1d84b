"""The paper's claims about the balls, and a table of the best tables."""

from __future__ import annotations

import numpy as np

from sinkdist_paper.fig1.points import column, of, places
from sinkdist_paper.figure import Claim, Records, View
from sinkdist_paper.verdict import Verdict

__all__ = ["claims", "views"]

SLACK = 1e-8  # for rounding and the tolerance of the solver


def claims(records: Records) -> list[Claim]:
    """Judge what the figure and its section say about the balls.

    These are theorems: each holds or does not, there is no part of it to be granted.
    """
    best, curve = of(records, "best"), of(records, "distance")
    if not (best and curve and of(records, "step")):
        return []
    return [_on_the_surface(records, best), _between_the_limits(records, curve), _one_path(records)]


def _on_the_surface(records: Records, best: Records) -> Claim:
    """Whether the tables found are the best of their balls."""
    off = max(abs(float(record["kl"]) - float(record["radius"])) for record in best)
    surface = of(records, "surface")
    ahead = min(
        column(of(surface, "surface", float(record["radius"])), "value").min()
        - float(record["value"])
        for record in best
    )
    return Claim(
        "The Sinkhorn distance is the cost of the best table in the ball around r c^T.",
        f"The tables found lie on the surfaces of their balls (KL is within {off:.0e} of alpha), "
        f"and of {len(surface):,} other points of the surfaces "
        f"{'none costs less' if ahead >= -SLACK else 'some cost less'}.",
        Verdict.of(off <= 1e-6 and bool(ahead >= -SLACK)),
    )


def _between_the_limits(records: Records, curve: Records) -> Claim:
    """Whether the distance falls from one limit to the other."""
    values = column(curve, "value")
    highest = float(of(records, "independence")[0]["value"])
    lowest = float(of(records, "optimum")[0]["value"])
    falls = bool((np.diff(values) < SLACK).all())
    return Claim(
        "d_{M,alpha} is r^T M c at alpha = 0, and the EMD for alpha large enough.",
        f"It {'falls' if falls else 'does not always fall; it goes'} from {values[0]:.6f} to "
        f"{values[-1]:.6f}; r^T M c is {highest:.6f} and the EMD {lowest:.6f}.",
        Verdict.of(falls and abs(values[0] - highest) <= 1e-6 and abs(values[-1] - lowest) <= 1e-6),
    )


def _one_path(records: Records) -> Claim:
    """Whether the best tables of the balls are tables P^lam."""
    apart = np.abs(places(of(records, "best")) - places(of(records, "penalised"))).max()
    path_kl, end = column(of(records, "step"), "kl"), of(records, "step")[-1]
    rises = bool((np.diff(path_kl) > -SLACK).all())
    far = abs(float(end["value"]) - float(of(records, "optimum")[0]["value"]))
    return Claim(
        "To each alpha corresponds a lambda, and KL(P^lambda || r c^T) rises with lambda.",
        f"The best tables of the balls and P^lambda with the lambda found for them differ by "
        f"{apart:.0e} at most; KL {'rises' if rises else 'does not always rise'} along the path, "
        f"whose end (lambda = {float(end['lam']):.0f}) costs {far:.0e} more than P*.",
        Verdict.of(bool(apart <= 1e-6) and rises and far <= 1e-6),
    )


def views(records: Records) -> list[View]:
    """The best table of each ball in numbers."""
    rows = [
        (
            f"{float(record['radius']):g}",
            f"{float(record['lam']):.3f}",
            f"{float(record['value']):.4f}",
            f"{float(record['kl']):.8f}",
        )
        for record in of(records, "best")
    ]
    rows += [
        (name, "-", f"{float(record['value']):.4f}", f"{float(record['kl']):.8f}")
        for what, name in (("independence", "0"), ("optimum", "no ball"))
        for record in of(records, what)
    ]
    head = ("radius alpha", "lam", "distance", "KL(P || r c^T)")
    return [View("The best table in each ball", head, tuple(rows))]
