"""What is known of a solved pair.

status        how it ended, with a sentence
solution      `Solution`, which users hold
certificates  bounds that hold at any iterate, with their rounding
plans         plans: of potentials, with scalings beside them, or of few entries
"""
