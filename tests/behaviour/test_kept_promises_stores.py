"""Stores that were damaged, and places with odd names: a sentence, and what is ours is replaced."""

import json
import uuid
from pathlib import Path

import numpy as np
import pytest
import zarr

import sinkdist as sd
from tests.scale.test_store import ARRAYS, COSTS, Enough, X, contents, stop_after

FILES = ("zarr.json", *(f"{name}/zarr.json" for name in ARRAYS))


def call(out, **options):
    """The call that made the stores of this file."""
    return sd.pairwise(X, ground=COSTS, out=out, **({"lam": 5} | options))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a finished store consists of, and the matrix in it."""
    out = tmp_path_factory.mktemp("whole") / "D.zarr"
    return out, call(out).to_numpy()


@pytest.fixture
def out(whole, tmp_path):
    """A copy of the finished store."""
    place = tmp_path / "D.zarr"
    for name, content in contents(whole[0]).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content[0])
    return place


# ------------------------------------------------------------------- files that are no description

RAW = {
    "empty": b"",
    "a list": b"[]",
    "null": b"null",
    "a number": b"17",
    "a word": b'"zarr"',
    "an empty object": b"{}",
    "garbage": bytes(range(256)) * 3,
    "zeros": bytes(500),
    "UTF-16": '{"zarr_format": 3}'.encode("utf-16"),
    "nested lists": b"[" * 100_000,
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a huge number": b'{"zarr_format": ' + b"9" * 10_000 + b"}",
    "of Zarr 2": b'{"zarr_format": 2, "node_type": "group", "attributes": {}}',
    "half": None,
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", RAW)
def test_a_file_that_is_no_description(out, whole, file, damage):
    raw = RAW[damage]
    content = (out / file).read_bytes()
    (out / file).write_bytes(content[: len(content) // 2] if raw is None else raw)
    check_damage(out, whole[1], file)


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_missing(out, whole, file):
    (out / file).unlink()
    check_damage(out, whole[1], file)


@pytest.mark.parametrize("file", FILES)
def test_a_folder_in_place_of_a_file(out, whole, file):
    (out / file).unlink()
    (out / file).mkdir()
    check_damage(out, whole[1], file)


def check_damage(out, truth, file):
    """Readers and writers say which file it is and touch nothing; overwrite begins anew."""
    before = contents(out)
    for use in (sd.open_matrix, call):
        with pytest.raises(sd.StoreError) as caught:
            use(out)
        said = str(caught.value)
        assert type(caught.value) is sd.StoreError and said.startswith(f"{str(out)!r} is damaged: ")
        assert f"'{file}'" in said and "overwrite=True" in said and len(said) < 400 + len(str(out))
        assert contents(out) == before
    np.testing.assert_array_equal(call(out, overwrite=True).to_numpy(), truth)
    np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), truth)
    assert not list(out.rglob("*.partial"))


# ------------------------------------------------------------ descriptions that say what cannot be


def edited(file, path, value):
    """Set an entry deep inside a description; KeyError as the value removes it."""
    content = json.loads(file.read_text())
    *way, last = path
    inner = content
    for step in way:
        inner = inner[step]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    file.write_text(json.dumps(content))


KINDS = [KeyError, None, [], {}, "word", -1, 0.5, True]
OWN = ("attributes", "sinkdist")
ABOUT = [
    (("zarr_format",), [KeyError, None, 2, "3", []]),
    (("node_type",), [KeyError, None, "array", 3, {}]),
    (("attributes",), [KeyError, None, [], 3, {}, {"sinkdist": []}]),
    (OWN, KINDS),
    ((*OWN, "format"), [KeyError, None, "1", [1], 0, -1, 1.5, True]),
    ((*OWN, "shape"), [*KINDS, [40], [40, 40, 40], [40, "40"], [40, -40], [40, 40.0], [True, 40],
                       [40, 41], [10**18, 10**18], [40, None], "40"]),
    ((*OWN, "tile"), [KeyError, None, 0, -16, "16", 16.0, [], [16, 16], True, 8, 10**30]),
    ((*OWN, "symmetric"), [KeyError, None, 1, "true", [], False]),
    ((*OWN, "facts"), [KeyError, None, {}, [], "word", 3]),
    ((*OWN, "facts", "parameters"), [KeyError, None, [], "word", 3]),
    ((*OWN, "facts", "fingerprints"), [KeyError, None, [], "word", 3]),
    ((*OWN, "versions"), [KeyError, None, {}, "1", [1], [None], 3]),
    ((*OWN, "statuses"), [KeyError, None, [], "word", {"0": 3}, {"zero": "x"}, 3]),
    ((*OWN, "short"), [KeyError, None, {}, "word", ["1"], [[]], 3, [True]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [pytest.param(p, v, id=f"{p[-1]}={v!r}"[:40]) for p, values in ABOUT for v in values],
)
def test_a_description_of_the_matrix_that_cannot_be(out, whole, path, value):
    edited(out / "zarr.json", path, value)
    if path[-1] == "symmetric" and value is False:  # possible, but not of this call
        with pytest.raises(sd.StoreError, match=r"'zarr\.json'"):
            call(out)
        assert np.array_equal(call(out, overwrite=True).to_numpy(), whole[1])
        return
    check_damage(out, whole[1], "zarr.json")


ARRAY = [
    (("zarr_format",), [KeyError, None, 2, "3", []]),
    (("node_type",), [KeyError, None, "group", 3]),
    (("shape",), [*KINDS, [40], [40, 41], [40, "40"], [10**18, 10**18], [40, -40]]),
    (("data_type",), [KeyError, None, 3, [], {}, "word", "float16", "uint8", "complex128"]),
    (("chunk_grid",), [KeyError, None, [], {}, "regular"]),
    (("chunk_grid", "configuration", "chunk_shape"), [KeyError, None, [], [0, 0], [16], [16, 8],
                                                     [-16, -16], ["16", "16"], 16]),
    (("chunk_key_encoding",), [KeyError, None, [], {}, "word", {"name": "v2"}]),
    (("codecs",), [KeyError, None, [], {}, ["gzip"], [{"name": "gzip"}], [{}], "bytes"]),
    (("fill_value",), [KeyError, [], {}, "word"]),
]  # fmt: skip


CASES = [(path, value) for path, values in ARRAY for value in values]


@pytest.mark.parametrize(
    ("array", "path", "value"),
    [
        pytest.param(ARRAYS[k % 3], path, value, id=f"{ARRAYS[k % 3]} {path[-1]}={value!r}"[:50])
        for k, (path, value) in enumerate(CASES)
    ],
)
def test_a_description_of_an_array_that_cannot_be(out, whole, array, path, value):
    edited(out / array / "zarr.json", path, value)
    check_damage(out, whole[1], f"{array}/zarr.json")


def test_distances_of_another_dtype_than_asked_for(out, whole):
    edited(out / "distance" / "zarr.json", ("data_type",), "float32")
    with pytest.raises(sd.StoreError, match=r"'distance/zarr\.json'"):
        call(out)
    np.testing.assert_array_equal(call(out, overwrite=True).to_numpy(), whole[1])


def test_what_others_add_is_no_damage(out, whole):
    """Other programs may leave attributes of their own, and gather all descriptions in one."""
    edited(out / "zarr.json", ("attributes", "mine"), [1, 2])
    edited(out / "distance" / "zarr.json", ("attributes", "mine"), {"a": 1})
    with pytest.warns(UserWarning, match="Consolidated"):
        zarr.consolidate_metadata(str(out))
    np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), whole[1])
    before = contents(out)
    assert call(out).is_complete and contents(out) == before


def test_damage_before_the_first_tile_loses_nothing(tmp_path, whole):
    """A store that was killed while it was made is begun anew without a word."""
    out = tmp_path / "D.zarr"
    with pytest.raises(Enough):
        call(out, workers=1, progress=stop_after(1))
    for chunk in out.glob("*/c/*/*"):
        chunk.unlink()
    (out / "zarr.json").write_bytes(b"")
    np.testing.assert_array_equal(call(out).to_numpy(), whole[1])


def test_a_name_for_every_status(out):
    """A code without a name is still counted."""
    edited(out / "zarr.json", (*OWN, "statuses"), {})
    assert sd.open_matrix(out).summary().endings.keys() == {"status 0"}


# ---------------------------------------------------------------------------------- what is foreign


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("damage", RAW)
def test_damaged_descriptions_of_others_are_untouched(tmp_path, damage, overwrite):
    out = tmp_path / "D.zarr"
    zarr.open_group(str(out), mode="w").create_array("distance", shape=(4, 4), dtype="f8")[:] = 1.0
    (out / "zarr.json").write_bytes(RAW[damage] or b'{"zarr_for')
    before = contents(tmp_path)
    with pytest.raises(sd.InputError, match="not a matrix stored by sinkdist"):
        call(out, overwrite=overwrite)
    with pytest.raises(sd.InputError, match="not a matrix stored by sinkdist"):
        sd.open_matrix(out)
    assert contents(tmp_path) == before


# ----------------------------------------------------------------------------------- object stores


@pytest.fixture
def address():
    fsspec = pytest.importorskip("fsspec")
    name = f"memory://{uuid.uuid4().hex}/D.zarr"
    yield name
    files = fsspec.filesystem("memory")
    if files.exists(name.rsplit("/", 1)[0]):
        files.rm(name.rsplit("/", 1)[0], recursive=True)


def objects(address):
    import fsspec

    files = fsspec.filesystem("memory")
    return {name: files.cat(name) for name in files.find(address)}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("raw", [b"", b"[]", b"[" * 100_000, b"\xff\xfe\x00", b"{}"], ids=range(5))
def test_damage_in_an_object_store(address, whole, file, raw):
    import fsspec

    call(address)
    fsspec.filesystem("memory").pipe(f"{address}/{file}", raw)
    before = objects(address)
    for use in (sd.open_matrix, call):
        with pytest.raises(sd.StoreError, match=f"is damaged: its file '{file}'"):
            use(address)
    assert objects(address) == before
    np.testing.assert_array_equal(call(address, overwrite=True).to_numpy(), whole[1])


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("filled", [False, True])
def test_zarr_groups_of_others_in_an_object_store_are_untouched(address, filled, overwrite):
    group = zarr.open_group(address, mode="w")
    group.attrs["mine"] = True
    array = group.create_array("distance", shape=(4, 4), dtype="f8")
    if filled:
        array[:] = 1.0
    before = objects(address)
    with pytest.raises(sd.InputError, match="not a matrix stored by sinkdist"):
        call(address, overwrite=overwrite)
    assert objects(address) == before


# ---------------------------------------------------------------------------- from the command line


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `sinkdist` with arguments; gives the exit code and stderr."""
    from sinkdist.cli import main

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["sinkdist", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, capsys.readouterr().err

    return run


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("raw", [b"[]", b"null", b"[" * 100_000, b"\xff\x00"], ids=range(4))
def test_damage_on_the_command_line(command, out, tmp_path, file, raw):
    (out / file).write_bytes(raw)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "M.npy", COSTS)
    again = ("pairwise", tmp_path / "X.npy", "--ground", tmp_path / "M.npy", "--lam", 5)
    for arguments in (
        ("info", out),
        ("export", out, tmp_path / "D.npy"),
        (*again, "--out", out, "--no-progress"),
    ):
        code, err = command(*arguments)
        assert code == 2 and err.count("\n") == 1
        assert err.startswith(f"Error: '{out}' is damaged: its file '{file}'")
        assert "--overwrite" in err and not (tmp_path / "D.npy").exists()


