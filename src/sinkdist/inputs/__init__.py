"""Reading input: the only place that rejects it.

histograms     families of histograms (arrays, rows, sparsity serve it)
thresholds     how far numbers may be off and still count as histograms
flags          options that are True or False
messages       sentences about rejected input
array_context  which array library, device and dtype a call lives in
"""
