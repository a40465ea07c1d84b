"""What is asked of a search, checked: how many neighbours, how far, and at what expense."""

from __future__ import annotations

import math
import numbers
from typing import Any

from sinkdist.errors import InputError, InputTypeError
from sinkdist.problem.problem import Problem
from sinkdist.search.ranking import Rule
from sinkdist.wording import option, setting

__all__ = ["USUAL", "check_heuristic", "rule_of"]

USUAL = 10  #: neighbours, unless something else is asked for


def rule_of(k: Any, radius: Any, budget: Any, order: Any) -> Rule:
    """Check the options of a search; 10 neighbours where neither k nor a radius is given.

    Examples
    --------
    >>> rule_of(None, None, None, "proven")
    Rule(k=10, radius=inf, budget=None, heuristic=False)
    """
    if k is None and radius is None:
        k = USUAL
    return Rule(
        None if k is None else _whole("k", k),
        math.inf if radius is None else _distance("radius", radius),
        None if budget is None else _whole("budget", budget),
        _is_heuristic(order),
    )


def _is_heuristic(order: Any) -> bool:
    """Whether estimates may end a search."""
    if not isinstance(order, str) or order not in ("proven", "heuristic"):
        raise InputError(
            "The {} option must be 'proven' or 'heuristic'. Got {!r} instead.",
            option("order"), order,
        )  # fmt: skip
    return order == "heuristic"


def check_heuristic(problem: Problem, rule: Rule) -> None:
    """Raise where nothing has to be estimated."""
    if rule.heuristic and not problem.member.bounded_by_exact:
        raise InputError(
            "{} is for a positive, finite {} or {}: bounds on the {} distance are proven, and as "
            "quick.",
            setting("order", "heuristic"), option("lam"), option("reg"), problem.member.word,
        )  # fmt: skip


def _whole(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(
            "The {} option must be a whole number. Got {!r} instead.", option(name), value
        )
    if value < 1:
        raise InputError("The {} option must be at least 1. Got {} instead.", option(name), value)
    return int(value)


def _distance(name: str, value: Any) -> float:
    """A number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(
            "The {} option must be a number. Got {!r} instead.", option(name), value
        )
    number = float(value)
    if not number >= 0.0:
        raise InputError("The {} option must be at least 0. Got {} instead.", option(name), value)
    return number
