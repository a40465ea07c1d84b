"""Whether a cluster that sends nothing can still work: its scheduler and its workers.

Tiles may take long, so silence alone means nothing. What does: the scheduler is gone, no worker is
connected, or all of them have paused. Workers may come back, so the caller is warned first, and
the run is given up only when that has lasted. Nothing here imports Dask.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, TypeAlias

from sinkdist.errors import ClusterWarning, StoreError

__all__ = ["ClusterHealth", "kept", "outside"]

Client: TypeAlias = Any  # distributed.Client, whose methods carry no types

#: Seconds: for a lost scheduler to come back, for it to answer, until the caller is warned, and
#: until the run is given up before its first tile and later.
_GONE, _ANSWER, _WORD, _BEFORE, _LATER = 5.0, 5.0, 5.0, 30.0, 60.0
_STEP = 0.2


def kept(path: str | None) -> str:
    """What is left of a run that was given up."""
    if path is None:
        return "Finished tiles are lost, because they were kept in memory only."
    return f"Finished tiles are kept in {path!r}: run it again to continue."


class ClusterHealth:
    """Checks the cluster of a client while no finished tile arrives from it."""

    def __init__(self, client: Client, path: str | None) -> None:
        self._client = client
        self._address = client.scheduler.address
        self._kept = kept(path)
        self._patience = _BEFORE
        self._since: float | None = None  # when the trouble began
        self._warned = False

    def tile_finished(self) -> None:
        """Note that a tile was finished."""
        self._patience, self._since = _LATER, None

    def check(self) -> bool:
        """Whether a worker can work; a warning if none can, and an error if that lasts."""
        self.require_scheduler()
        trouble = self._trouble()
        if trouble is None:
            self._since = None
            return True
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since > self._patience:
            raise StoreError(
                f"The Dask cluster at {self._address} has computed nothing for "
                f"{self._patience:.0f} seconds: {trouble} {self._kept}"
            )
        if now - self._since > _WORD and not self._warned:
            self._warned = True
            warnings.warn(
                f"The Dask cluster at {self._address} computes nothing: {trouble} Waiting for "
                f"another {self._patience - _WORD:.0f} seconds before giving up. {self._kept}",
                ClusterWarning,
                stacklevel=outside(),
            )
        return False

    def wait_for_workers(self) -> None:
        """Return as soon as a worker can work."""
        while not self.check():
            time.sleep(_STEP)

    def require_scheduler(self) -> None:
        """Raise unless the client is connected, or connected again within a few seconds."""
        deadline = time.monotonic() + _GONE
        while self._client.status != "running":
            if self._client.status != "connecting" or time.monotonic() > deadline:
                raise StoreError(f"The Dask scheduler at {self._address} is gone. {self._kept}")
            time.sleep(_STEP)

    def _trouble(self) -> str | None:
        """Why no worker can work, and what helps; None if one can, or still does."""
        try:
            found = self._client.sync(self._client.scheduler.identity, callback_timeout=_ANSWER)
        except (OSError, AttributeError):  # no answer, or the client was closed meanwhile
            return "its scheduler does not answer."
        workers = list(found["workers"].values())
        if any(worker["status"] == "running" or _is_busy(worker) for worker in workers):
            return None
        if not any(worker["status"] == "paused" for worker in workers):
            return "no worker is connected. Start some."
        return (
            f"all its workers ({len(workers)}) are paused, for want of memory. Give them more of "
            "it, or fewer threads each."
        )


def _is_busy(worker: dict[str, Any]) -> bool:
    """Whether a worker is at a tile, though it may take no other."""
    counts = (worker.get("metrics") or {}).get("task_counts") or {}
    return any(counts.get(state, 0) > 0 for state in ("executing", "long-running"))


def outside() -> int:
    """The level of the caller's own code, seen from the function that asks."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "sinkdist":
        frame, level = frame.f_back, level + 1
    return level
