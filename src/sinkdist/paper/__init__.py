"""The paper, rerun: its data, its protocol, its five figures, and one report.

::

    run.py            one figure after the other: measure what is missing, draw, say what was done
      |-- figure.py       what a figure is: cells to measure, a drawing, claims to judge
      |-- fig1.py ... fig5.py    the figures
      |-- protocol.py     the classification experiment of figure 2, fold by fold
      |-- contestants.py  the distances that take part in it, stored as they are computed
      |-- data.py         MNIST and the digits, as histograms
      |-- samplers.py     random histograms and random metrics
      |-- ledger.py       measurements in a CSV file, added to cell by cell
      |-- manifest.py     versions, machine, seed and commit
      |-- canvas.py       Matplotlib, and how our figures look
      `-- report/         the page that shows it all
"""
