"""What the machine itself can do: the limits that stand beside every table.

The GEMM rate is that of NumPy's BLAS on the shape of the many-pairs comparison and on a large
square; memory is read by a matrix-vector product that no cache can hold, and copied by as many
threads as there are cores.
"""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.timing import CORES, Contestant, race

HERE = Path(__file__).parent
PACKAGES = ("numpy", "scipy", "numba", "POT", "jax", "ott-jax", "torch", "regot", "scikit-learn")


@dataclass(frozen=True)
class Machine:
    """Name, cores, measured limits (a label and its figure), versions and the commit measured."""

    processor: str
    cores: int
    limits: dict[str, str]
    versions: dict[str, str]
    commit: str


def gemm(n: int, m: int, dtype: str, threads: int) -> Contestant:
    """The product of an n x m with an m x m matrix, under the given BLAS threads."""
    rng = np.random.default_rng(0)
    left, right = rng.random((n, m)).astype(dtype), rng.random((m, m)).astype(dtype)
    out = np.empty_like(left)
    return Contestant(
        f"{dtype} {n}x{m} by {m}x{m}, {threads} threads",
        lambda _: np.matmul(left, right, out=out),
        threads=threads,
    )


def _rates() -> dict[str, str]:
    """GEMM rates in GFLOP/s, for both types, shapes and numbers of threads."""
    shapes = [
        (n, m, dtype, threads)
        for dtype in ("float32", "float64")
        for n, m in ((2000, 400), (2048, 2048))
        for threads in sorted({1, CORES})
    ]
    contestants = [gemm(*shape) for shape in shapes]
    times = race(contestants, turns=7, least=0.1)
    return {
        f"GEMM {entry.name}": f"{2e-9 * n * m * m / times[entry.name].seconds:.0f} GFLOP/s"
        for entry, (n, m, _, _) in zip(contestants, shapes, strict=True)
    }


def _memory() -> dict[str, str]:
    """Bandwidth of reading (GEMV) and of copying, in GB/s, with all cores."""
    side = 4096
    matrix, vector = np.ones((side, side)), np.ones(side)
    target = np.empty_like(matrix)
    size = matrix.nbytes / 1e9
    strips = np.array_split(np.arange(side), CORES)
    with ThreadPoolExecutor(CORES) as pool:

        def copy(_: object) -> None:
            list(
                pool.map(
                    lambda s: np.copyto(target[s[0] : s[-1] + 1], matrix[s[0] : s[-1] + 1]), strips
                )
            )

        times = race(
            [
                Contestant("read", lambda _: matrix @ vector, threads=CORES),
                Contestant("copy", copy),
            ],
            turns=7,
            least=0.1,
        )
    return {
        "memory, read by GEMV": f"{size / times['read'].seconds:.1f} GB/s",
        "memory, copied (read and written)": f"{2 * size / times['copy'].seconds:.1f} GB/s",
    }


def processor() -> str:
    """The processor's name and its AVX-512 support, as Linux tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":")[1].strip() for line in text.splitlines() if "model name" in line]
    return f"{names[0] if names else platform.machine()}{', AVX-512' if 'avx512f' in text else ''}"


def version(package: str) -> str:
    """The installed version, or ``absent``."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def commit() -> str:
    """The commit the tree is at, with a ``+`` where files have changed since."""
    try:
        head = _git("rev-parse", "--short", "HEAD", cwd=HERE)
        return head + ("+" if _git("status", "--porcelain", cwd=HERE) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*words: str, cwd: Path) -> str:
    """What git prints."""
    done = subprocess.run(("git", *words), cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def state(quick: bool) -> dict[str, str]:
    """What figures belong to: what is measured, by what, with which packages, on what."""
    try:
        code = _git("rev-parse", "HEAD:src", cwd=HERE)
        code += _git("status", "--porcelain", "--", "../src", cwd=HERE)
    except (OSError, subprocess.CalledProcessError):
        code = "unknown"
    found = {"code": code, "processor": processor(), "quick": str(quick)}
    return found | {package: version(package) for package in PACKAGES}


def measure() -> Machine:
    """Measure the limits now."""
    versions = {"python": platform.python_version()} | {p: version(p) for p in PACKAGES}
    return Machine(processor(), CORES, _rates() | _memory(), versions, commit())


if __name__ == "__main__":
    found = measure()
    print(found.processor, f"{found.cores} cores")
    for label, figure in found.limits.items():
        print(f"{label:45s} {figure}")
