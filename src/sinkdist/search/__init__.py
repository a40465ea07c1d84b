"""Nearest neighbours under transport distances, without solving most of the pairs.

planes       every solve bounds the distance to all candidates; any cost, always
projections  one-dimensional transport along directions of a lattice; Euclidean or city-block grids
transforms   two transforms on bins that differ; costs that are a metric, sparse rows
cascade      which of these bounds hold for a ground and a member, and in which order they are used
candidates   the histograms that are searched, and those of them that are still possible
ranking      the best candidates so far, and how far they prove the others to be
query        the loop: solve the most promising, bound the rest, drop what is proven to be farther
exhaustive   all distances, where they are a formula or nothing bounds them
neighbors    what comes back
engine       a family prepared for queries
tile_search  answers a tile of queries, here or on another machine
waves        queries in tiles, tiles in waves; solved pairs that serve both rows
running      runs the waves: threads or a cluster, memory or a store
memory       whether a search fits the budget
neighbors_store  neighbours on disk, tile by tile
index        the public face: a prepared family that answers queries, saved and opened
stored       an index on disk

A candidate is dropped only by a bound that is proven, with its rounding: each bound states its
conditions and its proof where it is defined.
"""
