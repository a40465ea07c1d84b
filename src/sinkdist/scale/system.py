"""What the operating system says of memory: how much this process holds, and may still take.

Linux is asked through ``/proc`` and its control groups, the limits of containers and of batch jobs,
Windows through its own functions. Elsewhere free memory is not known to the standard library, and
half of what is built in stands for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["available", "held", "physical"]

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")  # versions 2, 2 and 1
_USAGES = ("memory.current", "memory.usage_in_bytes")
_CACHES = ("inactive_file", "total_inactive_file")  # what a group gives back when it is short
_UNKNOWN = 2**32  # bytes, where nothing can be found out


def available() -> int:
    """Bytes that this process could still take, within its limits."""
    return max(0, min([_free(), *_left_in_groups(), *_left_in_address_space()]))


def held() -> int:
    """Bytes of physical memory that this process holds now; at most so far, on macOS."""
    if sys.platform == "win32":
        return _windows_memory()[2]
    try:
        return _pages()[1] * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def physical() -> int:
    """Bytes of memory that are built in."""
    if sys.platform == "win32":
        return _windows_memory()[0]
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # a name that this system does not know
        return _UNKNOWN


def _free() -> int:
    """Bytes that the machine could give to anybody."""
    if sys.platform == "win32":
        return _windows_memory()[1]
    try:
        found = _table(_PROC / "meminfo")["MemAvailable"]
    except (OSError, ValueError, KeyError):
        return physical() // 2
    return found * 1024


def _left_in_groups() -> Iterator[int]:
    """What the control groups leave that this process is in: its own and all around it."""
    for folder in _groups():
        usage = min(_numbers(folder, _USAGES), default=None)
        if usage is not None:
            try:
                stat = _table(folder / "memory.stat")
            except (OSError, ValueError):
                stat = {}
            cache = max((stat[name] for name in _CACHES if name in stat), default=0)
            for limit in _numbers(folder, _LIMITS):
                yield limit - usage + min(cache, usage)


def _groups() -> Iterator[Path]:
    """Folders of this process's control groups, inner ones first.

    A container may see its own group at the top and, as its name, one that exists only outside:
    so the top is always looked at, and names that do not exist have no limits to read.
    """
    names = {"": "/"}
    try:
        for line in (_PROC / "self/cgroup").read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            if not controllers or "memory" in controllers.split(","):
                names["memory" if controllers else ""] = name
    except (OSError, ValueError):
        pass
    names.setdefault("memory", "/")
    for mount, name in names.items():
        top = _CGROUPS / mount
        inner = top / name.strip("/")
        yield inner
        yield from (folder for folder in inner.parents if folder.is_relative_to(top))


def _left_in_address_space() -> Iterator[int]:
    """What ``ulimit -v`` leaves, where it is set."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit - _pages()[0] * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, IndexError):
        return


def _pages() -> list[int]:
    """Pages of address space and of physical memory of this process, among others."""
    return [int(word) for word in (_PROC / "self/statm").read_text().split()]


def _numbers(folder: Path, names: tuple[str, ...]) -> list[int]:
    """The numbers in those files that are there; "max" is none."""
    found = []
    for name in names:
        try:
            found.append(int((folder / name).read_text()))
        except (OSError, ValueError):
            continue
    return found


def _table(path: Path) -> dict[str, int]:
    """A file of lines with a name and a number."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class _MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX."""

        _fields_ = (
            ("dwLength", wintypes.DWORD),
            ("dwMemoryLoad", wintypes.DWORD),
            ("ullTotalPhys", ctypes.c_ulonglong),
            ("ullAvailPhys", ctypes.c_ulonglong),
            ("ullTotalPageFile", ctypes.c_ulonglong),
            ("ullAvailPageFile", ctypes.c_ulonglong),
            ("ullTotalVirtual", ctypes.c_ulonglong),
            ("ullAvailVirtual", ctypes.c_ulonglong),
            ("ullAvailExtendedVirtual", ctypes.c_ulonglong),
        )

    class _ProcessMemory(ctypes.Structure):
        """PROCESS_MEMORY_COUNTERS."""

        _fields_ = (
            ("cb", wintypes.DWORD),
            ("PageFaultCount", wintypes.DWORD),
            ("PeakWorkingSetSize", ctypes.c_size_t),
            ("WorkingSetSize", ctypes.c_size_t),
            ("QuotaPeakPagedPoolUsage", ctypes.c_size_t),
            ("QuotaPagedPoolUsage", ctypes.c_size_t),
            ("QuotaPeakNonPagedPoolUsage", ctypes.c_size_t),
            ("QuotaNonPagedPoolUsage", ctypes.c_size_t),
            ("PagefileUsage", ctypes.c_size_t),
            ("PeakPagefileUsage", ctypes.c_size_t),
        )

    def _windows_memory() -> tuple[int, int, int]:
        """Bytes built in, free, and held by this process."""
        kernel = ctypes.WinDLL("kernel32")
        machine = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
        process = _ProcessMemory(cb=ctypes.sizeof(_ProcessMemory))
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        kernel.K32GetProcessMemoryInfo.argtypes = (
            wintypes.HANDLE, ctypes.POINTER(_ProcessMemory), wintypes.DWORD,
        )  # fmt: skip
        kernel.GlobalMemoryStatusEx(ctypes.byref(machine))
        kernel.K32GetProcessMemoryInfo(
            kernel.GetCurrentProcess(), ctypes.byref(process), process.cb
        )
        return machine.ullTotalPhys, machine.ullAvailPhys, process.WorkingSetSize
