"""Derivatives of answers, by the implicit function theorem.

differentiate   the formulas
masses          those of unequal masses, on the host
on_host         functions of NumPy arrays as functions of device arrays
torch_autograd  the same as a function of torch; the only file that imports it
jax_vjp         the same as a function of JAX; the only file that imports it
frameworks      which of the two, or neither
"""
