"""The demo: all pairs of scikit-learn's digits, their nearest neighbours, and a picture of them.

digits      the images as histograms             (scikit-learn)
neighbours  nearest neighbours and their errors
picture     images with their neighbours         (Matplotlib)
report      the text, the table, the summary     (Rich)
main        runs these steps in order
"""

from sinkdist_paper.demo.main import run

__all__ = ["run"]
