"""The classification experiment of section 5.1: folds, kernels, and support vector machines.

The images are split into 4 folds; each is the training set once, and the other 3 are the test set.
This is repeated 6 times. Within a training fold, the bandwidth t, the constant C and the parameter
of the distance are chosen together, by the error over 2 repeats of 2-fold cross-validation; ties go
to the first candidate. The kernel of a training fold is made positive semi-definite once; its
submatrices then are, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from sinkdist import similarity

__all__ = ["FOLDS", "REPEATS", "Split", "Trial", "run", "splits"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.intp]

FOLDS, REPEATS = 4, 6
INNER_FOLDS, INNER_REPEATS = 2, 2
CONSTANTS = (1e-2, 1e0, 1e2, 1e4)
_QUANTILES = ("q10", "q20", "q50")
_SAMPLE = 100_000  # distances from which quantiles are estimated


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One experiment: the indices of training and test images."""

    repeat: int
    fold: int
    train: Index
    test: Index


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one variant of a distance in one experiment.

    Attributes
    ----------
    bandwidth : str
        The name of the chosen t.
    t, C, shift : float
        The chosen bandwidth and constant, and the term added to the diagonal of the kernel.
    inner_error : float
        The cross-validation error by which they were chosen.
    error : float
        The share of wrong answers on the test set.
    """

    bandwidth: str
    t: float
    C: float
    shift: float
    inner_error: float
    error: float


def splits(n: int, repeats: int, seed: int) -> Iterator[Split]:
    """All experiments on `n` images: one fold for training, the others for testing."""
    for repeat in range(repeats):
        folds = KFold(FOLDS, shuffle=True, random_state=seed + repeat)
        for fold, (others, one) in enumerate(folds.split(np.arange(n))):
            yield Split(repeat, fold, one, others)


def run(
    matrices: Sequence[Array],
    labels: Array,
    split: Split,
    *,
    seed: int,
    workers: int,
) -> list[Trial]:
    """Run one experiment with one contestant.

    Parameters
    ----------
    matrices : sequence of ndarray, shape (n, n)
        The distances between all images, for each variant.
    labels : ndarray, shape (n,)
        The digits.
    split : Split
        Training and test images.
    seed : int
        Seed of the inner folds, and of the sample from which quantiles are estimated.
    workers : int
        Threads.

    Returns
    -------
    list of Trial
        One for each variant. The paper would use the first one with the smallest `inner_error`.
    """
    inner = list(_inner_splits(len(split.train), seed + split.repeat))
    answers = []
    for matrix in matrices:
        train = np.asarray(matrix[np.ix_(split.train, split.train)], np.float64)
        cross = np.asarray(matrix[np.ix_(split.test, split.train)], np.float64)
        answers.append(
            _trial(train, cross, labels[split.train], labels[split.test], inner, seed, workers)
        )
    return answers


def _inner_splits(n: int, seed: int) -> Iterator[tuple[Index, Index]]:
    """The folds within a training fold: indices for fitting, indices for the error."""
    for repeat in range(INNER_REPEATS):
        folds = KFold(INNER_FOLDS, shuffle=True, random_state=seed * INNER_REPEATS + repeat)
        yield from folds.split(np.arange(n))


def _trial(
    train: Array,
    cross: Array,
    known: Array,
    hidden: Array,
    inner: Sequence[tuple[Index, Index]],
    seed: int,
    workers: int,
) -> Trial:
    """Choose t and C on the training fold, train with them, and test."""
    candidates = _bandwidths(train, seed)
    kernels = [similarity.repaired(similarity.kernel(train, t)) for _, t in candidates]
    jobs = [(kernel, fit, see) for (kernel, _), (fit, see) in itertools.product(kernels, inner)]

    def errors(job: tuple[Array, Index, Index]) -> list[float]:
        kernel, fit, see = job
        parts = kernel[np.ix_(fit, fit)], known[fit], kernel[np.ix_(see, fit)], known[see]
        return list(_errors(*parts, CONSTANTS))

    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(errors, jobs))
    table = np.reshape(found, (len(candidates), len(inner), len(CONSTANTS))).mean(axis=1)
    best, constant = np.unravel_index(int(table.argmin()), table.shape)
    (name, t), (kernel, shift), C = candidates[best], kernels[best], CONSTANTS[constant]
    (test,) = _errors(kernel, known, similarity.kernel(cross, t), hidden, [C])
    return Trial(name, t, C, shift, float(table[best, constant]), test)


def _bandwidths(train: Array, seed: int) -> list[tuple[str, float]]:
    """The values of t with their names; quantiles that are 0 are left out."""
    one, *quantiles = similarity.bandwidths(train, sample=_SAMPLE, seed=seed).tolist()
    named = zip(reversed(_QUANTILES), reversed(quantiles), strict=False)
    return [("1", one), *reversed(list(named))]


def _errors(
    kernel: Array, known: Array, cross: Array, hidden: Array, constants: Sequence[float]
) -> Iterator[float]:
    """Train on one kernel, test on the other: the share of wrong answers for each C, ascending.

    If no coefficient of a machine has reached its bound C, a larger C changes nothing.
    """
    error, bounded = 1.0, True
    for C in constants:
        if bounded:
            machine = SVC(C=C, kernel="precomputed").fit(kernel, known)
            bounded = bool(np.abs(machine.dual_coef_).max() >= C)
            error = float(np.mean(machine.predict(cross) != hidden))
        yield error
