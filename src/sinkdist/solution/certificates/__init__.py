"""Certificates: what a pair's potentials and plan prove, converged or not.

The c-transform of any potential is feasible for the dual of the exact distance, a plan rounded to
exact marginals is feasible for the primal; so every bound here holds at any iterate.

Each bound is proven with its rounding. Histograms that sum to 1 up to rounding stand for the
exactly normalised ones, which differ by a relative error in every mass, and so do the sums below:
`rounding_of(n)` bounds it for sums of ``n`` terms. A lower bound ``<f, r> + <g, c>`` may be off by
that part of ``<|f|, r> + <|g|, c>``, so potentials are centred. A plan whose marginals are off by
``x`` and ``y``, and by a relative ``a`` in their rounding, can be repaired through one move
``(i, j)`` that carries more than all of this: scale it down by ``1 - 2a``, send what is left of
every row to ``j``, fetch what every column misses from ``i``, and take both off that move. This
costs at most ``((3a r + x)^T M)_j + (M (3a c + y))_i``.

many_pairs  the formulas, for arrays of any library
one_pair    the same of one pair on the host, as plain numbers, with a sharper coupling
"""

from __future__ import annotations

from sinkdist.solution.certificates.many_pairs import (
    Measures,
    bracket,
    bracket_of_penalised,
    least_at,
    measure,
    rounding_of,
)
from sinkdist.solution.certificates.one_pair import (
    Moves,
    bracket_pair,
    certified,
    column_potential,
    emd_below,
    information,
    measure_pair,
    rounded,
)

__all__ = [
    "Measures", "Moves", "bracket", "bracket_of_penalised", "bracket_pair", "certified",
    "column_potential", "emd_below", "information", "least_at", "measure", "measure_pair",
    "rounded", "rounding_of",
]  # fmt: skip
