"""The paper, rerun: its data, its protocol, its five figures, and one report.

::

    run.py            one figure after the other: measure what is missing, draw, say what was done
      |-- figure.py       what a figure is: cells to measure, a drawing, claims to judge
      |-- fig1/ ... fig5/   the figures: measuring, drawing, judging
      |-- protocol.py     the classification experiment of figure 2, fold by fold
      |-- contestants.py  the distances that take part in it, stored as they are computed
      |-- data.py         MNIST and the digits, as histograms
      |-- mnist.py        MNIST's files: found, fetched, checked
      |-- samplers.py     random histograms and random metrics
      |-- textbook.py     Algorithm 1 as the paper prints it, with its stopping rule
      |-- rivals.py       solvers of the exact EMD, by others
      |-- settings.py     what is run by default; machine.py: where it runs
      |-- ledger.py       measurements in a CSV file, added to cell by cell
      |-- manifest.py     versions, machine, seed and commit
      |-- whole.py        files that are whole or not there; watch.py: progress
      |-- canvas.py       Matplotlib, and how our figures look; palette.py: colours
      |-- finding.py      a figure with its measurements
      |-- summary.py      the findings as Markdown
      `-- report/         the page that shows it all
"""
