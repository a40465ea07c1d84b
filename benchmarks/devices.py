"""Torch and JAX on every device that is there: many pairs, and gradients of a converged batch.

Targets: for 20 iterations of one against many, 0.9 times the speed of the lines a torch user writes
and 5 times OTT's vmap; forward and backward of 64 converged pairs 3 times as fast as OTT-JAX with
implicit differentiation and as autograd through POT, and backward at most 1.5 times forward.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import batch_peers, derivatives, machine, ours
from benchmarks.many_pairs import BINS, CLOSE, ITERATIONS, LAM
from benchmarks.present import (
    devices,
    is_there,
    jax_devices,
    on_host,
    presence,
    torch_devices,
    waited,
)
from benchmarks.problems import ground, simplex
from benchmarks.table import Row, Section, markdown
from benchmarks.timing import SETTLE_WELL, Contestant, Time, race

RESULT = Path(__file__).parent / "results" / "devices.md"
HAND, VMAP = "by hand", "OTT vmap"
TARGETS = {("torch", HAND): 0.9, ("JAX", VMAP): 5.0}


def contest(device: str, dtype: str, n: int, turns: int) -> list[Row]:
    """One against many on one device, in torch and in JAX."""
    cost = ground("grid", BINS).astype(dtype)
    rows = simplex(n + 1, BINS, seed=3).astype(dtype)
    rows /= rows.sum(axis=1, keepdims=True)
    problem = (rows[0], rows[1:], cost, LAM, ITERATIONS)
    entries: dict[tuple[str, str], Contestant] = {}

    def enter(framework: str, name: str, call: Callable[[Any], Any]) -> None:
        entries[framework, name] = Contestant(f"{framework}, {name}", call)

    if device in torch_devices():
        own = ours.torch_one_to_many(*problem, device)
        enter("torch", ours.NAME, waited(own, device))
        enter("torch", HAND, waited(batch_peers.torch_lines(*problem, device), device))
    place = jax_devices().get(device)
    if place is not None and not (device == "mps" and dtype == "float64"):
        enter("JAX", ours.NAME, ours.jax_one_to_many(*problem, place))
        enter("JAX", HAND, batch_peers.jax_lines(*problem, place))
        if is_there("ott"):
            enter("JAX", VMAP, batch_peers.ott_fixed(*problem, place))
    times = race(list(entries.values()), turns=turns, budget=10.0, settle=SETTLE_WELL)
    truth = batch_peers.reference(*problem)
    return [
        row
        for framework in ("torch", "JAX")
        for row in _rows(framework, device, dtype, n, times, truth)
    ]


def _rows(
    framework: str, device: str, dtype: str, n: int, times: dict[str, Time], truth: Any
) -> list[Row]:
    """One row per opponent of one framework."""
    own = times.get(f"{framework}, {ours.NAME}")
    if own is None:
        return []
    off = float(np.abs(on_host(own.result) / truth - 1.0).max())
    opponents = [name for name in (HAND, VMAP) if f"{framework}, {name}" in times]
    return [
        Row(
            case=f"{framework} on {device}, {n} pairs, {dtype}",
            against=name,
            ours=own.seconds,
            theirs=times[f"{framework}, {name}"].seconds,
            target=TARGETS.get((framework, name)),
            wrong="" if off <= CLOSE[dtype] else f"off by {off:.0e}",
        )
        for name in opponents
    ]


def section(quick: bool) -> Section:
    """Every device and both types; MPS has no float64."""
    n, turns = (500, 3) if quick else (2000, 9)
    rows = [
        row
        for device in devices()
        for dtype in ("float32", "float64")
        if not (device == "mps" and dtype == "float64")
        for row in contest(device, dtype, n, turns)
    ]
    return Section(
        "devices",
        f"Torch and JAX: one against many, full support, d={BINS}, {ITERATIONS} iterations",
        tuple(rows),
        (
            presence(),
            "By hand: the lines a user of the framework writes; in JAX they are compiled, as OTT's "
            "vmap is. Arrays are on the device before the clock starts and stay on it.",
            f"A target for torch is {TARGETS['torch', HAND]} times by hand, for JAX "
            f"{TARGETS['JAX', VMAP]:g} times OTT's vmap.",
        ),
    )


def main() -> None:
    """Measure, print, and write the result of a full run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.devices", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pairs and turns; not written")
    quick = parser.parse_args().quick
    print(presence(), flush=True)
    if not devices():
        return
    sections = [section(quick), derivatives.section(quick)]
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    versions = ", ".join(f"{p} {machine.version(p)}" for p in ("torch", "jax", "ott-jax", "POT"))
    text = f"# Devices\n\n{date}, commit {machine.commit()}, {machine.processor()}. {versions}.\n\n"
    text += "\n".join(map(markdown, sections))
    print(text)
    if not quick:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
