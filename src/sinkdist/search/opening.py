"""Opening stored neighbours; apart from the store, so that its name needs no Zarr."""

from __future__ import annotations

from typing import Any

from sinkdist.search.neighbors import Neighbors

__all__ = ["open_neighbors"]


def open_neighbors(path: Any) -> Neighbors:
    """Neighbours that ``neighbors(..., out=path)`` has stored.

    Parameters
    ----------
    path : str or path
        The folder, such as ``"near.zarr"``, or an address in an object store.

    Returns
    -------
    Neighbors
        An `IncompleteError` is raised where rows are missing.

    Examples
    --------
    >>> import sinkdist as sd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> out = folder.name + "/near.zarr"
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5]]
    >>> _ = sd.neighbors(X, ground=sd.Ground.grid(3), k=1, lam=float("inf"), out=out)
    >>> sd.open_neighbors(out).indices.ravel()
    array([1, 2, 1])
    >>> folder.cleanup()
    """
    from sinkdist.search.neighbors_store import read_neighbors

    return read_neighbors(path)
