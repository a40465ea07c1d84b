"""The figure: time per distance against the dimension, on logarithmic scales."""

from __future__ import annotations

import math
from typing import Any

from sinkdist_paper.fig4.contestants import EXACT, LAMS, SINKHORN
from sinkdist_paper.fig4.times import dimensions, times_of
from sinkdist_paper.figure import Records
from sinkdist_paper.palette import COLOURS, FAINT

__all__ = ["draw"]

# Sinkhorn distances have the strong colours.
_LOOKS = dict(
    zip((*EXACT, *SINKHORN), zip("sD^vo*PX", (6, 7, 3, 4, 5, 1, 0, 2), strict=True), strict=True)
)
_STYLES = {1.0: ":", 9.0: "-", math.inf: "-"}
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def draw(records: Records, figure: Any) -> None:
    """A line for each exact solver, and two for each implementation of Algorithm 1."""
    axes = figure.add_subplot()
    times, sizes = times_of(records), dimensions(records)
    for name, (mark, colour) in _LOOKS.items():
        for lam in (math.inf,) if name in EXACT else LAMS:
            shown = [d for d in sizes if (name, lam, d) in times]
            if not shown:
                continue
            axes.plot(
                shown, [times[name, lam, d] for d in shown], _STYLES[lam], marker=mark, ms=6,
                color=COLOURS[colour], lw=2.2 if name in SINKHORN else 1.5,
                label=f"EMD: {name}" if name in EXACT else f"{name}, λ = {lam:g}",
            )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{d:,}" for d in sizes])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, place: _time(value))
    axes.set_xlabel("dimension d")
    axes.set_ylabel("time per distance")
    axes.grid(axis="y")
    axes.set_title("One thread; building exp(−λM) is included", loc="left", color=FAINT)
    if figure.get_figwidth() < 7.0:
        figure.set_figheight(1.6 * figure.get_figwidth())
        figure.legend(loc="outside lower left", ncols=1)
    else:
        figure.legend(loc="outside right upper")


def _time(seconds: float) -> str:
    """A time with its unit."""
    for unit, name in _UNITS:
        if seconds >= 0.999 * unit:
            return f"{seconds / unit:g} {name}"
    return f"{seconds:g} s"
