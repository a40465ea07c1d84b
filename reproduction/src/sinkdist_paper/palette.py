"""Colours of lines and text: the palette of Okabe and Ito, safe for colour-blind readers."""

__all__ = ["COLOURS", "FAINT", "INK"]

INK = "#1a1a1a"
FAINT = "#666666"

# In the order in which lines take them.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#000000")
