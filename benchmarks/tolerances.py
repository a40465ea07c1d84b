"""The tolerances found for the peers, kept in a file because finding them takes an hour.

What is found depends on the peer's version and the problem, not on the machine's mood, so it is
searched for once per version and kept in ``results/tolerances.json``; removing that file (or an
entry) searches anew. Having given up does depend on the machine: it is tried again in every run.
Every timed result is judged again, so an outdated entry cannot go unnoticed.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from benchmarks.accuracy import Setting, TrialProcess, loosest
from benchmarks.machine import version
from benchmarks.peers import Peer
from benchmarks.problems import PairKey

FILE = Path(__file__).parent / "results" / "tolerances.json"
# Their work only grows with the strength: having given up at one, they are not tried above it.
SLOWER_WITH_STRENGTH = (
    "POT sinkhorn",
    "POT sinkhorn_log",
    "POT solve",
    "POT solve_batch",
    "OTT (log)",
    "OTT (kernel)",
    "regot bcd",
)


class Tolerances:
    """Settings by (peer, version, problem), searched for when first asked for."""

    def __init__(self, budget: float = 60.0, file: Path = FILE) -> None:
        self._file = file
        self._budget = budget
        self._trials: TrialProcess | None = None
        self._known: dict[str, dict[str, float | str | None]] = (
            json.loads(file.read_text()) if file.exists() else {}
        )

    def __call__(self, peer: Peer, key: PairKey) -> Setting:
        """Return the peer's setting for this problem."""
        label = _label(peer, key)
        if label not in self._known:
            print(f"searching the tolerance of {label}", flush=True)
            self._known[label] = dataclasses.asdict(self._search(peer, key))
            self._keep()
        known = self._known[label]
        tol, error = known["tol"], known["error"]
        return Setting(
            float(tol) if tol is not None else None,
            float(error) if error is not None else None,
            str(known["reason"]),
        )

    def _keep(self) -> None:
        """Write what does not depend on how busy the machine was: having given up does."""
        lasting = {
            label: known
            for label, known in self._known.items()
            if known["tol"] is not None or str(known["reason"]).startswith("fails")
        }
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps(lasting, indent=1, sort_keys=True) + "\n")

    def _search(self, peer: Peer, key: PairKey) -> Setting:
        if peer.name in SLOWER_WITH_STRENGTH:
            for label, known in self._known.items():
                weaker = label.rpartition("L=")
                same = weaker[0] == _label(peer, key).rpartition("L=")[0]
                gave_up = str(known["reason"]).startswith("gave up")
                if same and gave_up and float(weaker[2]) < key.strength:
                    return Setting(None, None, str(known["reason"]))
        if self._trials is None:
            self._trials = TrialProcess(self._budget)
        return loosest(self._trials, peer, key)

    def close(self) -> None:
        """End the process that ran the trials."""
        if self._trials is not None:
            self._trials.close()


def _label(peer: Peer, key: PairKey) -> str:
    """The name under which a setting is kept."""
    return (
        f"{peer.name} ({peer.package} {version(peer.package)}) "
        f"{key.kind} d={key.d} seed={key.seed} L={key.strength:g}"
    )
