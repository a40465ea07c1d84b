"""Compiled primitives for grids: lines of pixels, one axis at a time.

An array of pixels is seen as ``(lines, n)``: the last axis, and all others together. Kernels write
``(n, lines)``, so that the next axis comes last; after as many of them as there are axes, every
axis is back in its place.

windows      which sources matter to a run of targets, when costs are squared distances
log_sums     log-sum-exp along lines, and the weights it is made of
averages     means of anything under these weights, and the adjoint
toeplitz     the inner loops of both
tiles        sums of tiles from their Fourier transforms, when costs are Euclidean distances
cityblock    the same under cityblock distances, by recursions
recursions   their plain sums, where floats hold scalings, and relaxed updates of scalings
transforms   least costs along lines: exact distance transforms
"""
