"""The experiments of the paper, run again with sinkdist, and the demo on handwritten digits.

::

    commands.py       the commands `sinkdist reproduce` and `sinkdist demo`
    run.py            runs the figures: measures missing cells, draws, writes the report
      |-- figure.py       what a figure consists of: cells to measure, a drawing, claims
      |-- fig1/ ... fig5/   the five figures: measuring, drawing, judging
      |-- protocol.py     the classification experiment of figure 2
      |-- contestants.py  the distances that figure 2 compares, stored as they are computed
      |-- data.py         MNIST and the digits of scikit-learn, as histograms
      |-- mnist.py        MNIST's files: found, downloaded, checked
      |-- samplers.py     random histograms and random metrics
      |-- textbook.py     Algorithm 1 as the paper prints it, with its stopping rule
      |-- emd_solvers.py  exact EMD solvers by other authors
      |-- settings.py     options of a run and their defaults; machine.py: hardware and versions
      |-- results_csv.py  measurements in a CSV file, appended cell by cell
      |-- manifest.py     setting, versions, machine, seed and commit of a figure
      |-- atomic_io.py    atomic writes and the lock of a folder; progress.py: the progress display
      |-- canvas.py       drawing with Matplotlib; palette.py: colours
      |-- finding.py      a figure together with its measurements
      |-- summary.py      the results as Markdown
      `-- report/         the results as one HTML page
    demo/             what `sinkdist demo` runs

Only public names of sinkdist are used, with one exception: `commands` shares
`sinkdist.cli.options` (the --workers option, the layout of examples) and
`sinkdist.cli.mistakes.stoppable` (Ctrl-C) with the commands of sinkdist itself. An import contract
in pyproject.toml checks this.
"""
