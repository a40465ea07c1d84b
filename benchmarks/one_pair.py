"""One pair to an L1 marginal error of 1e-6, over grounds, sizes and strengths.

Targets: faster than every peer in every cell; 3 times POT, 10 times from L = 50 on; for d >= 256
faster than POT's exact EMD up to L = 50, no slower than our own up to L = 9, and at most twice as
slow above.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import ours
from benchmarks.accuracy import BOUND, Setting, form_error, marginal_error
from benchmarks.journal import Journal
from benchmarks.peers import EMD, PEERS, Peer, Run, present
from benchmarks.problems import Array, Pair, PairKey, pair
from benchmarks.table import Row, Section, show
from benchmarks.timing import Contestant, Time, race, with_threads
from benchmarks.tolerances import Tolerances

KINDS = ("random", "grid")
BINS = (64, 256, 1024, 4096)
STRENGTHS = (1.0, 9.0, 50.0, 200.0)
BUDGET = 20.0
#: Seconds for the turns of a cell: 32 of them, with what is outside the clock, end in two hours.
CELL = 90.0
EXACT = (EMD, ours.EXACT)  # they have no tolerance
# Sums of a plan in another order, or another number of BLAS threads, move the last digits.
SLACK = 0.01
FORM = 1e-6


def target(peer: Peer, key: PairKey) -> float | None:
    """The least ratio asked for, None where the comparison is only shown."""
    if peer in EXACT and key.d < 256:
        return None
    if peer == ours.EXACT:
        return 1.0 if key.strength <= 9 else 0.5
    if peer == EMD:
        return 1.0 if key.strength <= 50 else None
    if peer.package == "POT":
        return 10.0 if key.strength >= 50 else 3.0
    return 1.0


def cell(key: PairKey, settings: dict[Peer, Setting], turns: int) -> list[Row]:
    """Race everyone who can on one problem, judge what they returned, and make the rows."""
    problem = pair(key)
    runs: dict[str, Run] = {}
    contestants: list[Contestant] = []
    if ours.package() is not None:
        runs[ours.NAME] = ours.prepare(problem, BOUND)
        contestants.append(_contestant(ours.NAME, runs[ours.NAME]))
    for peer, setting in settings.items():
        if setting.tol is not None:
            runs[peer.name] = peer.prepare(problem, setting.tol)
            entry = _contestant(peer.name, runs[peer.name])
            contestants.extend(with_threads(entry) if peer.blas else (entry,))
    times = race(contestants, turns=turns, budget=min(10.0, CELL / len(contestants)))
    exact = [peer.name for peer in EXACT]
    faults = {
        name: fault(runs[name].plan(taken.result), problem, exact=name in exact)
        for name, taken in times.items()
    }
    return [_row(problem, peer, setting, times, faults) for peer, setting in settings.items()]


def fault(plan: Array, problem: Pair, exact: bool) -> str:
    """What is wrong with a returned plan, nothing where it is right."""
    error = marginal_error(plan, problem)
    if error > BOUND * (1 + SLACK):
        return f"fails: error {error:.0e}"
    form = 0.0 if exact else form_error(plan, problem)
    return "" if form <= FORM else f"fails: off diag(u) K diag(v) by {form:.0e}"


def _contestant(name: str, run: Run) -> Contestant:
    """Put a prepared run on the starting line."""
    return Contestant(name, run.call, run.fresh)


def _row(
    problem: Pair,
    peer: Peer,
    setting: Setting,
    times: dict[str, Time],
    faults: dict[str, str],
) -> Row:
    """The row of one peer; one that gave up counts with the time after which it did."""
    key = problem.key
    own = times.get(ours.NAME)
    gave_up = setting.reason.startswith("gave up")
    note = setting.reason or faults.get(peer.name, "")
    theirs = BUDGET if gave_up else None
    if peer.name in times and not note:
        theirs = times[peer.name].seconds
    return Row(
        case=f"{key.kind}, d={key.d}, L={key.strength:g}",
        against=peer.name,
        ours=own.seconds if own else None,
        theirs=theirs,
        target=target(peer, key),
        at_least=gave_up,
        note=note,
        wrong=faults.get(ours.NAME, ""),
    )


def measure(
    quick: bool = False, bins: Sequence[int] = BINS, journal: Journal | None = None
) -> Section:
    """Run every cell; ``quick`` keeps to the two smaller sizes."""
    peers = present((*PEERS, *EXACT))
    journal, tolerances = journal or Journal(), Tolerances(BUDGET)
    rows: list[Row] = []
    for d in bins[:2] if quick else bins:
        for kind in KINDS:
            for strength in STRENGTHS:
                key = PairKey(kind, d, strength)

                def run(key: PairKey = key) -> list[Row]:
                    settings = {peer: _setting(tolerances, peer, key) for peer in peers}
                    return cell(key, settings, turns=3 if quick else 7)

                rows += journal.rows(f"one pair, {kind}, d={d}, L={strength:g}", run)
    tolerances.close()
    return Section(
        "one_pair",
        "One pair, L1 marginal error at most 1e-6",
        tuple(rows),
        (
            "sinkdist's column is its time; the others say how many times longer a peer takes.",
            "Every result's marginals are summed after the run, and its form diag(u) K diag(v) is "
            "checked; each peer runs at the loosest tolerance (by factors of 3) that meets 1e-6.",
            f"'>' marks a peer that was stopped after {BUDGET:.0f} s. 'fails' is the error left by "
            "a peer that cannot reach 1e-6 at any tolerance.",
            "POT sinkhorn has the better of one and all BLAS threads; OTT is compiled beforehand "
            "and returns potentials only; POT and regot return plans, as they always do.",
            "L = lam * median(M). Exact distances do not depend on L; ours is told nothing about "
            "the costs but their matrix.",
        ),
    )


def _setting(tolerances: Tolerances, peer: Peer, key: PairKey) -> Setting:
    """The peer's tolerance; exact solvers have none."""
    return Setting(BOUND) if peer in EXACT else tolerances(peer, key)


if __name__ == "__main__":
    show(measure)