# ----------------------------------------------------------------------------------- names with ::


NAMES = ["a::b.zarr", "zip::D.zarr", "D::", "::D.zarr", "simplecache::D.zarr", "D.zarr::zip"]


@pytest.mark.parametrize("name", NAMES)
def test_colons_in_a_folder(tmp_path, monkeypatch, whole, name):
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(call(name).to_numpy(), whole[1])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    np.testing.assert_array_equal(sd.open_matrix(name).to_numpy(), whole[1])
    np.testing.assert_array_equal(sd.open_matrix(Path(name)).to_numpy(), whole[1])
    before = contents(tmp_path)
    assert call(tmp_path / name).is_complete and contents(tmp_path) == before
    assert call(f"file://{tmp_path / name}").is_complete and contents(tmp_path) == before


@pytest.mark.parametrize(
    "name",
    [
        "zip::file://{}/D.zip", "simplecache::memory://D.zarr", "zip://D.zarr::{}/D.zip",
        "memory://a::b.zarr", "filecache::nosuch://x/D.zarr", "a://::", "dir::file://{}/D",
    ],
)  # fmt: skip
def test_chained_addresses(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    name = name.format(tmp_path)
    for use in (call, sd.open_matrix):
        with pytest.raises(sd.InputError) as caught:
            use(name)
        assert repr(name)[1:-1].rstrip("/") in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["://", "memory://", "s3:///"])
def test_addresses_of_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for use in (call, sd.open_matrix):
        with pytest.raises(sd.InputTypeError, match="must be a path such as"):
            use(name)
    assert list(tmp_path.iterdir()) == []
