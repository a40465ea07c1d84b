"""What a store says of itself: read back as it was, and damage is named with its file."""

import copy
import json

import pytest

from sinkdist.errors import InputError, StoreError
from sinkdist.scale import description
from sinkdist.scale.description import ATTRIBUTE, FILE

ABOUT = {
    "format": 1, "shape": [5, 5], "tile": 2, "symmetric": True, "versions": ["1.0"],
    "facts": {"parameters": {"lam": 2.0}, "fingerprints": {"X": "ab"}},
    "statuses": {"0": "converged"}, "short": [1, 2],
}  # fmt: skip
ARRAY = {
    "zarr_format": 3, "node_type": "array", "data_type": "float64", "shape": [5, 5],
    "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
}  # fmt: skip


def group(**changes):
    about = {**copy.deepcopy(ABOUT), **changes}
    return {"zarr_format": 3, "node_type": "group", "attributes": {ATTRIBUTE: about}}


@pytest.fixture
def write(tmp_path):
    """Write a description; the place."""

    def to_place(content, file=FILE):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(tmp_path)

    return to_place


def test_a_whole_description_is_read_as_it_is(write):
    name = write(group())
    assert description.read(name) == ABOUT and description.is_claimed(name)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", 0), ("format", True), ("shape", [5]), ("shape", [5, -1]), ("shape", "5x5"),
        ("shape", [5, True]), ("tile", 0), ("tile", 2.0), ("symmetric", 1), ("facts", {}),
        ("facts", {"parameters": {}, "fingerprints": []}), ("versions", "1.0"), ("versions", [1]),
        ("statuses", {"a": "b"}), ("statuses", {"0": 1}), ("short", ["1"]), ("short", None),
    ],
)  # fmt: skip
def test_entries_that_cannot_be(write, key, value):
    with pytest.raises(
        StoreError, match=rf"its file 'zarr.json' has '{key}' as .*, which cannot be"
    ):
        description.read(write(group(**{key: value})))


@pytest.mark.parametrize("key", ABOUT)
def test_entries_that_are_missing(write, key):
    content = group()
    del content["attributes"][ATTRIBUTE][key]
    name = write(content)
    with pytest.raises(StoreError, match=f"says nothing of '{key}'"):
        description.read(name)
    assert not description.is_claimed(name)


def test_a_symmetric_matrix_is_square(write):
    with pytest.raises(StoreError, match=r"calls a matrix of \[5, 4\] symmetric"):
        description.read(write(group(shape=[5, 4])))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "does not hold an object of JSON"), ("[]", "does not hold an object of JSON"),
        ("[" * 100_000, "does not hold an object of JSON"), ("", "does not hold an object"),
        ({}, "does not describe a group of Zarr 3"),
        ({"zarr_format": 3, "node_type": "group"}, "has no attribute 'sinkdist'"),
        ({"zarr_format": 3, "node_type": "group", "attributes": {ATTRIBUTE: 3}}, "no attribute"),
    ],
    ids=range(7),
)  # fmt: skip
def test_files_that_describe_nothing(write, content, what):
    name = write(content)
    with pytest.raises(StoreError, match=what):
        description.read(name)
    assert not description.is_claimed(name)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(StoreError, match=r"'zarr.json' is missing. Nothing was changed"):
        description.read(str(tmp_path))


def test_a_later_format_is_no_damage(write):
    name = write(group(format=2))
    with pytest.raises(
        InputError, match="written in format 2; this version of sinkdist reads format 1"
    ):
        description.read(name)
    assert description.is_claimed(name)


def test_arrays_that_are_cut_as_the_matrix_says(write):
    name = write(ARRAY, "distance/zarr.json")
    assert description.check_array(name, "distance", ABOUT)
    assert not description.check_array(name, "distance", {**ABOUT, "tile": 3})
    assert not description.check_array(name, "distance", {**ABOUT, "shape": [5, 6]})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"node_type": "group"}, "does not describe an array"),
        ({"data_type": "int64"}, "has a data type of 'int64'"),
        ({"codecs": [{"name": "bytes"}]}, "names other codecs"), ({"codecs": 3}, "other codecs"),
        ({"chunk_key_encoding": {"name": "v2"}}, "does not say where its chunks lie"),
    ],
)  # fmt: skip
def test_arrays_that_are_damaged(write, change, what):
    name = write({**ARRAY, **change}, "distance/zarr.json")
    with pytest.raises(StoreError, match=f"'distance/zarr.json' .*{what}"):
        description.check_array(name, "distance", ABOUT)


def test_what_differs_between_two_calls():
    there = {"parameters": {"lam": 2.0, "tol": 1e-6}, "fingerprints": {"X": "a", "ground": "b"}}
    here = {"parameters": {"lam": 3.0, "tol": 1e-6}, "fingerprints": {"X": "a", "ground": "c"}}
    assert description.differences(there, there) == []
    assert description.differences(there, here) == [
        "lam is 2.0 there and 3.0 here", "ground is not the one that was stored",
    ]  # fmt: skip


def test_long_entries_are_cut(write):
    with pytest.raises(StoreError) as caught:
        description.read(write(group(short="x" * 5000)))
    assert len(str(caught.value)) < 400
