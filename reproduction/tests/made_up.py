"""Figures that take no time: made-up numbers, through all the real code that comes after."""

from sinkdist_paper.figure import Cell, Claim, Experiment, View
from sinkdist_paper.palette import COLOURS
from sinkdist_paper.verdict import Verdict

SIDES = (4, 8, 16, 32)
SOLVERS = ("Sinkhorn, lam = 9", 'simplex "exact" <b>')


def figure(name="fig4", *, before=lambda key: None, sides=SIDES, title="Time per distance"):
    """A figure of eight cells; `before` is called with each key before its cell is measured."""

    def measured(key):
        before(key)
        if key["solver"] == SOLVERS[1] and key["d"] == sides[-1]:
            return  # too large for it: nothing to measure
        for turn in range(2):
            yield {"turn": turn, "seconds": 1e-6 * key["d"] ** 1.5 * (1 + turn / 10)}

    def cells(setting):
        setting.tell("a line of text")
        keys = [{"d": d, "solver": solver} for d in sides for solver in SOLVERS]
        return [Cell(key, lambda key=key: measured(key)) for key in keys]

    return Experiment(
        name=name,
        title=title,
        about="Seconds per distance, at `lam = 9`.\n\nAnother part: 1 < 2 & M^2, <i>no tag</i>.",
        keys=("d", "solver"),
        inches=(8.0, 4.6),
        cells=cells,
        draw=draw,
        claims=claims,
        views=views,
    )


def draw(records, figure):
    axes = figure.add_subplot()
    for colour, solver in zip(COLOURS, SOLVERS, strict=False):
        rows = [row for row in records if row["solver"] == solver]
        x, y = [row["d"] for row in rows], [row["seconds"] for row in rows]
        axes.loglog(x, y, "o-", color=colour, label=solver)
    axes.set_xlabel("bins d")
    axes.set_ylabel("seconds per distance")
    axes.grid()
    axes.legend()


def claims(records):
    largest = max(row["d"] for row in records)
    return [
        Claim(
            "Sinkhorn distances are quick.", f"At d = {largest} one takes 0.2 ms.", Verdict.HOLDS
        ),
        Claim(
            "They are quicker than <script>alert(1)</script>.", "Not here: 3 & 4.", Verdict.FAILS
        ),
        Claim("They are quick at every d.", "At 3 of 4.", Verdict.IN_PART),
        Claim("A GPU brings another order of magnitude.", "There is no GPU here.", Verdict.OPEN),
    ]


def views(records):
    wide = tuple(f"{row['seconds']:.2e}" for row in records)
    rows = tuple((solver, *wide) for solver in SOLVERS)
    long = tuple((f"{row['solver']}", f"{row['d']}", f"{row['seconds']:.2e}") for row in records)
    return [
        View("Wide: seconds", ("Solver", *(f"d = {row['d']}" for row in records)), rows),
        View("Long: <all> records", ("Solver", "d", "Seconds"), long * 2),
    ]
