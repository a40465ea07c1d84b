"""The engine for torch, JAX, CuPy and other arrays of the standard: blocks of pairs.

linear       the linear system of a coupling, for Newton and for derivatives
products     products with a kernel: the one expensive primitive
operators    what loops ask of costs, and the answers of a matrix
axes         those of a large grid, along its axes; axis_sums: sums of exponentials along one
sweeps       Sinkhorn's sweeps over a block, and the policy that relaxes and ends them
stabilised   sweeps in the log domain, on a kernel of each pair's own
constrained  the hard constraint: a lam for each pair
control      loops; JAX has its own
transport    what a block of pairs is asked, and answers
"""
