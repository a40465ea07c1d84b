"""Colours for lines and words: Okabe and Ito's, which colour-blind readers can tell apart."""

__all__ = ["COLOURS", "FAINT", "INK"]

INK = "#1a1a1a"
FAINT = "#666666"

# In the order in which lines take them; none of them is used twice in a drawing if that is enough.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#000000")
