"""Arrays of torch, JAX and CuPy: the same verbs where the arrays live, with gradients.

kinds           which library arrays belong to, and where they live
reading, call   checking a call, with one look by the host
linear          the linear system of a coupling, for Newton and for derivatives
products        products with a kernel: the one expensive primitive
sweeps          Sinkhorn's sweeps over a block, and the policy that relaxes and ends them
scaling         sweeps on one kernel that all pairs share
stabilised      sweeps in the log domain, on a kernel of each pair's own
constrained     the hard constraint: a lam for each pair
exact           the exact distance, on the host
control         loops; JAX has its own
transport       what a block of pairs is asked, and answers
differentiate   gradients of an answer, by the implicit function theorem
torch_autograd  the same as a function of torch; the only file that imports it
jax_vjp         the same as a function of JAX; the only file that imports it
frameworks      which of the two, or neither
pairs           many pairs in blocks
solution        what `solve` returns
verbs           `solve`, `distance`, `pairwise`
"""
