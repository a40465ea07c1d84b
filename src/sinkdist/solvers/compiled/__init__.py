"""The engine for NumPy arrays: Numba, pair by pair or in blocks of matrix products.

pair         solves one pair by what its solver tries, in order
batch        sends the pairs of a batch where they are answered best
relaxation   one pair's policy: when to over-relax, stop, hand over
scaling      plain and over-relaxed sweeps, pair by pair, compiled whole
products     the same sweeps for many pairs as matrix products
algorithm1   the paper's Algorithm 1 with a fixed number of steps
newton       Newton's method on the dual of one pair
ladder       Newton at a large lam, by way of smaller ones
log          plain sweeps in the log domain
limit        a lam beyond floats: the exact distance answers
constrained  the hard constraint: what is proven of the search for lam, and what if it fails
lam_search   the search: sweeps compiled whole, Newton where they are too slow
lam_policy   which lam is tried next, and when the search ends
exact        the exact distance: a closed form or a network simplex
rational     the exact distance in integers, for what defeats floats
symmetric    a histogram against itself
"""
