"""The report: one HTML page with everything in it, for a screen, a phone or a printer.

::

    page.py       the page: its head, its parts one after the other
      |-- claims.py     what the paper says, and whether it holds here
      |-- sections.py   a figure: its drawing, its claims, how it was measured, its tables
      |-- origin.py     machine, versions, seed and commands
      |-- drawings.py   drawings that follow light and dark
      |-- markup.py     HTML, escaped
      `-- style.css     how it looks

The page needs no script and asks for nothing from outside.
"""

from sinkdist_paper.report.page import page, write

__all__ = ["page", "write"]
