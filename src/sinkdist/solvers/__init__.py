"""Solvers: from histograms and a ground to answers.

table      what can be asked for by name
policy     the constants of both engines
task       what all pairs of a call share
outcome    what comes back
compiled/  the engine for NumPy arrays
arrays/    the engine for arrays of other libraries
adjoint/   derivatives of answers
"""
