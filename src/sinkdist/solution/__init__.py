"""What is known of a solved pair.

status        how it ended, with a sentence
solution      `Solution`, which users hold
evidence      where it takes plans, certificates and brackets from, on the host
certificates  bounds that hold at any iterate, with their rounding, for arrays of any library
reductions    sums over bins that are right where there is no mass
plans         plans: of potentials, with scalings beside them, or of few entries
"""
