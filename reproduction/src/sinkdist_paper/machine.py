"""The machine and software of a measurement: processor, memory, package versions, commit.

Nothing identifies the owner of the machine: no names of hosts or users, and no paths.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from pathlib import Path

import sinkdist
from sinkdist import __version__

__all__ = ["commit", "cores", "machine", "versions"]

PACKAGES = (
    "numpy", "scipy", "numba", "POT", "scikit-learn", "opencv-python-headless", "opencv-python",
    "pyemd", "zarr", "threadpoolctl", "matplotlib", "torch", "jax",
)  # fmt: skip
_OWN_SOURCES = ":/reproduction/src"  # as git names it, from the root of the repository
_SECONDS = 10.0  # timeout of other programs


def machine() -> dict[str, str | int]:
    """Processor, cores that this process may use, memory, system, and GPUs if there are any.

    Examples
    --------
    >>> sorted(machine())[:3]
    ['cores', 'memory', 'processor']
    """
    import psutil

    facts: dict[str, str | int] = {
        "processor": _processor(),
        "cores": cores(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
    }
    gpus = _printed("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    return facts | ({"GPU": ", ".join(gpus.splitlines())} if gpus else {})


def versions() -> dict[str, str]:
    """The versions of sinkdist, of Python, and of the packages of `PACKAGES` that are installed.

    Examples
    --------
    >>> list(versions())[:3]
    ['sinkdist', 'Python', 'numpy']
    """
    found = {"sinkdist": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of the checkout that sinkdist runs from, or its version where there is none.

    Only a repository that tracks sinkdist's own files counts: an environment may lie within a
    checkout of something else.

    Examples
    --------
    >>> commit().split()[0] in ("commit", "version")
    True
    """
    here = Path(sinkdist.__file__).resolve().parent
    place = ("git", "-C", str(here))
    tracked = _printed(*place, "ls-files", "--error-unmatch", "version.py")
    head = _printed(*place, "rev-parse", "--short=12", "HEAD") if tracked else ""
    if not head:
        return f"version {__version__}"
    is_dirty = bool(_printed(*place, "status", "--porcelain", "--", ".", _OWN_SOURCES))
    return f"commit {head}" + (" with uncommitted changes" if is_dirty else "")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    """The name of the processor, as the operating system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    if named:
        return named[0]
    return (
        _printed("sysctl", "-n", "machdep.cpu.brand_string")
        or platform.processor()
        or platform.machine()
    )


def _printed(*words: str) -> str:
    """The output of a program; an empty string if it is missing or fails."""
    if shutil.which(words[0]) is None:
        return ""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
