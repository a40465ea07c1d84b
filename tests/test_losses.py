"""What losses for torch and JAX check alike."""

from types import SimpleNamespace

import pytest

from sinkdist.errors import InputError
from sinkdist.losses import check_bins, check_reduction, check_shapes


@pytest.mark.parametrize("word", ["mean", "sum", "none"])
def test_reductions(word):
    check_reduction(word)


@pytest.mark.parametrize("word", ["avg", None, 3, ""])
def test_other_reductions(word):
    with pytest.raises(InputError, match="must be 'mean', 'sum' or 'none'"):
        check_reduction(word)


def of_shape(*shape):
    return SimpleNamespace(shape=shape)


@pytest.mark.parametrize(
    ("prediction", "target", "classes"),
    [
        ((4,), (4,), False),
        ((3, 4), (3, 4), False),
        ((4,), (), True),
        ((3, 4), (3,), True),
        ((2, 3, 4), (2, 3), True),
        ((2, 3, 4), (2, 3, 4), False),
    ],
)
def test_shapes_that_match(prediction, target, classes):
    check_shapes(of_shape(*prediction), of_shape(*target), classes)


@pytest.mark.parametrize(
    ("prediction", "target", "classes"),
    [
        ((3, 4), (3,), False),
        ((3, 4), (3, 4), True),
        ((3, 4), (4, 3), False),
        ((2, 3, 4), (3, 2), True),
        ((), (), False),
    ],
)
def test_shapes_that_do_not(prediction, target, classes):
    with pytest.raises(InputError, match="Predictions must be of shape"):
        check_shapes(of_shape(*prediction), of_shape(*target), classes)


def test_bins_that_are_there_and_others():
    check_bins(0, 4, 5)
    with pytest.raises(InputError, match=r"bins from 0 to 4, or .* Got 5 instead"):
        check_bins(0, 5, 5)
    with pytest.raises(InputError, match="Got -1 instead"):
        check_bins(-1, 9, 5)
