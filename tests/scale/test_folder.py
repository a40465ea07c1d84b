"""Folders and addresses: one writer at a time, and only what is ours is looked at."""

import os

import pytest

from sinkdist.errors import InputError, InputTypeError, StoreError
from sinkdist.scale import folder


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("D.zarr", "D.zarr"), ("D.zarr/", "D.zarr"), ("a/../D.zarr", "D.zarr"),
        ("file:///tmp/D.zarr", "/tmp/D.zarr"), ("s3://bucket/D.zarr/", "s3://bucket/D.zarr"),
        ("~/D.zarr", os.path.expanduser("~/D.zarr")),
    ],
)  # fmt: skip
def test_names(path, name):
    assert folder.name_of(path) == name
    assert folder.is_url(name) == name.startswith("s3")


@pytest.mark.parametrize("path", ["", None, 3, b"D.zarr", "a\0b", "s3://"])
def test_what_is_no_path(path):
    with pytest.raises(InputTypeError, match=r"must be a path such as 'D\.zarr'"):
        folder.name_of(path)


def test_chains_of_addresses():
    with pytest.raises(InputError, match="is a chain of addresses"):
        folder.name_of("simplecache::s3://bucket/D.zarr")


@pytest.fixture(params=["folder", "memory"])
def place(request, tmp_path):
    """A place on disk, and one in an object store that lives in memory."""
    if request.param == "folder":
        yield str(tmp_path / "D.zarr")
        return
    fsspec = pytest.importorskip("fsspec")
    name = f"memory://{tmp_path.name}/D.zarr"
    yield name
    files = fsspec.filesystem("memory")
    if files.exists(f"/{tmp_path.name}"):
        files.rm(f"/{tmp_path.name}", recursive=True)


def put(name, entry, content=b"x"):
    if folder.is_url(name):
        files, root = folder._files(f"{name}/{entry}")
        files.pipe_file(root, content)
    else:
        path = os.path.join(name, entry)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def test_what_lies_at_a_place(place):
    assert folder.contents(place) == set() and folder.read_file(place, "a") is None
    put(place, "a", b"one")
    put(place, "distance/c/0/1", b"four")
    put(place, "distance/c/2/0", b"seventy")
    put(place, "distance/c/x/0")
    assert folder.contents(place) == {"a", "distance"}
    assert folder.read_file(place, "a") == b"one"
    assert dict(folder.chunk_sizes(place, "distance")) == {(0, 1): 4, (2, 0): 7}
    assert dict(folder.chunk_sizes(place, "status")) == {}
    folder.remove(place, ["distance", "b"])
    assert folder.contents(place) == {"a"}


def test_a_mark_is_left_by_who_begins_something(place):
    assert not folder.is_marked(place)
    with folder.locked(place):
        folder.mark(place)
    assert folder.is_marked(place)


def test_one_writer_at_a_time(tmp_path):
    name = str(tmp_path / "D.zarr")
    with folder.locked(name):
        with (
            pytest.raises(StoreError, match="is being written by another process"),
            folder.locked(name),
        ):
            pass
        assert folder.contents(name) == {"distance"}
    with folder.locked(name):
        pass


def test_a_file_is_in_the_way(tmp_path):
    (tmp_path / "D.zarr").write_text("mine")
    name = str(tmp_path / "D.zarr")
    assert folder.contents(name) == {""}
    with pytest.raises(InputError, match="cannot be written to"), folder.locked(name):
        pass
    assert (tmp_path / "D.zarr").read_text() == "mine"


def test_links_are_removed_and_not_what_they_lead_to(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").touch()
    (tmp_path / "D.zarr").mkdir()
    (tmp_path / "D.zarr" / "distance").symlink_to(tmp_path / "mine")
    folder.remove(str(tmp_path / "D.zarr"), ["distance"])
    assert (tmp_path / "mine" / "a").exists() and not list((tmp_path / "D.zarr").iterdir())


def test_what_was_being_written_is_tidied_away(tmp_path):
    for name in ("distance/c/0/0", "distance/c/0/1.partial", "x.partial"):
        put(str(tmp_path), name)
    folder.tidy(str(tmp_path))
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"distance/c/0/0"}
