"""The images of the experiments, as histograms: MNIST as in the paper, or scikit-learn's digits.

The paper uses MNIST on a grid of 20 x 20 pixels, the size of the digits before MNIST centred them
by mass in 28 x 28. Here the bounding box of each digit is placed in the middle of 20 x 20; cropping
the 28 x 28 images instead would cut ink off three digits in four. Subsets are nested (a set of
3,000 images is the beginning of the set of 5,000), so one matrix of distances serves all sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinkdist import Ground, InputError
from sinkdist_paper import mnist

__all__ = ["AVAILABLE", "Images", "largest", "load"]

AVAILABLE = ("digits", "mnist")

_LARGEST = {"digits": 1_797, "mnist": 60_000}
_FEWEST = 40  # fewer images make the folds too small
_MNIST_SIDE = 20


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images as histograms.

    Attributes
    ----------
    histograms : ndarray of float32, shape (n, side * side)
        One image per row; the ink of each is divided by its total.
    labels : ndarray of int, shape (n,)
        The digit that each shows.
    side : int
        Pixels along each side.
    """

    histograms: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]
    side: int

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, part: slice) -> Images:
        """Some of the images."""
        return Images(self.histograms[part], self.labels[part], self.side)

    @property
    def ground(self) -> Ground:
        """Distances between the pixels, in pixels."""
        return Ground.grid(self.side, self.side)


def largest(name: str) -> int:
    """How many images there are."""
    _check_name(name)
    return _LARGEST[name]


def load(name: str, n: int, seed: int = 0) -> Images:
    """Draw images without replacement.

    Parameters
    ----------
    name : {"digits", "mnist"}
        The 1,797 digits of 8 x 8 pixels that scikit-learn includes, or MNIST's 60,000 training
        images on 20 x 20.
    n : int
        How many. With the same seed, a smaller draw is the beginning of a larger one.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> images = load("digits", 100)
    >>> images.histograms.shape, images.side
    ((100, 64), 8)
    """
    if not _FEWEST <= n <= largest(name):
        raise InputError(
            f"'n' must be between {_FEWEST} and {_LARGEST[name]:,} for the data '{name}'. "
            f"Got {n} instead."
        )
    chosen = np.random.default_rng(seed).permutation(_LARGEST[name])[:n]
    ink, labels = _digits(chosen) if name == "digits" else _mnist(chosen)
    side = round(ink.shape[1] ** 0.5)
    shares = ink / ink.sum(axis=1, keepdims=True)
    return Images(shares.astype(np.float32), labels.astype(np.int64), side)


def _digits(chosen: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The digits of scikit-learn."""
    from sinkdist_paper.demo import digits  # imports scikit-learn

    every = digits.load()
    return every.histograms[chosen], every.labels[chosen]


def _mnist(chosen: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
    """MNIST's digits, centred on the paper's grid."""
    images, labels = mnist.training_set()
    ink = np.array([centred(images[i]) for i in chosen], dtype=np.float64)
    return ink.reshape(len(chosen), -1), labels[chosen]


def centred(image: npt.NDArray[np.uint8], side: int = _MNIST_SIDE) -> npt.NDArray[np.uint8]:
    """Centre the bounding box of an image's ink in a square, rounding towards its top left corner.

    Examples
    --------
    >>> corner = np.zeros((4, 4), np.uint8)
    >>> corner[3, 2:] = 7
    >>> centred(corner, 3)
    array([[0, 0, 0],
           [7, 7, 0],
           [0, 0, 0]], dtype=uint8)
    """
    rows, columns = (np.flatnonzero(image.any(axis=axis)) for axis in (1, 0))
    box = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    top, left = ((side - length) // 2 for length in box.shape)
    square = np.zeros((side, side), np.uint8)
    square[top : top + box.shape[0], left : left + box.shape[1]] = box
    return square


def _check_name(name: str) -> None:
    """Raise if there are no such data."""
    if name not in AVAILABLE:
        raise InputError(f"'data' must be one of {', '.join(AVAILABLE)}. Got {name!r} instead.")
