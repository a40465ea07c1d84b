"""Derivatives of answers, by the implicit function theorem.

differentiate   the formulas
torch_autograd  the same as a function of torch; the only file that imports it
jax_vjp         the same as a function of JAX; the only file that imports it
frameworks      which of the two, or neither
"""
