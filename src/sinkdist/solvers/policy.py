"""Policy: the numbers that decide how both engines work, in one place.

A number here is a choice, not a law: it may be changed and results stay right, only slower or later
handed over. What both engines need has one value. Where they differ, the two stand side by side
with the reason: the compiled engine sees every sweep of a pair and hands it over at once, while the
array engine looks at a block every few sweeps, and under ``jit`` not at all.

Numbers of a layer below (of the kernel's range, of symmetry) are defined there and repeated here.
Numba's cache on disk does not notice a change in another file: delete it after changing a number
that compiled code uses.
"""

from __future__ import annotations

from sinkdist.ground.dense import SYMMETRY
from sinkdist.ground.gibbs import SAFE_EXPONENT
from sinkdist.kernels.pair import LARGEST, SMALLEST
from sinkdist.problem.problem import SINGLE

__all__ = [
    "ACCELERATED_ENTRIES", "ACCELERATED_SWEEPS", "AIM", "CG_LIMIT", "CG_LOOK", "CROWDED",
    "FAILURES", "FARTHEST", "FARTHEST_ARRAYS", "GENTLE", "GROWTH", "LARGEST", "LOOK",
    "LOOSE_SEARCH", "LOOSE_START", "MODERATE", "NEAR", "NEWTON_AFTER", "NEWTON_ATTEMPTS",
    "NEWTON_LIMIT", "NEWTON_STRIDE", "NEWTON_TOL", "PATIENCE", "PATIENCE_ARRAYS",
    "ROUNDING_OF_DIVERGENCES", "SAFE_EXPONENT", "SAFE_EXPONENT_ARRAYS", "SHARED_ENTRIES", "SINGLE",
    "SLOWEST", "SMALLEST", "STUCK", "SYMMETRY", "TRIALS", "TRIALS_ARRAYS", "TRIES", "TRUSTED",
    "safe_exponent",
]  # fmt: skip

# -------------------------------------------------------------------- range of floats

#: The largest lam times cost of scaling on arrays; the compiled engine's is `SAFE_EXPONENT`, 80 and
#: 600. Its loops see a sum that overflows and hand the pair over; under ``jit`` none can be, so the
#: log domain, which has Newton's help, begins earlier.
SAFE_EXPONENT_ARRAYS = {"float32": 50.0, "float64": 500.0}
MODERATE = 1e-30, 1e30  #: largest costs whose products with kernels and scalings are safe
TRUSTED = 400.0  #: log scalings beyond this are absorbed: floored entries might matter
ROUNDING_OF_DIVERGENCES = 64.0  #: negative divergences of so many units of rounding are 0

# -------------------------------------------------------------------- sweeps

NEAR = 0.3  #: relaxation is only valid locally: start below this error
SLOWEST = 1.0 - 1e-6  #: larger rates of plain sweeps count as this one
CROWDED = 0.75  #: close a block up when fewer pairs than this part of it are still at work
#: Sweeps after which a pair that is still far away counts as slow. The compiled engine projects
#: what is left after every window; the array engine sweeps on and hands over what has not ended.
PATIENCE = 16
PATIENCE_ARRAYS = 2000
LOOK = 8  #: sweeps on arrays from one look at the errors to the next: a look waits for the device
FAILURES = 8  #: looks without progress after which a pair on arrays has stalled
STUCK = 1e-3  #: above this error, sweeps without progress are crossing a plateau

# -------------------------------------------------------------------- large pairs

#: Entries of a pair's kernel, between bins with mass, from which its sweeps are accelerated; and
#: from which threads share them, where there is only this pair to solve.
ACCELERATED_ENTRIES = 50_000
SHARED_ENTRIES = 490_000
ACCELERATED_SWEEPS = 150.0  #: more than so many are left to Newton's method

# -------------------------------------------------------------------- the log domain

#: Marginal error at a smaller lam that is good enough to go on to the next.
LOOSE_START = 1e-2
GENTLE = 50.0  #: lam times the largest cost from which lam is doubled, on arrays
TRIES = 12  #: steps after which it is doubled in any case
NEWTON_AFTER = 4 * LOOK  #: sweeps after which each step on arrays begins with one of Newton's
NEWTON_STRIDE = 8.0  #: how far, in units of 1 / lam, a potential may move in one of them
NEWTON_ATTEMPTS = 3  #: lengths that are tried, each a quarter of the last
NEWTON_TOL, NEWTON_LIMIT = 1e-2, 200  #: of its linear system: relative residual, steps
CG_LOOK, CG_LIMIT = 4, 2000  #: of the linear system of derivatives: steps per look, steps

# -------------------------------------------------------------------- the hard constraint

LOOSE_SEARCH = 1e-3  #: marginal error of the first solves
AIM = 0.4  #: where in the admissible range below alpha the information is aimed at
GROWTH = 4.0  #: from one lam to the next at most, where none is large enough yet
#: Values of lam at most; a trial on arrays is one for the whole block, and waits for its slowest.
TRIALS = 60
TRIALS_ARRAYS = 40
#: Lam times the largest cost at which the search ends. The compiled engine climbs there on a ladder
#: with Newton's method; sweeps on arrays would take thousands of reads, and the exact distance,
#: which is asked next, answers such pairs.
FARTHEST = 1e10
FARTHEST_ARRAYS = 3e3


def safe_exponent(dtype: object) -> float:
    """`SAFE_EXPONENT_ARRAYS` of a dtype of any library."""
    return SAFE_EXPONENT_ARRAYS[str(dtype).rpartition(".")[2]]
