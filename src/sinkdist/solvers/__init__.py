"""Solvers: from histograms and a Gibbs operator to scalings.

relaxation   one pair's policy: when to over-relax, stop, hand over
scaling      plain and over-relaxed sweeps, pair by pair, compiled whole
block        the same sweeps for many pairs as matrix products
algorithm1   the paper's Algorithm 1 with a fixed number of steps
newton       Newton's method on the dual of one pair
ladder       Newton at a large lam, by way of smaller ones
log          plain sweeps in the log domain
table        what can be asked for by name
pair         solves one pair by what its solver tries, in order
tile         sends the pairs of a tile where they are answered best
outcome      what comes back
"""
