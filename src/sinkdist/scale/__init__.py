"""Getting through many pairs: tiles, threads, stores, clusters. Knows blocks, not transport.

tiles           cutting a matrix into tiles, and tiles into row batches
job             a matrix to be computed; the size of its tiles
memory          the budget
system          what the operating system says of memory
run             a job into a store, on threads or a cluster: what is missing, then what was there
in_memory       a matrix in memory, as a store
store           a matrix on disk (imports Zarr; nothing else does)
folder          where it lies: folders, locks, addresses
stored          reading it back, like an array
description     the attributes of a stored matrix: parameters, versions, fingerprints
summary         what there is to say about it
cluster         tiles as tasks of Dask (imports it; nothing else does)
cluster_health  whether a cluster that sends nothing can still work
threads         tiles on threads, one BLAS thread each
tally           how pairs ended
progress        how far a run is
lines           progress as plain lines; the words for it
bar             the progress bar (imports Rich; nothing else does)
"""
