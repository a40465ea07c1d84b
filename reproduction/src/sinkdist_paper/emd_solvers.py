"""Exact EMD solvers by other authors, which figure 4 compares with.

Each package is imported on first use, and in this file only. Input is converted to what a solver
expects before the solving, so that the conversion is not timed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["SOLVERS", "EmdSolver", "UnavailableError"]

Array: TypeAlias = npt.NDArray[np.float64]
Solve: TypeAlias = Callable[[], float]

_PIVOTS = 10_000_000  # a limit for POT's network simplex that it does not reach


class UnavailableError(ImportError):
    """The package of a solver is not installed, or does not work with this version of NumPy."""


@dataclass(frozen=True, slots=True)
class EmdSolver:
    """A solver by other authors.

    Attributes
    ----------
    name : str
        Its name in records and tables.
    label : str
        The name with its origin, for captions.
    prepare : function
        From r, c and M to a function without arguments that returns the EMD. Raises
        `UnavailableError` where the package cannot be imported.
    """

    name: str
    label: str
    prepare: Callable[[Array, Array, Array], Solve]


def _rubner(r: Array, c: Array, M: Array) -> Solve:
    """OpenCV's EMD: Rubner's code, in float32, which ends after 500 steps of the simplex method."""
    cv2: Any = _module("cv2", "opencv-python-headless")
    cv2.setNumThreads(1)
    first, second = (np.ascontiguousarray(x[:, None], np.float32) for x in (r, c))
    costs = np.ascontiguousarray(M, np.float32)

    def solve() -> float:
        return float(cv2.EMD(first, second, cv2.DIST_USER, cost=costs)[0])

    return solve


def _fastemd(r: Array, c: Array, M: Array) -> Solve:
    """Pele and Werman's emd_hat_gd_metric, in pyemd, not its other backend, which is POT."""
    pyemd: Any = _module("pyemd", "pyemd")
    r, c, M = (np.ascontiguousarray(x, np.float64) for x in (r, c, M))

    def solve() -> float:
        return float(pyemd.emd(r, c, M, backend="cpp"))

    return solve


def _pot(r: Array, c: Array, M: Array) -> Solve:
    """POT's network simplex."""
    ot: Any = _module("ot", "POT")
    r, c, M = (np.ascontiguousarray(x, np.float64) for x in (r, c, M))

    def solve() -> float:
        return float(ot.emd2(r, c, M, numItermax=_PIVOTS))

    return solve


def _module(name: str, package: str) -> Any:
    """Import a package that may be missing; warnings of its import are not shown."""
    from importlib import import_module

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(name)
    except (ImportError, ValueError) as error:  # the latter if it was built for another NumPy
        raise UnavailableError(f"{package} cannot be imported: {error}", name=name) from error


#: The solvers, by name.
SOLVERS = {
    solver.name: solver
    for solver in (
        EmdSolver("Rubner", "Rubner's EMD, in OpenCV", _rubner),
        EmdSolver("FastEMD", "Pele and Werman's FastEMD, in pyemd", _fastemd),
        EmdSolver("POT", "POT's network simplex", _pot),
    )
}
