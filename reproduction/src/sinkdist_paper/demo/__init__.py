"""The demo: all pairs of scikit-learn's digits, their nearest neighbours, and a picture of them.

    digits      the images as histograms          (scikit-learn)
    neighbours  who is near whom, and who is wrong
    picture     queries with their neighbours     (Matplotlib)
    report      the words, the table, the summary (Rich)
    course      one after the other

It is a program on top of the package, using nothing but its public names.
"""

from sinkdist_paper.demo.main import run

__all__ = ["run"]
