"""Files of histograms, of costs and of distances: what the command line reads and writes.

::

    reading.py    an array from a file, by the ending of its name; nothing is ever unpickled
      |-- table.py      numbers in text (.csv)
      |-- images.py     the one file that imports Pillow
      |-- parquet.py    the one file that imports pyarrow; reads and writes
      `-- labels.py     columns that hold labels, not masses
    pixels.py     pictures as histograms
    grounds.py    a Ground from a description: a file, grid:20x20, points:Z.npy, graph:A.npz
    columns.py    named columns to a file, or as text
    writing.py    a matrix to a file, by blocks of rows and under a temporary name

It knows arrays and grounds, no distances: the verbs are above it.
"""

from sinkdist.files.grounds import read_ground
from sinkdist.files.labels import Labels
from sinkdist.files.pixels import as_rows
from sinkdist.files.reading import read, read_labelled
from sinkdist.files.writing import WRITTEN, check_target, write

__all__ = [
    "WRITTEN", "Labels", "as_rows", "check_target", "read", "read_ground", "read_labelled", "write",
]  # fmt: skip
