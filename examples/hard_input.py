"""What comes back on hard input, here and from POT's ``ot.sinkhorn2``: prints a Markdown table.

The truth beside them is not ours: it is POT's own ``sinkhorn_log``, in the log domain, with enough
iterations and on the bins that have mass.

Run ``python examples/hard_input.py``; it needs ``pip install "sinkdist[learn]"``.
"""
# ruff: noqa: T201

import warnings
from dataclasses import dataclass

import numpy as np
import ot
from sklearn.datasets import load_digits

import sinkdist as sd

WARNING = {True: "warning", False: "none"}


@dataclass(frozen=True)
class Case:
    """One question to both, with the options that POT needs for it."""

    name: str
    r: np.ndarray
    c: np.ndarray
    M: np.ndarray
    reg: float
    max_iter: int | None = None
    truth: bool = True  # whether there is one: histograms that are none have no distance


def digit(k):
    """A digit as a histogram; about half of its bins are empty."""
    ink = load_digits().data[k]
    return ink / ink.sum()


def cases():
    """The rows of the table."""
    grid, line = sd.Ground.grid(8, 8), np.arange(40.0)
    line = np.abs(line[:, None] - line) / 39
    rng = np.random.default_rng(0)
    r, c = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(40))
    bump = np.exp(-0.5 * ((np.arange(40) - 3) / 1.5) ** 2)
    bump /= bump.sum()
    return [
        Case("two digits, lam = 9 / median", digit(0), digit(6), grid.matrix, grid.median / 9),
        Case("two other digits, the same lam", digit(1), digit(7), grid.matrix, grid.median / 9),
        Case("zero bins, small reg", bump * (bump > 1e-3) / (bump * (bump > 1e-3)).sum(),
             np.eye(40)[30], line, 1.2e-3),
        Case("large costs, max(M) / reg = 19,000", r, c, 1900 * line, 0.1),
        Case("opposite ends, max(M) / reg = 800", np.eye(40)[0] * 0.9 + 0.1 / 40,
             np.eye(40)[39] * 0.9 + 0.1 / 40, line, 1 / 800),
        Case("stopped after 5 iterations", r, c[::-1] * np.linspace(0, 1, 40) ** 4
             / (c[::-1] * np.linspace(0, 1, 40) ** 4).sum(), line, 0.01, max_iter=5),
        Case("total mass 2", 2 * r, 2 * c, line, 0.05, truth=False),
        Case("masses 1 and 0.9", r, 0.9 * c, line, 0.05, truth=False),
        Case("a negative weight", r + 0.1 * (np.eye(40)[1] - np.eye(40)[0]), c, line, 0.05,
             truth=False),
    ]  # fmt: skip


def ask_pot(case):
    """POT's number, and whether it warned."""
    options = {} if case.max_iter is None else {"numItermax": case.max_iter}
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        value = ot.sinkhorn2(case.r, case.c, case.M, case.reg, **options)
    said = [w for w in said if not issubclass(w.category, RuntimeWarning)]
    return f"{float(value):.4g}", WARNING[bool(said)]


def ask_sinkdist(case):
    """Our number with what it says about itself, or the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", sd.ScaleWarning)  # large costs are meant
        try:
            s = sd.solve(case.r, case.c, case.M, reg=case.reg, max_iter=case.max_iter)
        except sd.InputError as error:
            return "error", str(error)
    low, high = s.emd_bounds
    signal = "warning" if said else "converged"
    return f"{s.value:.4g}", f"{signal}; EMD in [{low:.4g}, {high:.4g}]"


def truth(case):
    """The converged value, by POT in the log domain on the bins with mass."""
    if not case.truth:
        return "-"
    rows, columns = case.r > 0, case.c > 0
    M = np.ascontiguousarray(case.M[np.ix_(rows, columns)])
    with np.errstate(over="ignore"):  # its plan overflows on the way
        plan, log = ot.bregman.sinkhorn_log(
            case.r[rows], case.c[columns], M, case.reg,
            numItermax=400_000, stopThr=1e-10, log=True, warn=False,
        )  # fmt: skip
    assert log["err"][-1] < 1e-7, f"{case.name}: the reference has not converged"
    return f"{(plan * M).sum():.4g}"


def main():
    """Print the table."""
    print("| input | truth | `ot.sinkhorn2` | its signal | `sinkdist` | its signal |")
    print("|---|---|---|---|---|---|")
    for case in cases():
        print("|", " | ".join((case.name, truth(case), *ask_pot(case), *ask_sinkdist(case))), "|")


if __name__ == "__main__":
    main()
