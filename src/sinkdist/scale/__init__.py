"""Getting through many pairs: tiles, threads, progress. Knows blocks, not transport.

tiles      cutting pairs into tiles
threads    running tiles on threads, one BLAS thread each
progress   how far a run is
bar        the progress bar (imports Rich; nothing else does)
"""
