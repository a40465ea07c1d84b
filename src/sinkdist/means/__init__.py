"""Barycentres: the histograms that are closest to weighted families of others.

::

    reading.py       from a call to a `Request`; arrays.py: of torch, JAX and other arrays
    barycenters.py   from histograms and weights to barycentres: stages of lam, who has converged
      |-- sweeps.py      the iteration, for all barycentres of a call at once
      |-- pairing.py     which histograms belong to which barycentre
      |-- smoothing.py   products with the kernel, as logarithms on large grids: grid_smoothing.py
      `-- self_transport.py  the potential of a histogram transported to itself
    derivatives.py   gradients of plain barycentres
    result.py        `Barycenter`, what `solve_barycenter` returns
"""
