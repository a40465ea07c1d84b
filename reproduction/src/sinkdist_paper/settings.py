"""The options of a run: their defaults, their checks, and how two sets of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sinkdist import InputError
from sinkdist_paper.figure import Setting

__all__ = [
    "asked", "command", "default_sizes", "differences", "is_extended", "restored", "stored",
]  # fmt: skip

DISTANCES = "distances"  # the folder of stored matrices, within the results
_SIZES = {"digits": (600, 1_200, 1_797), "mnist": (3_000, 5_000, 12_000, 17_000, 25_000)}
_QUICK_SIZES = (150, 300)
_FEWEST = 40  # images: below this, folds are too small


def default_sizes(data: str, quick: bool) -> tuple[int, ...]:
    """The default numbers of images; for MNIST, those of the paper.

    Examples
    --------
    >>> default_sizes("mnist", quick=False), default_sizes("digits", quick=True)
    ((3000, 5000, 12000, 17000, 25000), (150, 300))
    """
    return _QUICK_SIZES if quick else _SIZES[data]


def asked(
    out: Path,
    *,
    data: str = "digits",
    sizes: Sequence[int] = (),
    quick: bool = False,
    seed: int = 0,
    workers: int | None = None,
) -> Setting:
    """A `Setting` of checked values, with the defaults filled in.

    Parameters
    ----------
    out : Path
        The folder of the results; distances are stored within it.
    data : {"digits", "mnist"}
        The images.
    sizes : sequence of int
        Numbers of images; `default_sizes` if empty.
    quick : bool
        Whether to run a smaller version of every experiment.
    seed : int
        Seed of all random choices.
    workers : int, optional
        Threads; all cores by default.

    Examples
    --------
    >>> asked(Path("results"), quick=True).sizes
    (150, 300)
    """
    from sinkdist_paper.data import AVAILABLE, largest

    if data not in AVAILABLE:
        raise InputError(f"--data must be one of {', '.join(AVAILABLE)}. Got '{data}' instead.")
    if seed < 0:
        raise InputError(f"--seed must be 0 or more. Got {seed} instead.")
    chosen = tuple(sorted(set(sizes))) or default_sizes(data, quick)
    for n in chosen:
        if not _FEWEST <= n <= largest(data):
            raise InputError(
                f"--n must be between {_FEWEST} and {largest(data):,}, the number of "
                f"images in '{data}'. Got {n} instead."
            )
    return Setting(data, chosen, quick, out / DISTANCES, seed, workers)


def stored(setting: Setting) -> dict[str, Any]:
    """The options that determine the results, for the manifest; folders and threads do not.

    Examples
    --------
    >>> stored(asked(Path("results"), quick=True))
    {'data': 'digits', 'sizes': [150, 300], 'quick': True, 'seed': 0}
    """
    return {
        "data": setting.data,
        "sizes": list(setting.sizes),
        "quick": setting.quick,
        "seed": setting.seed,
    }


def restored(written: Mapping[str, Any], out: Path) -> Setting:
    """The setting of a manifest.

    Examples
    --------
    >>> restored({"data": "digits", "sizes": [60], "quick": True, "seed": 3}, Path("results")).seed
    3
    """
    return asked(
        out,
        data=written["data"],
        sizes=written["sizes"],
        quick=written["quick"],
        seed=written["seed"],
    )


def is_extended(there: Mapping[str, Any], here: Mapping[str, Any]) -> bool:
    """Whether two stored settings are the same, but for sizes that the second one adds.

    Examples
    --------
    >>> here = stored(asked(Path("results"), quick=True))
    >>> is_extended({**here, "sizes": [300]}, here), is_extended({**here, "sizes": [200]}, here)
    (True, False)
    """
    added = set(here["sizes"]) >= set(there.get("sizes", ()))
    return added and {**there, "sizes": ()} == {**here, "sizes": ()}


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The differences of two stored settings, as text; empty if they agree.

    Examples
    --------
    >>> here = stored(asked(Path("results"), quick=True))
    >>> differences({**here, "seed": 3, "sizes": [300, 600]}, here)
    '--n is 300,600 there and 150,300 here, and --seed is 3 there and 0 here'
    """
    return ", and ".join(
        f"--{_OPTIONS[name]} is {_worded(there.get(name))} there and {_worded(value)} here"
        for name, value in here.items()
        if there.get(name) != value
    )


def command(figures: Sequence[str], written: Mapping[str, Any]) -> str:
    """The command that measures these figures with a stored setting.

    Examples
    --------
    >>> command(["fig1"], stored(asked(Path("results"), quick=True, sizes=[100, 200])))
    'sinkdist reproduce fig1 --quick --n 100,200'
    """
    words = ["sinkdist reproduce", *figures]
    if written["data"] != "digits":
        words.append(f"--data {written['data']}")
    if written["quick"]:
        words.append("--quick")
    if tuple(written["sizes"]) != default_sizes(written["data"], written["quick"]):
        words.append(f"--n {_worded(written['sizes'])}")
    if written["seed"] != 0:
        words.append(f"--seed {written['seed']}")
    return " ".join(words)


_OPTIONS = {"data": "data", "sizes": "n", "quick": "quick", "seed": "seed"}


def _worded(value: Any) -> str:
    """A value as it is given on the command line."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
