"""The images of the experiments: what is drawn, how digits are centred, where MNIST is found."""

import gzip
import hashlib

import numpy as np
import pytest

import sinkdist as sd
from sinkdist_paper import data, mnist

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def digits():
    return data.load("digits", 120)


def test_images_are_histograms(digits):
    assert digits.histograms.shape == (120, 64) and digits.histograms.dtype == np.float32
    assert (digits.histograms >= 0).all()
    np.testing.assert_allclose(digits.histograms.sum(axis=1), 1, atol=1e-6)
    assert set(digits.labels) == set(range(10)) and len(digits) == 120
    assert digits.ground.shape == (64, 64) and digits.ground.matrix[0, 1] == 1.0


def test_smaller_sets_are_the_beginnings_of_larger_ones(digits):
    fewer = data.load("digits", 50)
    np.testing.assert_array_equal(fewer.histograms, digits.histograms[:50])
    np.testing.assert_array_equal(fewer.labels, digits.labels[:50])


def test_another_seed_draws_other_images(digits):
    assert (data.load("digits", 120, seed=1).histograms != digits.histograms).any()
    every = data.load("digits", data.largest("digits"))
    assert len(np.unique(every.histograms, axis=0)) > 1_700  # drawn without replacement


@pytest.mark.parametrize("n", [39, 1_798])
def test_a_number_that_cannot_be_drawn_is_refused(n):
    with pytest.raises(sd.InputError, match=r"between 40 and 1,797 .*'digits'.*Got"):
        data.load("digits", n)


def test_unknown_data_are_refused():
    with pytest.raises(sd.InputError, match=r"'data' must be one of digits, mnist\. Got 'cifar'"):
        data.load("cifar", 100)


@pytest.mark.parametrize(("height", "width"), [(20, 20), (20, 7), (13, 20), (1, 1), (19, 18)])
def test_ink_is_kept_and_centred(height, width):
    ink = np.random.default_rng(height * 21 + width).integers(1, 255, (height, width), np.uint8)
    image = np.zeros((28, 28), np.uint8)
    image[3 : 3 + height, 5 : 5 + width] = ink
    square = data.centred(image)
    assert square.shape == (20, 20) and square.sum(dtype=int) == ink.sum(dtype=int)
    for axis in (0, 1):
        inked = np.flatnonzero(square.any(axis=axis))
        assert 0 <= (19 - inked[-1]) - inked[0] <= 1  # an odd space is below, or on the right


@pytest.mark.data
def test_mnist_on_the_papers_grid(data_folder):
    images = data.load("mnist", 2_000)
    assert images.histograms.shape == (2_000, 400) and images.side == 20
    np.testing.assert_allclose(images.histograms.sum(axis=1), 1, atol=1e-6)
    assert set(images.labels) == set(range(10))
    assert 140 < (images.histograms > 0).sum(axis=1).mean() < 160


def _file(folder, name, content):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(gzip.compress(content, mtime=0))
    return hashlib.md5(path.read_bytes()).hexdigest()


@pytest.fixture
def small_mnist(tmp_path, monkeypatch):
    """Two files of three images, taken for MNIST's."""
    images = np.arange(3 * 28 * 28, dtype=np.uint8)
    sums = {
        mnist.IMAGES: _file(tmp_path / "mnist", mnist.IMAGES, bytes(16) + images.tobytes()),
        mnist.LABELS: _file(tmp_path / "mnist", mnist.LABELS, bytes(8) + bytes([7, 0, 4])),
    }
    monkeypatch.setattr(mnist, "_MD5", sums)
    return tmp_path


@pytest.mark.parametrize("inside", [True, False])
def test_files_are_found_in_the_folder_that_is_named(small_mnist, monkeypatch, inside):
    folder = small_mnist if inside else small_mnist / "mnist"
    monkeypatch.setenv("SINKDIST_DATA", str(folder))
    images, labels = mnist.training_set()
    assert images.shape == (3, 28, 28) and images[0, 0, :3].tolist() == [0, 1, 2]
    assert labels.tolist() == [7, 0, 4]


def test_a_damaged_file_is_refused(small_mnist, monkeypatch):
    monkeypatch.setenv("SINKDIST_DATA", str(small_mnist))
    path = small_mnist / "mnist" / mnist.IMAGES
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(sd.InputError, match=rf"{mnist.IMAGES} is not MNIST's file.*damaged"):
        mnist.training_set()


def test_the_next_mirror_is_asked(small_mnist, monkeypatch):
    pooch = pytest.importorskip("pooch")
    asked = []

    def retrieve(url, known_hash, name, *rest, **options):
        asked.append(url)
        if len(asked) == 1:
            raise ConnectionError("no way")
        assert known_hash == f"md5:{mnist._MD5[name]}"
        return str(small_mnist / "mnist" / name)

    monkeypatch.delenv("SINKDIST_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    _, labels = mnist.training_set()
    assert labels.tolist() == [7, 0, 4] and len(asked) == 3


def test_without_network_one_sentence_says_where_to_put_the_files(tmp_path, monkeypatch):
    pooch = pytest.importorskip("pooch")

    def retrieve(*arguments, **options):
        raise ConnectionError("no way")

    monkeypatch.delenv("SINKDIST_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(sd.InputError) as caught:
        data.load("mnist", 100)
    text = str(caught.value)
    assert all(word in text for word in (mnist.IMAGES, mnist.LABELS, "'mnist'", "SINKDIST_DATA"))
    assert text.count(". ") == 0
