"""The engine for grids under squared distances: no matrix, and few steps.

levels           halving a grid, and potentials from a coarse grid to a fine one
preconditioner   what a plan between smooth images nearly is: a heat kernel, inverted by cosines
newton           Newton's method for one lam on one grid
solve            coarse to fine: the whole of a pair
algorithm1       the paper's Algorithm 1 to the letter
"""
