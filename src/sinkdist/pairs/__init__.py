"""From a call to pairs that solvers answer: matched rows, all pairs, and the job for `scale`.

call        what was asked for, checked; the task that every pair shares
matched     families matched row by row
all_pairs   all pairs of two families, or of one
job         the same, described to stores and clusters
divergence  the formula of the Sinkhorn divergence, for any array
debiasing   the Sinkhorn divergence, from answers and the families' own distances
report      the one warning of a call
arrays/     the same on torch, JAX and CuPy arrays
"""
