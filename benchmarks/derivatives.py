"""Gradients of a converged batch: forward and backward, in torch and JAX, beside the peers.

Apart from `devices`, which prints it: here derivatives are judged, there values.
"""

from __future__ import annotations

from benchmarks import gradient_peers, ours
from benchmarks.accuracy import BOUND
from benchmarks.converged_batches import loosest
from benchmarks.gradient_peers import OTT, PEERS, POT, Batch, Derived, Peer
from benchmarks.many_pairs import BINS, LAM
from benchmarks.present import devices, is_there, jax_devices, on_host, torch_devices, waited
from benchmarks.problems import ground, simplex
from benchmarks.table import Row, Section
from benchmarks.timing import SETTLE_WELL, Contestant, Time, race

FORWARD = "its own forward"
TARGETS = {OTT: 3.0, POT: 3.0, FORWARD: 1 / 1.5}
BATCH, SAMPLE = 64, 8
CLOSE_GRADIENT = 1e-3  # of the largest derivative; what 1e-6 in the marginals is sure to leave


def derived(device: str, batch: Batch, tol: float) -> dict[str, Derived]:
    """Ours on one device, by framework."""
    found: dict[str, Derived] = {}
    if device in torch_devices():
        mine = ours.torch_derived(batch, tol, device)
        found["torch"] = Derived(waited(mine.forward, device), waited(mine.both, device))
    if device in jax_devices():
        found["JAX"] = ours.jax_derived(batch, tol, jax_devices()[device])
    return found


def peers(batch: Batch) -> list[tuple[str, Derived]]:
    """The peers on the CPU, each at the loosest tolerance that meets the bound on a sample."""

    def settled(peer: Peer) -> float | None:
        return loosest(lambda tol: peer.error(batch.part(SAMPLE), tol))[0]

    there = [(name, peer) for name, peer in PEERS if is_there(peer.module) and is_there("ot")]
    found = [(name, peer, settled(peer)) for name, peer in there]
    return [(name, peer.prepare(batch, tol)) for name, peer, tol in found if tol is not None]


def contest(device: str, turns: int) -> tuple[list[Row], list[str]]:
    """Forward and backward on one device; peers take part on the CPU. Rows and remarks."""
    rows = simplex(2 * BATCH, BINS, seed=5)
    batch = Batch(rows[:BATCH], rows[BATCH:], ground("grid", BINS), LAM)
    own = derived(device, batch, BOUND)
    opponents = peers(batch) if device == "cpu" else []
    contestants = [
        Contestant(f"{framework}, {way}", getattr(calls, way))
        for framework, calls in own.items()
        for way in ("forward", "both")
    ]
    contestants += [Contestant(name, calls.both) for name, calls in opponents]
    times = race(contestants, turns=turns, budget=20.0, settle=SETTLE_WELL)
    exact = gradient_peers.exact_gradients(batch, 2)
    found = {}
    for name, taken in times.items():
        if not name.endswith("forward"):
            result = tuple(map(on_host, taken.result))
            found[name] = gradient_peers.gradient_error(result, exact)
    error = batch.error(batch.plans(*ours.torch_potentials(batch, BOUND))) if own else 0.0
    wrong = "" if error <= 1.01 * BOUND else f"error {error:.0e}"
    names = list(dict.fromkeys(name for name, _ in opponents))
    out = [row for framework in own for row in _rows(framework, device, times, names, found, wrong)]
    errors = ", ".join(f"{name.removesuffix(', both')} {off:.0e}" for name, off in found.items())
    remark = f"Largest error of a derivative along the simplex on {device}, over the largest one: "
    return out, [f"{remark}{errors}."]


def _rows(
    framework: str, device: str, times: dict[str, Time], names: list[str], found: dict[str, float],
    wrong: str,
) -> list[Row]:  # fmt: skip
    """Both ways against each peer, and the backward pass against the forward one."""
    forward, both = (times[f"{framework}, {way}"].seconds for way in ("forward", "both"))
    off = found[f"{framework}, both"]
    wrong = wrong or ("" if off <= CLOSE_GRADIENT else f"derivatives off by {off:.0e}")
    case = f"{framework} on {device}, {BATCH} pairs"
    rows = [
        Row(
            f"{case}, both ways",
            name,
            both,
            times[name].seconds,
            TARGETS[name],
            wrong=wrong,
        )
        for name in names
    ]
    if not names:
        rows.append(Row(f"{case}, both ways", OTT, both, None, note="on the CPU only", wrong=wrong))
    target = TARGETS[FORWARD]
    return [
        *rows,
        Row(f"{case}, backward alone", FORWARD, both - forward, forward, target, wrong=wrong),
    ]


def section(quick: bool) -> Section:
    """Every device with float64."""
    rows: list[Row] = []
    remarks: list[str] = []
    for device in devices():
        if device != "mps":
            more, said = contest(device, 2 if quick else 5)
            rows += more
            remarks += said
    return Section(
        "devices",
        f"Torch and JAX: gradients of {BATCH} converged pairs, d={BINS}, L={LAM:g}, float64",
        tuple(rows),
        (
            "The sum of <P, M> and its derivatives for both histograms of every pair. All plans "
            "meet an L1 marginal error of 1e-6, judged as in the other tables; OTT solves its "
            "linear system to 1e-10, because by default its derivatives are wrong in the first "
            "digit.",
            "Backward alone is both ways less forward; the target is that it takes at most 1.5 "
            "times as long as forward, a ratio of at least 0.667.",
            *remarks,
        ),
    )
