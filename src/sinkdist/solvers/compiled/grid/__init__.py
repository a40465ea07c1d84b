"""The engine for large grids: no matrix, and few steps.

levels           halving a grid, and potentials from a coarse grid to a fine one
preconditioner   what a plan between smooth images nearly is: a heat kernel, inverted by cosines
newton           Newton's method for one lam on one grid: squared distances
relaxed          over-relaxed sweeps: cityblock and Euclidean distances
scaled           the same on scalings, where floats hold them: cityblock distances
solve            coarse to fine: the whole of a pair
pair             the answer to a pair; the paper's Algorithm 1 to the letter
lines            one large pair on threads
"""
