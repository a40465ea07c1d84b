"""Whether a matrix fits in memory, asked before it is allocated; and sizes in words."""

from __future__ import annotations

import os

from sinkdist.errors import InputError

__all__ = ["require_memory", "size_text"]


def size_text(size: int) -> str:
    """A number of bytes as people write it.

    Examples
    --------
    >>> size_text(8 * 1048576**2), size_text(2_000_000), size_text(12)
    ('8.8 TB', '2 MB', '12 bytes')
    """
    for power, name in ((15, "PB"), (12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            return f"{size / 10**power:.2g} {name}" if size < 10 ** (power + 1) else (
                f"{size / 10**power:,.0f} {name}"
            )  # fmt: skip
    return f"{size} bytes"


def require_memory(rows: int, columns: int, subject: str, what: str = "a cost matrix") -> None:
    """Raise for an array larger than the machine's memory, before it is allocated."""
    needed = 8 * rows * columns
    try:
        present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not told on this system
        return
    if needed > present:
        raise InputError(
            f"{subject} needs {what} of {needed / 2**30:,.1f} GiB, "
            f"but this machine has {present / 2**30:,.1f} GiB of memory."
        )
