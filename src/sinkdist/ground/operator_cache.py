"""Operators made from costs, kept for the next call: a few, or one where they are large."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["OperatorCache"]

_KEPT = 4  # a few lam, or both dtypes
_LARGE = 1 << 26  # bytes; of costs beyond this only the latest operator is kept


class OperatorCache:
    """The operators that were used last, each made once; safe to use from threads.

    Parameters
    ----------
    nbytes : int
        The size of the costs they are made from.
    """

    __slots__ = ("_lock", "_made", "_most")

    def __init__(self, nbytes: int) -> None:
        self._most = _KEPT if nbytes <= _LARGE else 1
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The operator of this key, made now if it is not there; others wait for it."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return self._made[key]

    def operators(self) -> list[Any]:
        """Those that are kept, the one used last at the end."""
        with self._lock:
            return list(self._made.values())

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._made.clear()
