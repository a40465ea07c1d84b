"""Options by the names that users bring: what a call says to a keyword that it does not know.

Signatures are explicit, so an unknown keyword is a TypeError of Python's; here it is one that says
what the option is called in this package, and one for calls without a ground as well.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

from sinkdist.errors import InputTypeError

__all__ = ["OTHER_NAMES", "named_options"]

P = ParamSpec("P")
T = TypeVar("T")

#: What other packages call our options, by their name.
OTHER_NAMES = {
    "numItermax": "max_iter", "numIterMax": "max_iter", "max_iterations": "max_iter",
    "maxiter": "max_iter", "n_iter": "iterations", "num_iter": "iterations",
    "stopThr": "tol", "threshold": "tol", "eps": "reg", "epsilon": "reg", "blur": "reg",
    "lambda_": "lam", "lamb": "lam", "lmbda": "lam", "gamma": "lam",
    "n_jobs": "workers", "nthreads": "workers", "num_threads": "workers", "numThreads": "workers",
    "verbose": "progress", "reg_m": "mass_penalty", "n_neighbors": "k", "method": "solver",
    "M": "ground", "cost": "ground", "cost_matrix": "ground", "metric": "ground", "geom": "ground",
    "p": "ground", "a": "r", "b": "c",
}  # fmt: skip


def named_options(call: Callable[P, T]) -> Callable[P, T]:
    """A function whose errors for unknown keywords, and for a missing ground, say what to write.

    Examples
    --------
    >>> @named_options
    ... def solve(r, c, ground, *, tol=None): ...
    >>> try:
    ...     solve([1], [1], [[0]], stopThr=1e-9)
    ... except TypeError as error:
    ...     print(error)
    solve() has no option 'stopThr': here it is called 'tol'.
    """
    parameters = inspect.signature(call).parameters
    owner = call.__qualname__.rpartition(".")[0].rpartition(">")[2].strip(".")
    name = owner if call.__name__ == "__init__" else call.__name__
    needs_ground = _is_required_keyword(parameters.get("ground"))

    def checked(*args: Any, **options: Any) -> T:
        for option in options:
            if option not in parameters:
                raise unknown(name, option, [*parameters])
        if needs_ground and "ground" not in options:
            raise no_ground(name, len(args))
        return call(*args, **options)

    unknown, no_ground = _unknown, _no_ground
    # In the module of the function, where doctest and pickle look for it.
    wrapper = types.FunctionType(
        checked.__code__, call.__globals__, call.__name__, None, checked.__closure__
    )  # fmt: skip
    return update_wrapper(wrapper, call)


def _is_required_keyword(parameter: inspect.Parameter | None) -> bool:
    """Whether a parameter has to be given, and by name."""
    return (
        parameter is not None
        and parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
    )


def _unknown(name: str, option: str, known: list[str]) -> InputTypeError:
    """The error for a keyword that the function does not take."""
    ours = OTHER_NAMES.get(option)
    if ours not in known:
        ours = next(iter(difflib.get_close_matches(option, known, n=1)), None)
        advice = f". Did you mean '{ours}'?" if ours else "."
    else:
        more = {"epsilon": " (lam is 1 / reg)", "eps": " (lam is 1 / reg)"}.get(option, "")
        advice = f": here it is called '{ours}'{more}."
    return InputTypeError(f"{name}() has no option '{option}'{advice}")


def _no_ground(name: str, positional: int) -> InputTypeError:
    """The error for a call without costs between bins."""
    second = (
        " The second argument by position is Y, a second family of histograms."
        if positional > 1
        else ""
    )
    return InputTypeError(
        f"{name}() needs the costs between bins by name: {name}(X, ground=M, ...), with a Ground "
        f"or a matrix.{second}"
    )
