"""The demo: which dictionary definitions mean alike, and what moves between images.

definitions     1,600 definitions as histograms over words   (definitions.npz, from WordNet)
rivals          distances between them, and their mistakes
examples        pairs that mean alike and share no word
digits          images as histograms                         (scikit-learn)
word_picture    words that move                              (Matplotlib)
digit_pictures  digits: what moves, means, a path            (Matplotlib)
report          the text, the table, the summary             (Rich)
main            runs these steps in order
"""

from sinkdist_paper.demo.main import run

__all__ = ["run"]
