"""Compute primitives: arrays in, arrays out, no checks, no threads of their own.

compiled     the decorators, one set of flags for all kernels
compiling    what surrounds a first compilation: a lock, and one line on stderr
waiting      looking for a change that another thread makes, without going to sleep
views        other views of a work space
vectors      sums and minima over rows of a table, kept in a register
work_space   memory that begins at a cache line, kept from pair to pair
pair         sweeps and sums of one pair, each one read of its kernel
exponential  fast exponentials; the stabilised kernel; log-domain updates
hessian      products for Newton's method, dense and sparse
dual         the dual of the exact distance of one pair, for its certificates
block        the elementwise halves of sweeps over a block of pairs
binwise      sums over bins for all pairs of two blocks of histograms
triangles    all triangles of a square cost matrix
grid/        lines of pixels, one axis at a time
cloud/       costs between points on the fly
"""
