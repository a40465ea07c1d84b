"""
More than one machine: Dask
===========================

``client=`` takes a Dask client. Here it is one of a small cluster within this process, so that the
example runs everywhere; with ten machines that you reach over ssh, only the cluster differs:

.. code-block:: python

   from dask.distributed import Client, SSHCluster

   hosts = ["scheduler", *(f"node{k}" for k in range(10))]
   cluster = SSHCluster(hosts, worker_options={"nthreads": 16})
   client = Client(cluster)
   D = sd.pairwise(X, ground=ground, lam=9, out="/shared/D.zarr", client=client)

The machines need sinkdist installed and a folder that all of them see. A worker that dies costs the
tiles that it was at.
"""

import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

import sinkdist as sd

X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]
ground = sd.Ground.grid(8, 8).scaled()

with (
    LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster,
    Client(cluster) as client,
):
    D = sd.pairwise(X, ground=ground, lam=9, normalize=True, client=client)

# %%
# The same numbers as without a cluster.

alone = sd.pairwise(X, ground=ground, lam=9, normalize=True)
print("largest difference:", float(np.abs(D - alone).max()))
sd.plot.matrix(D, y)
