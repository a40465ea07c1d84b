"""What a stored matrix says of itself in its files called zarr.json, and whether that can be.

They are read here before Zarr reads them: a description that was cut short, or that says what no
run of ours has written, is answered with the name of the file, whatever Zarr would make of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sinkdist.errors import InputError, StoreError
from sinkdist.scale import folder
from sinkdist.wording import setting

__all__ = [
    "ATTRIBUTE",
    "FILE",
    "FORMAT",
    "check_array",
    "damaged",
    "differences",
    "is_claimed",
    "read",
]

FORMAT = 1
FILE = "zarr.json"  #: describes the group it lies in, or the array
ATTRIBUTE = "sinkdist"  #: of the group: what the matrix says of itself
_DTYPES = {
    "distance": ("float64", "float32"), "status": ("int8",), "marginal_error": ("float32",)
}  # fmt: skip
_CODECS = ["bytes", "crc32c"]
_SHOWN = 40  # characters of a wrong entry


def read(name: str) -> dict[str, Any]:
    """What the matrix at a place says of itself; an error if that is damaged or missing."""
    content = _content(name, FILE)
    attributes = content.get("attributes")
    if (content.get("zarr_format"), content.get("node_type")) != (3, "group"):
        raise damaged(name, FILE, "does not describe a group of Zarr 3")
    about = attributes.get(ATTRIBUTE) if isinstance(attributes, dict) else None
    if not isinstance(about, dict):
        raise damaged(name, FILE, f"has no attribute {ATTRIBUTE!r} that describes a matrix")
    if _is_newer(about):
        raise InputError(
            f"{name!r} was written in format {about['format']!r}; this version of sinkdist reads "
            f"format {FORMAT}."
        )
    for key, fits in _ENTRIES.items():
        if key not in about:
            raise damaged(name, FILE, f"says nothing of {key!r}")
        if not fits(about[key]):
            raise damaged(name, FILE, f"has {key!r} as {_short(about[key])}, which cannot be")
    if about["symmetric"] and about["shape"][0] != about["shape"][1]:
        raise damaged(name, FILE, f"calls a matrix of {about['shape']} symmetric")
    return about


def is_claimed(name: str) -> bool:
    """Whether a description says that the matrix at a place is ours; not whether it is whole."""
    try:
        attributes = _content(name, FILE).get("attributes")
    except StoreError:
        return False
    about = attributes.get(ATTRIBUTE) if isinstance(attributes, dict) else None
    return isinstance(about, dict) and (_is_newer(about) or about.keys() >= _ENTRIES.keys())


def check_array(name: str, array: str, about: dict[str, Any]) -> bool:
    """Whether an array is cut as the matrix says; an error if its description is damaged."""
    file = f"{array}/{FILE}"
    content = _content(name, file)
    if (content.get("zarr_format"), content.get("node_type")) != (3, "array"):
        raise damaged(name, file, "does not describe an array of Zarr 3")
    if content.get("data_type") not in _DTYPES[array]:
        raise damaged(name, file, f"has a data type of {_short(content.get('data_type'))}")
    codecs = content.get("codecs")
    if not isinstance(codecs, list) or [_part(codec, "name") for codec in codecs] != _CODECS:
        raise damaged(name, file, "names other codecs than bytes and a checksum")
    encoding = content.get("chunk_key_encoding")
    separator = _part(_part(encoding, "configuration"), "separator")
    if _part(encoding, "name") != "default" or separator not in ("/", None):
        raise damaged(name, file, "does not say where its chunks lie")
    chunks = _part(_part(content.get("chunk_grid"), "configuration"), "chunk_shape")
    return bool(content.get("shape") == about["shape"] and chunks == [about["tile"]] * 2)


def damaged(name: str, file: str, what: str) -> StoreError:
    """The sentence about a description that cannot be relied on."""
    return StoreError(
        "{!r} is damaged: its file {!r} {}. Nothing was changed: restore that file from a copy, or "
        "compute everything anew with {}.",
        name,
        file,
        what,
        setting("overwrite", True),
    )


def differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """What differs between the facts of two calls, one phrase each."""
    phrases = [
        f"{name} is {there['parameters'].get(name)} there and {value} here"
        for name, value in here["parameters"].items()
        if there["parameters"].get(name) != value
    ]
    inputs = [
        f"{name} is not the one that was stored"
        for name, value in here["fingerprints"].items()
        if there["fingerprints"].get(name) != value
    ]
    return phrases + inputs


def _content(name: str, file: str) -> dict[str, Any]:
    """The object in a file of JSON."""
    raw = folder.read_file(name, file)
    if raw is None:
        raise damaged(name, file, "is missing")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):  # no text, no JSON, or nested beyond all reason
        content = None
    if not isinstance(content, dict):
        raise damaged(name, file, "does not hold an object of JSON")
    return content


def _is_newer(about: dict[str, Any]) -> bool:
    """Whether a later version of the package has written this."""
    return _is_count(about.get("format")) and about["format"] > FORMAT


def _part(content: Any, key: str) -> Any:
    """An entry of what should be an object; None where there is none."""
    return content.get(key) if isinstance(content, dict) else None


def _is_count(value: Any) -> bool:
    """Whether a value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are(kind: type, value: Any) -> bool:
    """Whether a value is a list of such things."""
    return isinstance(value, list) and all(type(part) is kind for part in value)


def _are_names(value: Any) -> bool:
    """Whether a value gives names to codes."""
    return isinstance(value, dict) and all(
        code.isdecimal() and isinstance(word, str) for code, word in value.items()
    )


def _are_facts(value: Any) -> bool:
    """Whether a value has the two parts of what decides the distances."""
    return all(isinstance(_part(value, key), dict) for key in ("parameters", "fingerprints"))


_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: type(value) is int and value == FORMAT,
    "shape": lambda value: _are(int, value) and len(value) == 2 and min(value) >= 0,
    "tile": lambda value: _is_count(value) and value > 0,
    "symmetric": lambda value: isinstance(value, bool),
    "facts": _are_facts,
    "versions": lambda value: _are(str, value),
    "statuses": _are_names,
    "short": lambda value: _are(int, value),
}


def _short(value: Any) -> str:
    """A wrong entry as text, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
