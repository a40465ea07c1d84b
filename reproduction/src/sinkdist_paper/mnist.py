"""MNIST's files: where they are looked for, how they are downloaded, what they contain.

They are looked for in the folder that the environment variable SINKDIST_DATA names, then in a
cache, then on the mirrors. Their MD5 sums are always checked, so an incomplete download or another
data set with the same file names is never taken for MNIST.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinkdist import InputError

__all__ = ["SIDE", "training_set"]

SIDE = 28

IMAGES = "train-images-idx3-ubyte.gz"
LABELS = "train-labels-idx1-ubyte.gz"
_MD5 = {
    IMAGES: "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    LABELS: "d53e105ee54ea40749a09fcbcd1e9432",
}
_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
_HEADERS = {IMAGES: 16, LABELS: 8}  # bytes: a magic number, then one number per axis


def training_set() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The 60,000 training images, of shape (60000, 28, 28), and the digits that they show."""
    images, labels = (_content(_find(name), _HEADERS[name]) for name in (IMAGES, LABELS))
    return images.reshape(-1, SIDE, SIDE), labels


def _content(path: Path, header: int) -> npt.NDArray[np.uint8]:
    """The bytes of a compressed file, after its header."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def _find(name: str) -> Path:
    """A file of the training set: in SINKDIST_DATA, in the cache, or downloaded."""
    folder = os.environ.get("SINKDIST_DATA")
    for path in (Path(folder) / "mnist" / name, Path(folder) / name) if folder else ():
        if path.is_file():
            if hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != _MD5[name]:
                raise InputError(
                    f"{path} is not MNIST's file of that name, or it is damaged: its MD5 sum is "
                    f"not {_MD5[name]}."
                )
            return path
    return _fetch(name)


def _fetch(name: str) -> Path:
    """A file from the cache, or from the first mirror that has it."""
    import pooch

    cache = Path(pooch.os_cache("sinkdist"))
    why: Exception | None = None
    for mirror in _MIRRORS:
        try:
            return Path(
                pooch.retrieve(mirror + name, f"md5:{_MD5[name]}", name, cache, progressbar=False)
            )
        except (OSError, ValueError) as error:  # no network, no such file, or another file
            why = error
    raise InputError(
        f"MNIST could not be downloaded ({type(why).__name__}): put {IMAGES} and {LABELS} in a "
        "folder 'mnist', and let the environment variable SINKDIST_DATA name the folder that "
        "holds it."
    ) from why
