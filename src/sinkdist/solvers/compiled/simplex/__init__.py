"""The exact distance of many pairs: a primal transport simplex on dense blocks of costs.

pricing   the least reduced cost of some rows, by vector minima
tree      the spanning tree of a basis: exchange of an edge, potentials, flows
start     the first basis: masses as whole numbers, the cheapest moves first
optimum   from the first basis to an optimal one
proof     potentials, moves and bounds for the whole histograms
pairs     all pairs of a batch in one compiled call
batch     the same for callers in Python

Written from the textbook (Ahuja, Magnanti and Orlin, *Network Flows*, chapter 11). Flows are whole
numbers, perturbed so that no pivot is degenerate; there are no arrays of arcs, because every move
is allowed and costs are a matrix anyway.
"""
