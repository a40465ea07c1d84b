"""What a call may ask for: every option once, with its default and all that others derive from it.

The verbs' signatures are explicit, for readers; each builds an `Options` by keyword, once. What
reads options, identifies results (`facts`), keys caches, declares flags of the command line or
documents them goes through the fields of this record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any

__all__ = ["Options", "about", "deciding", "documented"]

_PAIRS = ("solve", "distance", "pairwise", "estimate", "neighbors")
_ALL = (*_PAIRS, "divergence")
_WATCHED = tuple(verb for verb in _ALL if verb != "estimate")
_SEARCH = ("neighbors",)
_STORED = ("pairwise", "neighbors")
_MEANS = ("barycenter", "solve_barycenter")


def about(
    summary: str,
    *,
    verbs: tuple[str, ...],
    decides: bool = False,
    flag: str | None = None,
    defaults: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What is known of an option.

    Parameters
    ----------
    summary : str
        One line for the reference and the help of the command line.
    verbs : tuple of str
        Those that take it.
    decides : bool
        Whether results depend on it, so that a stored matrix or a cached distance is identified by
        it.
    flag : str, optional
        What it is called on the command line.
    defaults : dict, optional
        Verbs with another default than that of the field.
    """
    return {
        "summary": summary, "verbs": verbs, "decides": decides, "flag": flag,
        "defaults": defaults or {},
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Options:
    """The options of one call, as they were given."""

    lam: Any = field(
        default=None,
        metadata=about(
            "The paper's lambda: the larger, the closer to the exact distance; inf is the "
            "exact distance, 0 the independence table. 9/median, which is 9 divided by the median "
            "cost, is a common choice.",
            verbs=(*_ALL, "path", *_MEANS),
            decides=True,
            flag="--lam",
        ),
    )
    reg: Any = field(
        default=None,
        metadata=about(
            "The same as 1 / lam, which other packages call reg or epsilon.",
            verbs=(*_ALL, *_MEANS),
            decides=True,
            flag="--reg",
        ),
    )
    alpha: Any = field(
        default=None,
        metadata=about(
            "The radius of the Kullback-Leibler ball around the independence table: the "
            "paper's metric d_{M,alpha}.",
            verbs=_ALL,
            decides=True,
            flag="--alpha",
        ),
    )
    mass_penalty: Any = field(
        default=None,
        metadata=about(
            "Hold marginals by a penalty instead of exactly, so that total masses may differ: one "
            "number, or a pair for rows and columns; inf holds a side exactly. With lam or reg.",
            verbs=("solve", "distance", "pairwise", "estimate", "divergence"),
            decides=True,
            flag="--mass-penalty",
        ),
    )
    tol: Any = field(
        default=None,
        metadata=about(
            "Bound on the L1 error of the marginals; with alpha, also on the relative width "
            "of the value's bracket. 1e-6 by default, 1e-4 in float32.",
            verbs=(*_ALL, "path", *_MEANS),
            decides=True,
            flag="--tol",
        ),
    )
    max_iter: Any = field(
        default=None,
        metadata=about(
            "The most reads of the kernel for one pair, or sweeps for barycentres; 10,000 by "
            "default.",
            verbs=(*_ALL, "path", *_MEANS),
            decides=True,
            flag="--max-iter",
        ),
    )
    iterations: Any = field(
        default=None,
        metadata=about(
            "Run exactly this many steps of the paper's Algorithm 1 instead, with no test.",
            verbs=_ALL,
            decides=True,
            flag="--iterations",
        ),
    )
    solver: Any = field(
        default="auto",
        metadata=about(
            "auto, plain, relaxed, newton or log: changes the time it takes, not the answer.",
            verbs=_ALL,
            decides=True,
            flag="--solver",
        ),
    )
    dtype: Any = field(
        default=None,
        metadata=about(
            "What to compute in: float32 or float64. By default float32 where all input is, "
            "else float64.",
            verbs=(*_ALL, *_MEANS),
            decides=True,
            flag="--dtype",
        ),
    )
    normalize: Any = field(
        default=False,
        metadata=about(
            "Divide histograms by their sums: for counts. Without it they must sum to 1.",
            verbs=(*_ALL, "path", *_MEANS),
            flag="--normalize",
        ),
    )
    on_empty: Any = field(
        default="raise",
        metadata=about(
            "Whether histograms without mass are an error (raise) or have the distance NaN (nan).",
            verbs=_ALL,
            flag="--on-empty",
        ),
    )
    coincidence: Any = field(
        default=False,
        metadata=about(
            "Make the distance of equal histograms 0; with entropy it is a little above.",
            verbs=_PAIRS,
            decides=True,
            flag="--coincidence",
        ),
    )
    debiased: Any = field(
        default=False,
        metadata=about(
            "The Sinkhorn divergence instead, which is 0 for equal histograms; barycentres under "
            "it are not blurred.",
            verbs=("pairwise", "estimate", *_MEANS),
            decides=True,
            defaults=dict.fromkeys(_MEANS, True),
        ),
    )
    workers: Any = field(
        default=None,
        metadata=about("Threads; all cores by default.", verbs=(*_ALL, *_MEANS), flag="--workers"),
    )
    progress: Any = field(
        default=False,
        metadata=about(
            "Show pairs done, pairs per second and the time left; or a function of Progress "
            "records.",
            verbs=_WATCHED,
            flag="--progress",
        ),
    )
    memory: Any = field(
        default=None,
        metadata=about(
            "The most memory to use, such as 2GB or 500MB; three quarters of what is free by "
            "default.",
            verbs=_STORED,
            flag="--memory",
        ),
    )
    out: Any = field(
        default=None,
        metadata=about(
            "Store the matrix, or the neighbours, there, tile by tile; the same call resumes after "
            "the last finished tile.",
            verbs=_STORED,
            flag="--out",
        ),
    )
    overwrite: Any = field(
        default=False,
        metadata=about("Replace what is there already.", verbs=_STORED, flag="--overwrite"),
    )
    client: Any = field(
        default=None,
        metadata=about(
            "Run on a Dask cluster: a dask.distributed.Client.",
            verbs=_STORED,
            flag="--scheduler",
        ),
    )
    k: Any = field(
        default=None,
        metadata=about(
            "How many neighbours; 10, or all within the radius if one is given.",
            verbs=_SEARCH,
            flag="--k",
        ),
    )
    radius: Any = field(
        default=None,
        metadata=about("Neighbours within this distance.", verbs=_SEARCH, flag="--radius"),
    )
    distance: Any = field(
        default="transport",
        metadata=about(
            "transport, or a distance without a ground for comparison: euclidean, sqeuclidean, "
            "hellinger, chi2 or total_variation.",
            verbs=_SEARCH,
        ),
    )
    budget: Any = field(
        default=None,
        metadata=about(
            "The most pairs to solve for a query; neighbours that nothing can improve are marked "
            "as proven.",
            verbs=_SEARCH,
            flag="--budget",
        ),
    )
    order: Any = field(
        default="proven",
        metadata=about(
            "At a finite lam: proven, or heuristic, which lets an estimate end the search.",
            verbs=_SEARCH,
            flag="--order",
        ),
    )


def deciding(options: type[Any] = Options) -> list[str]:
    """Names of the options that decide results."""
    return [x.name for x in _fields(options) if x.metadata["decides"]]


def documented(options: type[Any] = Options) -> str:
    """The reference of all options, as a table in Markdown."""
    lines = [
        "| option | default | what it does | taken by | command line |",
        "|---|---|---|---|---|",
    ]
    for x in _fields(options):
        verbs = ", ".join(f"`{verb}`" for verb in x.metadata["verbs"])
        flag = f"`{x.metadata['flag']}`" if x.metadata["flag"] else ""
        default = f"`{x.default!r}`"
        for value, others in _other_defaults(x.metadata["defaults"]).items():
            default += f"; `{value}` for {others}"
        lines.append(f"| `{x.name}` | {default} | {x.metadata['summary']} | {verbs} | {flag} |")
    return "\n".join(lines) + "\n"


def _other_defaults(defaults: dict[str, Any]) -> dict[str, str]:
    """Verbs by the default that they have instead, as text."""
    values = {repr(value) for value in defaults.values()}
    return {
        value: ", ".join(f"`{verb}`" for verb, its in defaults.items() if repr(its) == value)
        for value in sorted(values)
    }


def _fields(options: type[Any]) -> Iterator[Field[Any]]:
    return iter(fields(options))
