"""Verbs on torch, JAX and CuPy arrays: one call, answered in blocks where the arrays live.

reading, call   checking a call, with one look by the host
pairs           many pairs in blocks
exact           the exact distance, on the host
masses          unequal masses, on the host; mass_evidence: their certificates
debiased        the Sinkhorn divergence
evidence        what the `Solution` of `solve` rests on; grid_evidence: on large grids, of the host
verbs           `solve`, `distance`, `pairwise`
"""
