"""Reaches between a tile and a group of tiles; their sums are tested in ground/test_tiling.py."""

import numpy as np

from sinkdist.kernels.grid.tiles import least_reach


def test_least_reach_is_that_of_the_closest_tile_of_the_box():
    rng = np.random.default_rng(0)
    count, strides = (6, 7), np.array([7, 1])
    reach = np.add.outer(np.arange(6.0) ** 2, np.arange(7.0)).ravel()  # grows with every offset
    place = np.stack(np.unravel_index(np.arange(42), count), -1)
    for _ in range(20):
        corners = np.sort(np.stack([rng.integers(0, n, size=2) for n in count], -1), axis=0)
        low, high = corners[:1].copy(), corners[1:].copy()
        inside = ((place >= low) & (place <= high)).all(axis=1)
        tile = int(rng.integers(42))
        offsets = np.abs(place[inside] - place[tile]) @ strides
        found = least_reach(place, tile, low, high, 0, strides, reach)
        assert found == reach[offsets].min()
