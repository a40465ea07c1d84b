"""Reading the records: errors, choices, and single columns."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

from sinkdist_paper import contestants
from sinkdist_paper.figure import Records

__all__ = ["LABELS", "Errors", "choices", "column", "complete", "errors_of", "most_chosen"]

Errors: TypeAlias = dict[tuple[str, int], list[float]]

LABELS = {contestant.name: contestant.label for contestant in contestants.ALL}


def column(records: Records, name: str, **wanted: Any) -> list[float]:
    """A column of the records that have these values."""
    return [
        float(row[name])
        for row in records
        if all(row.get(other) == value for other, value in wanted.items())
        and row.get(name, "") != ""
    ]


def errors_of(records: Records) -> Errors:
    """Test errors of the chosen variants, by contestant and N, in the order of the experiments."""
    found: dict[tuple[str, int], dict[tuple[int, int], float]] = defaultdict(dict)
    for row in records:
        if row["kind"] == "error" and row["used"] == 1:
            place = (int(row["repeat"]), int(row["fold"]))
            found[str(row["contestant"]), int(row["n"])][place] = float(row["error"])
    return {
        key: [values[place] for place in sorted(values)] for key, values in sorted(found.items())
    }


def complete(errors: Errors) -> Errors:
    """The errors of those contestants and N for which all experiments were measured."""
    full = max((len(values) for values in errors.values()), default=0)
    return {key: values for key, values in errors.items() if len(values) == full}


def choices(records: Records, contestant: str, n: int) -> dict[float, int]:
    """How often each value of a parameter was chosen; 0 for those that never were."""
    rows = [
        row for row in records
        if row["kind"] == "error" and row["contestant"] == contestant and row["n"] == n
    ]  # fmt: skip
    counts = dict.fromkeys((float(row["value"]) for row in rows), 0)
    for row in rows:
        counts[float(row["value"])] += int(row["used"])
    return counts


def most_chosen(records: Records, contestant: str, n: int) -> float:
    """The value of a parameter that cross-validation chose most often.

    Of several, the one with the smaller mean cross-validation error; test errors play no part.
    """
    counts = choices(records, contestant, n)

    def rank(value: float) -> tuple[int, float]:
        found = column(records, "inner_error", contestant=contestant, n=n, value=value)
        return -counts[value], sum(found) / len(found)

    return min(counts, key=rank)
