"""How passes are compiled: one decorator, so that every kernel has the same flags.

The flags let LLVM vectorise sums and fuse multiply-adds. ``nnan`` and ``ninf`` are left out on purpose:
they would fold away the guards that notice an unrepresentable scaling.
Importing this module imports Numba; nothing outside ``passes`` and the bodies of solvers does.
"""

from __future__ import annotations

from numba import njit

FASTMATH = {"reassoc", "nsz", "arcp", "contract", "afn"}

compiled = njit(fastmath=FASTMATH, nogil=True, cache=True, error_model="numpy")

#: For kernels whose order of operations is their accuracy: no reassociation.
compiled_as_written = njit(
    fastmath=FASTMATH - {"reassoc"}, nogil=True, cache=True, error_model="numpy"
)
