"""Tables: the errors at each N, and the time for the paper's largest N."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from sinkdist_paper import contestants
from sinkdist_paper.contestants import Contestant
from sinkdist_paper.fig2.results import Errors, column, complete, errors_of, most_chosen
from sinkdist_paper.figure import Records, Scalar, View

__all__ = ["views"]

PAPER_SIZE = 25_000


def views(records: Records) -> list[View]:
    """The errors at each N, and the time for the paper's largest N."""
    return [view for view in (_error_view(records), _cost_view(records)) if view.rows]


def _error_view(records: Records) -> View:
    """Mean and standard deviation of the test error."""
    errors = complete(errors_of(records))
    sizes = sorted({n for _, n in errors})
    ranks = {contestant.name: _rank(errors, contestant) for contestant in contestants.ALL}
    rows = [
        (
            contestant.label,
            *(_mean_and_spread(errors.get((contestant.name, n), [])) for n in sizes),
            _most_chosen(records, contestant, -ranks[contestant.name][0]),
        )
        for contestant in sorted(contestants.ALL, key=lambda one: ranks[one.name])
        if any((contestant.name, n) in errors for n in sizes)
    ]
    return View(
        "Test error in %: mean and standard deviation over the experiments, the best at the "
        "largest N first. The last column is about the largest N of each.",
        ("Distance", *(f"N = {n:,}" for n in sizes), "Chosen most often"),
        tuple(rows),
    )


def _rank(errors: Errors, contestant: Contestant) -> tuple[int, float]:
    """The largest set of a contestant, with a minus sign, and its mean error there."""
    n = max((n for name, n in errors if name == contestant.name), default=0)
    return -n, float(np.mean(errors[contestant.name, n])) if n else np.inf


def _cost_view(records: Records) -> View:
    """Pairs per second, and hours for all pairs of the paper's largest set."""
    rows, total = [], 0.0
    for contestant in contestants.ALL:
        rates = {
            row["value"]: float(row["pairs_per_second"])
            for row in records
            if row["kind"] == "rate" and row["contestant"] == contestant.name
        }
        if not rates:
            continue
        large = _values_at_paper_size(records, contestant, rates)
        hours = sum(
            _pairs(PAPER_SIZE if value in large else contestant.limit or 0) / rate / 3600
            for value, rate in rates.items()
        )
        total += hours
        slowest, quickest = (
            _two_digits(rate) for rate in (min(rates.values()), max(rates.values()))
        )
        speed = slowest if slowest == quickest else f"{slowest} to {quickest}"
        rows.append((contestant.label, speed, str(len(large)), _hours(hours)))
    if rows:
        rows.append(("All distances", "", "", f"{total:,.0f}"))
        rows.append(("Support vector machines", "", "", _hours(_training_hours(records))))
    return View(
        f"Distances per second here, and hours for all pairs of {PAPER_SIZE:,} such images at that "
        "speed (with a fixed alpha: for the best one, and for the others as far as they are "
        "tried). For the support vector machines: CPU hours for all experiments of that size, "
        "extrapolated with the square of N.",
        ("Distance", "Pairs per second", "Matrices", f"Hours, N = {PAPER_SIZE:,}"),
        tuple(rows),
    )


def _pairs(n: int) -> float:
    """The number of pairs of distinct images."""
    return n * (n - 1) / 2


def _values_at_paper_size(
    records: Records, contestant: Contestant, rates: Collection[Scalar]
) -> set[Scalar]:
    """The values of a parameter that are tried at the paper's largest N.

    Above its limit, only the best one; all of them as long as it is not known.
    """
    limit = contestant.limit
    if limit is None:
        return set(rates)
    sizes = [n for name, n in complete(errors_of(records)) if name == contestant.name]
    tried = [n for n in sizes if n <= limit]
    return {most_chosen(records, contestant.name, max(tried))} if tried else set(rates)


def _training_hours(records: Records) -> float:
    """Processor hours of support vector machines at the paper's largest N, by its square."""
    n = max((int(row["n"]) for row in records if row["kind"] == "error"), default=PAPER_SIZE)
    spent = sum(column(records, "cpu_seconds", kind="error", n=n))
    return spent * (PAPER_SIZE / n) ** 2 / 3600


def _hours(hours: float) -> str:
    """Hours, with at least one significant digit."""
    return f"{hours:,.1f}" if hours >= 0.1 else f"{hours:.1g}"


def _two_digits(rate: float) -> str:
    """A number rounded to two significant digits."""
    return f"{float(f'{rate:.2g}'):,.0f}"


def _mean_and_spread(errors: Sequence[float]) -> str:
    """A mean and a standard deviation, in percent."""
    return f"{100 * np.mean(errors):.2f} ± {100 * np.std(errors):.2f}" if errors else "–"


def _most_chosen(records: Records, contestant: Contestant, n: int) -> str:
    """The parameter, bandwidth and constant that were chosen most often."""
    used = [
        row for row in records
        if row["kind"] == "error" and row["contestant"] == contestant.name and row["n"] == n
        and row["used"] == 1
    ]  # fmt: skip
    if not used:
        return "–"
    columns = [("bandwidth t", "bandwidth"), ("C", "C")]
    if contestant.parameter:
        # The paper calls two things t: the bandwidth of the kernel and the width of a matrix.
        name = "width" if contestant.parameter == "t" else contestant.parameter
        columns.insert(0, (name, "value"))
    parts = []
    for name, place in columns:
        value, _ = Counter(row[place] for row in used).most_common(1)[0]
        parts.append(f"{name} = {value}" if isinstance(value, str) else f"{name} = {value:,g}")
    return ", ".join(parts)
