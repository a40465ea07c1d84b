"""The explorer: a family of histograms as one page for the browser, without a server.

::

    family.py    what is shown: histograms, costs, places on the map, nearest neighbours
    packing.py   arrays as text that a page can hold, and how large it may become
    page.py      the page: markup, style, scripts and data in one file
      `-- assets/    page.html, style.css; solve.js computes plans, map.js and page.js show them

The page holds the histograms and the costs, so that any two can be compared: plans are computed in
the browser, by the same scaling as here, to a marginal error that the page shows.
"""

from sinkdist.explore.family import Family, family_of
from sinkdist.explore.page import write_page

__all__ = ["Family", "family_of", "write_page"]
