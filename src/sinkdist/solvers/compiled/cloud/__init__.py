"""The engine for large clouds of points: no matrix, costs on the fly.

levels   coarser clouds: points that lie together become one
sweeps   over-relaxed sweeps at one lam, in single precision as far as it goes
pair     the answer to a pair, from the coarsest clouds to its own; Algorithm 1 to the letter
"""
