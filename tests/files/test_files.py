"""Files of histograms and costs: every kind is read, and what cannot be is told in a sentence."""

import contextlib
import io
import os
import pickle
import struct
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from sinkdist.errors import InputError, MissingExtraError
from sinkdist.files import WRITTEN, check_target, read, read_ground, write

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

X = np.array([[0.5, 0.25, 0.25], [0.125, 0.875, 0.0]])
COUNTS = np.array([[2**40, 3, 0], [1, 1, 2**33]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, so that messages show bare names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(name, content):
    """Write text or bytes; gives the name."""
    with open(name, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return name


def complaint(name):
    """The sentence on a file that cannot be read."""
    with pytest.raises(InputError) as caught:
        read(name)
    return str(caught.value)


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self):
        return open, ("exploded", "w")


# --- NumPy's own files


@pytest.mark.parametrize("array", [X, X.astype(np.float32), COUNTS, X[0], np.asfortranarray(X)])
def test_npy(folder, array):
    np.save("X.npy", array)
    back = read("X.npy")
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_npy_is_mapped_and_read_only(folder):
    np.save("X.npy", X)
    back = read("X.npy")
    assert isinstance(back, np.memmap)
    assert not back.flags.writeable


def test_npy_of_objects_is_never_unpickled(folder):
    np.save("X.npy", np.array([Bomb()], dtype=object))
    assert complaint("X.npy") == (
        "'X.npy' holds Python objects, which are never read, since unpickling can run any code: "
        "save it as an array of numbers."
    )
    assert not os.path.exists("exploded")


def test_pickles_under_other_names_are_never_unpickled(folder):
    content = pickle.dumps(Bomb())
    saved("X.npy", content)
    saved("X.npz", content)
    assert complaint("X.npy") == "'X.npy' is not a NumPy file, though its name ends in .npy."
    assert complaint("X.npz") == (
        "'X.npz' is damaged or not a NumPy archive, though its name ends in .npz."
    )
    assert not os.path.exists("exploded")


def test_npy_cut_short(folder):
    np.save("X.npy", X)
    whole = Path("X.npy").read_bytes()
    for length in (8, 40, len(whole) - 1):
        assert complaint(saved("Y.npy", whole[:length])) == "'Y.npy' is damaged or cut short."


def test_npz_with_one_array(folder):
    np.savez("X.npz", anything=X)
    np.testing.assert_array_equal(read("X.npz"), X)
    np.testing.assert_array_equal(read("X.npz:anything"), X)


def test_npz_with_several_arrays(folder):
    np.savez_compressed("X.npz", train=X, test=X[:1])
    np.testing.assert_array_equal(read("X.npz:test"), X[:1])
    assert complaint("X.npz") == (
        "'X.npz' holds 2 arrays: name one of them, as in 'X.npz:train'. There are train, test."
    )
    assert complaint("X.npz:val") == ("'X.npz' has no array called 'val'; it holds train, test.")


def test_npz_of_objects_is_never_unpickled(folder):
    np.savez("X.npz", a=np.array([Bomb()], dtype=object), b=X)
    assert complaint("X.npz:a").startswith("'X.npz:a' holds Python objects, which are never read")
    np.testing.assert_array_equal(read("X.npz:b"), X)
    assert not os.path.exists("exploded")


def test_npz_without_arrays(folder):
    np.savez("X.npz")
    assert complaint("X.npz") == "'X.npz' holds no arrays."


def test_archive_of_other_things(folder):
    with zipfile.ZipFile("X.npz", "w") as archive:
        archive.writestr("X.csv", "1,2\n")
    assert complaint("X.npz") == "'X.npz' is not a NumPy archive: 'X.csv' in it is no array."


def test_npz_cut_short(folder):
    np.savez("X.npz", X=np.arange(10_000.0))
    whole = Path("X.npz").read_bytes()
    with_wrong_bytes = whole[:500] + b"\0" * 500 + whole[1000:]
    assert "is damaged" in complaint(saved("Y.npz", whole[:-30]))
    assert complaint(saved("Y.npz", with_wrong_bytes)) == "'Y.npz' is damaged or cut short."


# --- sparse matrices


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse(folder, form, make):
    scipy.sparse.save_npz("X.npz", make(X).asformat(form))
    back = read("X.npz")
    assert back.format == "csr"
    np.testing.assert_array_equal(back.toarray(), X)


def test_sparse_of_bare_parts(folder):
    rows = scipy.sparse.csr_array(X)
    np.savez("X.npz", data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape)
    np.testing.assert_array_equal(read("X.npz").toarray(), X)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [("indices", [0, 1, 2, 0, 99]), ("indices", [0, 1, 2, 0, -7]), ("indptr", [0, 3, 500])],
)
def test_sparse_with_wrong_indices(folder, part, wrong):
    rows = scipy.sparse.csr_array(X)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez("X.npz", **(parts | {part: np.array(wrong)}))
    assert complaint("X.npz").startswith("'X.npz' holds no valid sparse matrix: ")


def test_sparse_of_an_unknown_format(folder):
    np.savez("X.npz", data=X, shape=X.shape, format=b"new")
    assert complaint("X.npz") == "'X.npz' holds a sparse matrix of the unknown format 'new'."


# --- files that claim more than they hold


@contextlib.contextmanager
def frugal(most=50 * 2**20):
    """Fail where more memory was taken than a header needs."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def npy(shape, content=b"", dtype="<f8", header=None):
    """The bytes of a .npy file whose header says anything."""
    text = header or repr({"descr": dtype, "fortran_order": False, "shape": shape})
    text = text.encode("latin1") + b"\n"
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + content


def archive(name, method=zipfile.ZIP_STORED, **members):
    """An archive of .npy files."""
    with zipfile.ZipFile(name, "w", method) as file:
        for key, content in members.items():
            file.writestr(f"{key}.npy", content)
    return name


BILLION = 10**9
COORDINATES = {"row": np.array([0, 5]), "col": np.array([1, 7])}
WIDE = {
    "coo": COORDINATES | {"data": np.ones(2)},
    "dia": {"data": np.ones((1, 3)), "offsets": np.array([0])},
    "csc": {"data": np.ones(2), "indices": np.array([1, 2]), "indptr": np.array([0, 2])},
    "bsr": {"data": np.ones((1, 1, 1)), "indices": np.array([0]), "indptr": np.array([0, 1])},
}


@pytest.mark.parametrize("form", WIDE)
@pytest.mark.parametrize("sides", [(BILLION, BILLION), (2**62, 2**62), (BILLION, 1)])
def test_sparse_of_a_billion_rows_is_refused_by_its_shape(folder, form, sides):
    np.savez("X.npz", shape=np.array(sides), format=form.encode(), **WIDE[form])
    with frugal():
        sentence = complaint("X.npz")
    assert sentence.startswith(f"'X.npz' holds a sparse matrix of {sides[0]:,} x {sides[1]:,} with")
    assert sentence.endswith("nearly all of its rows are empty. Leave those out.")


@pytest.mark.parametrize("sides", [(BILLION, BILLION), (2**62, 3), (-1, 3), (3,), (3, 3, 3), ()])
def test_rows_of_a_shape_that_cannot_be(folder, sides):
    rows = scipy.sparse.csr_array(X)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    np.savez("X.npz", shape=np.array(sides, np.int64), **parts)
    with frugal():
        assert complaint("X.npz").startswith("'X.npz' holds no valid sparse matrix: ")


def test_empty_rows_and_many_columns_are_welcome(folder):
    thin = scipy.sparse.coo_array(([1.0], ([3], [BILLION - 1])), shape=(1000, BILLION))
    scipy.sparse.save_npz("X.npz", thin)
    with frugal():
        back = read("X.npz")
    assert back.shape == (1000, BILLION) and back[3, BILLION - 1] == 1.0


CLAIMS = {
    "terabytes": npy((10**12,)),
    "a square of a billion": npy((BILLION, BILLION), bytes(80)),
    "beyond all integers": npy((10**30, 10**30)),
    "one entry too many": npy((11,), bytes(80)),
    "a negative side": npy((-1, 3), bytes(80)),
    "negative sides": npy((-(2**31), -(2**31)), bytes(80)),
    "entries of no bytes": npy((10**15,), dtype="|V0"),
    "huge entries": npy((10**6,), dtype="|V2000000000"),
    "words": npy((10**12,), dtype="<U8"),
    "hundred axes": npy((1,) * 100, bytes(8)),
    "no shape": npy((), header="{'descr': '<f8', 'fortran_order': False}"),
    "an endless header": npy((), header="{" + " " * 10**6),
    "a header of gigabytes": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "code": npy((), header="__import__('os').system('touch exploded')"),
    "nested": npy((), header="(" * 5000),
    "nested signs": npy((), header="-" * 9000 + "1"),
    "another version": b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16,
    "magic alone": b"\x93NUMPY",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_headers_that_claim_too_much(folder, claim):
    with frugal():
        assert complaint(saved("X.npy", CLAIMS[claim])) == "'X.npy' is damaged or cut short."
        sentence = complaint(archive("X.npz", X=CLAIMS[claim]))
        assert sentence == "'X.npz' is damaged or cut short."
        parts = dict.fromkeys(("data", "indices", "indptr", "shape"), CLAIMS[claim])
        assert complaint(archive("S.npz", **parts)) == "'S.npz' is damaged or cut short."
    assert not os.path.exists("exploded")


def test_an_archive_that_claims_more_than_it_can_hold(folder):
    """The directory of the archive agrees with the header; only the bytes are not there."""
    name = archive("X.npz", zipfile.ZIP_DEFLATED, X=npy((10**12,), bytes(1000)))
    raw = bytearray(Path(name).read_bytes())
    entry = raw.index(b"PK\x01\x02")
    raw[entry + 24 : entry + 28] = struct.pack("<I", 2**32 - 2)  # the size when it is expanded
    with frugal():
        assert complaint(saved("X.npz", bytes(raw))) == "'X.npz' is damaged or cut short."


def test_an_archive_that_does_not_fit_in_memory(folder, monkeypatch):
    """A small file of many zeros: nothing of it is expanded."""
    np.savez_compressed("X.npz", X=np.zeros(10**7))
    monkeypatch.setattr("sinkdist.scale.memory.available", lambda: 60 * 10**6)
    assert os.path.getsize("X.npz") < 10**6
    with frugal(10 * 2**20):
        assert complaint("X.npz") == (
            "'X.npz' takes 80 MB in memory, and 45 MB are there for it. Save it as .npy, of which "
            "only what is needed is read."
        )
    np.save("X.npy", np.zeros(10**7))
    assert read("X.npy").shape == (10**7,)


def test_other_things_in_an_archive_are_not_expanded(folder):
    with zipfile.ZipFile("X.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("zeros", bytes(2 * 10**8))
    with frugal():
        assert complaint("X.npz") == "'X.npz' is not a NumPy archive: 'zeros' in it is no array."


def test_a_parquet_file_that_does_not_fit_in_memory(folder, monkeypatch):
    parquet.write_table(pa.table({"a": np.zeros(10**6), "b": np.zeros(10**6)}), "X.parquet")
    assert os.path.getsize("X.parquet") < 10**5
    monkeypatch.setattr("sinkdist.scale.memory.available", lambda: 10**7)
    assert complaint("X.parquet").startswith("'X.parquet' takes 16 MB in memory, and 7.5 MB are")


# --- text


@pytest.mark.parametrize(
    "text",
    [
        "0.5,0.25,0.25\n0.125,0.875,0\n",
        "0.5,0.25,0.25\n0.125,0.875,0",
        "0.5, 0.25, 2.5e-1\r\n.125, +0.875, 0\r\n",
        "red,green,blue\n0.5,0.25,0.25\n0.125,0.875,0\n",
        '"a,b",green,"# blue"\n\n"0.5",0.25,0.25\n\n0.125,0.875,0\n\n',
        ",red,green,blue\nfirst,0.5,0.25,0.25\nsecond,0.125,0.875,0\n",
        ",0,1,2\n0,0.5,0.25,0.25\n1,0.125,0.875,0\n",
        "\ufeffred,green,blue\n0.5,0.25,0.25\n0.125,0.875,0\n",
    ],
)
def test_csv(folder, text):
    back = read(saved("X.csv", text))
    assert back.dtype == np.float64
    np.testing.assert_array_equal(back, X)


def test_csv_of_pandas(folder):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(X).to_csv("X.csv")
    np.testing.assert_array_equal(read("X.csv"), X)
    pandas.DataFrame(X, columns=list("abc")).to_csv("X.csv", index=False)
    np.testing.assert_array_equal(read("X.csv"), X)


def test_csv_of_one_line_and_of_one_column(folder):
    assert read(saved("X.csv", "0.5,0.5\n")).shape == (1, 2)
    assert read(saved("X.csv", "0.5\n0.5\n")).shape == (2, 1)
    assert read(saved("X.csv", "0,1\n1,0\n")).shape == (2, 2)  # not a heading


def test_csv_of_large_counts(folder):
    np.savetxt("X.csv", COUNTS, fmt="%d", delimiter=",")
    np.testing.assert_array_equal(read("X.csv"), COUNTS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2,3\n4,5\n", "Line 2 of 'X.csv' has 2 cells, but the first has 3."),
        ("1,2\n3,4\n5,6,7\n", "Line 3 of 'X.csv' has 3 cells, but the first has 2."),
        ("a,b\n1,2\n\n3\n", "Line 4 of 'X.csv' has 1 cell, but the first has 2."),
        ("a,b\n1\n3\n", "Line 2 of 'X.csv' has 1 cell, but the first has 2."),
        (",a\nx,1\ny,2,3\n", "Line 3 of 'X.csv' has 3 cells, but the first has 2."),
        ("1,2\n3,x\n", "Column 2 in line 2 of 'X.csv' is 'x', which is no number."),
        (
            "id,a\nx,1\n",
            "Column 1 in line 2 of 'X.csv' is 'x', which is no number: "
            "pass --label-column 1 if it holds labels.",
        ),
        (
            ",a\nx,y\n",
            "Column 2 in line 2 of 'X.csv' is 'y', which is no number: "
            "pass --label-column 2 if it holds labels.",
        ),
        ("1,2\n3,1_000\n", "Column 2 in line 2 of 'X.csv' is '1_000', which is no number."),
        ("1,2\n,4\n", "Column 1 in line 2 of 'X.csv' is empty."),
        ("1,,2\n3,4,5\n", "Column 2 in the first line of 'X.csv' is empty."),
        (",0.5\n0.5,0.5\n", "Column 1 in the first line of 'X.csv' is empty."),
        ("1,x\n3,4\n", "Column 2 in the first line of 'X.csv' is 'x', which is no number."),
        (
            "a;b\n1;2\n",
            "Column 1 in line 2 of 'X.csv' is '1;2', which is no number: "
            "cells must be separated by commas.",
        ),
        (
            "1;2\n",
            "'X.csv' holds no numbers, only a line that is taken for a heading: "
            "cells must be separated by commas.",
        ),
        (
            "0,1,2,3\n0.25,0.25,0.25,0.25\n",
            "The first line of 'X.csv' counts 0, 1, 2, ...: remove it if it is a heading, "
            "or save the file as .npy if it is data.",
        ),
        ("\n \n", "'X.csv' holds no numbers."),
        ("", "'X.csv' is an empty file."),
        (b"\xff\xfe\x00\x01", "'X.csv' is not text in UTF-8, though its name ends in .csv."),
    ],
)
def test_csv_with_mistakes(folder, text, sentence):
    assert complaint(saved("X.csv", text)) == sentence


def test_a_long_cell_is_cut(folder):
    sentence = complaint(saved("X.csv", "1,2\n3," + "x" * 5000 + "\n"))
    assert len(sentence) < 120 and "xxx...', which is no number" in sentence


# --- Parquet


def test_parquet(folder):
    parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), "X.parquet")
    np.testing.assert_array_equal(read("X.parquet"), X)


def test_parquet_keeps_single_precision(folder):
    columns = X.astype(np.float32).T.copy()
    parquet.write_table(pa.table(dict(zip("abc", columns, strict=True))), "X.parquet")
    assert read("X.parquet").dtype == np.float32


@pytest.mark.parametrize("index", [None, ["first", "second"], [7, 9]])
def test_parquet_of_pandas(folder, index):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(X, columns=list("abc"), index=index).to_parquet("X.parquet")
    np.testing.assert_array_equal(read("X.parquet"), X)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float64()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 3)]
)
def test_parquet_of_lists(folder, kind):
    parquet.write_table(pa.table({"h": pa.array(X.tolist(), kind)}), "X.parquet")
    np.testing.assert_array_equal(read("X.parquet"), X)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"a": [1.0], "b": ["x"]}, "Column 'b' of 'X.parquet' holds values of type string, "
         "not numbers: pass --label-column b if it holds labels."),
        ({"a": [1.0, None, None]}, "Column 'a' of 'X.parquet' has 2 missing values."),
        ({"a": [[1.0, 2.0], [3.0]]}, "Row 1 of 'X.parquet' has 1 number, but the first has 2."),
        ({"a": [[1.0], None]}, "'X.parquet' has 1 rows without a list."),
        ({}, "'X.parquet' holds no numbers: its shape is (0, 0)."),
    ],
)  # fmt: skip
def test_parquet_with_mistakes(folder, columns, sentence):
    parquet.write_table(pa.table(columns), "X.parquet")
    assert complaint("X.parquet") == sentence


def test_parquet_that_is_none(folder):
    sentence = "'X.parquet' is damaged or not a Parquet file."
    assert complaint(saved("X.parquet", "PAR1 and nothing else")) == sentence


def test_parquet_needs_an_extra(folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "sinkdist.files.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sinkdist\[parquet\]"'):
        read(saved("X.parquet", "PAR1"))
    with pytest.raises(MissingExtraError, match=r'pip install "sinkdist\[parquet\]"'):
        check_target("D.parquet", WRITTEN, overwrite=False)


# --- any file


def test_files_that_are_not_there(folder):
    assert complaint("X.npy") == "'X.npy' cannot be read: No such file or directory."
    os.mkdir("X.csv")
    assert complaint("X.csv") == "'X.csv' cannot be read: Is a directory."


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read every file")
def test_files_that_are_locked(folder):
    os.chmod(saved("X.npy", b"content"), 0)
    assert complaint("X.npy") == "'X.npy' cannot be read: Permission denied."


@pytest.mark.parametrize("name", ["X.txt", "X", "X.npy.gz", "X.npy:key"])
def test_unknown_endings(folder, name):
    assert complaint(name) == (
        f"'{name}' cannot be read: its name must end in .npy, .npz, .csv, .parquet, .png or .tif."
    )


@pytest.mark.parametrize("name", ["X.npy", "X.npz", "X.csv", "X.parquet"])
def test_empty_files(folder, name):
    assert complaint(saved(name, b"")) == f"'{name}' is an empty file."


def test_arrays_without_numbers(folder):
    np.save("X.npy", np.empty((0, 400)))
    assert complaint("X.npy") == "'X.npy' holds no numbers: its shape is (0, 400)."


def test_endings_in_capitals(folder):
    np.save("X", X)
    os.rename("X.npy", "X.NPY")
    np.testing.assert_array_equal(read("X.NPY"), X)


def test_damaged_bytes_always_give_a_sentence(folder):
    """Bytes are changed all over small files: read or refused, but nothing else happens."""
    rng = np.random.default_rng(0)
    np.save("a.npy", X)
    np.savez("a.npz", X=X)
    scipy.sparse.save_npz("s.npz", scipy.sparse.csr_array(X), compressed=False)
    sentences = []
    for name in ("a.npy", "a.npz", "s.npz"):
        whole = np.fromfile(name, np.uint8)
        for _ in range(150):
            torn = whole.copy()
            torn[rng.integers(len(torn), size=3)] = rng.integers(256, size=3)
            torn.tofile("torn" + name[-4:])
            try:
                read("torn" + name[-4:])
            except InputError as error:
                sentences.append(str(error))
    assert len(sentences) > 50
    assert all(sentence.startswith("'torn.np") for sentence in sentences)


# --- grounds


def test_ground_from_files(folder):
    costs = np.array([[0.0, 2.0], [2.0, 0.0]])
    np.save("M.npy", costs)
    np.savez("M.npz", a=costs, b=X)
    saved("M.csv", "red,green\n0,2\n2,0\n")
    for name in ("M.npy", "M.npz:a", "M.csv"):
        np.testing.assert_array_equal(read_ground(name).matrix, costs)


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("grid:3x4", "euclidean grid 3 x 4"),
        ("grid:100", "euclidean grid 100"),
        ("grid:2x3x4:cityblock", "cityblock grid 2 x 3 x 4"),
        ("grid:3X3:sqeuclidean", "sqeuclidean grid 3 x 3"),
    ],
)
def test_grids(description, shown):
    assert shown in repr(read_ground(description))


def test_points(folder):
    Z = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.save("Z.npy", Z)
    np.savez("Z.npz", places=Z)
    np.savez("two.npz", cosine=Z, b=X)
    os.mkdir("a.csv:b")
    np.save("a.csv:b/Z.npy", Z)
    for description, cost in {
        "points:Z.npy": 5.0,
        "points:Z.npy:cityblock": 7.0,
        "points:Z.npz": 5.0,
        "points:Z.npz:cityblock": 7.0,
        "points:Z.npz:places": 5.0,
        "points:Z.npz:places:sqeuclidean": 25.0,
        "points:two.npz:cosine:chebyshev": 4.0,
        "points:a.csv:b/Z.npy": 5.0,
    }.items():
        assert read_ground(description).matrix[0, 1] == cost


def test_points_on_a_line_from_a_column(folder):
    saved("Z.csv", "place\n0\n1\n3\n")
    np.testing.assert_array_equal(read_ground("points:Z.csv").matrix[0], [0.0, 1.0, 3.0])


def test_graph(folder):
    edges = scipy.sparse.coo_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    scipy.sparse.save_npz("A.npz", edges)
    np.testing.assert_array_equal(read_ground("graph:A.npz").matrix[0], [0.0, 1.0, 3.0])


FORMS = (
    "give a file with a matrix of costs (.npy, .npz, .csv or .parquet), grid:HxW[:metric] such as "
    "grid:20x20, points:FILE[:metric] such as points:colours.csv, or graph:FILE such as "
    "graph:edges.npz."
)


@pytest.mark.parametrize(
    "description",
    ["", "grid", "grid:", "grid:20by20", "grid:20x", "grid:-1x2", "gird:20x20", "grid:2x2:a:b",
     "points:", "graph:", "euclidean", "points:Z.npy:places:euclidean"],
)  # fmt: skip
def test_descriptions_that_are_none(folder, description):
    with pytest.raises(InputError) as caught:
        read_ground(description)
    assert str(caught.value) == f"'{description}' describes no ground: {FORMS}"


def test_grounds_with_mistakes(folder):
    np.save("M.npy", np.arange(3.0))
    np.save("Z.npy", X)
    scipy.sparse.save_npz("S.npz", scipy.sparse.csr_array(X))
    for description, sentence in {
        "M.npy": "'M.npy' must hold a matrix of costs. Got an array of shape (3,) instead: "
        "write points:M.npy if it holds the places of bins.",
        "S.npz": "'S.npz' is sparse, but costs must be a dense matrix: "
        "write graph:S.npz if it holds the lengths of edges.",
        "points:S.npz": "'S.npz' is sparse, but points must be a dense array.",
        "points:none.npy": "'none.npy' cannot be read: No such file or directory.",
        "points:Z.txt": "'Z.txt' cannot be read: its name must end in .npy, .npz, .csv, "
        ".parquet, .png or .tif.",
        "grid:0x3": "The sides of a grid must be positive. Got 0 instead.",
        "grid:3x3:cosine": "The 'metric' option must be one of 'euclidean', 'sqeuclidean', "
        "'cityblock'. Got 'cosine' instead.",
    }.items():
        with pytest.raises(InputError) as caught:
            read_ground(description)
        assert str(caught.value) == sentence
    with pytest.raises(InputError, match="cdist cannot use metric='cosin'"):
        read_ground("points:Z.npy:cosin")


# --- writing


D = np.random.default_rng(1).random((7, 5))


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [None, 1, 3, 7])
def test_what_is_written_is_read_back(folder, ending, dtype, rows):
    matrix = D.astype(dtype)
    write(f"D{ending}", matrix, rows=rows)
    np.testing.assert_array_equal(np.asarray(read(f"D{ending}"), dtype), matrix)
    assert os.listdir() == [f"D{ending}"]


def test_npy_is_what_numpy_writes(folder):
    write("D.npy", D)
    buffer = io.BytesIO()
    np.save(buffer, D)
    assert Path("D.npy").read_bytes() == buffer.getvalue()


@pytest.mark.parametrize("ending", WRITTEN)
def test_a_failure_leaves_the_old_file(folder, ending):
    class Torn:
        shape, dtype = D.shape, D.dtype

        def __getitem__(self, rows):
            if rows.start > 2:
                raise KeyboardInterrupt
            return D[rows]

    write(f"D{ending}", D)
    before = read(f"D{ending}").copy()
    with pytest.raises(KeyboardInterrupt):
        write(f"D{ending}", Torn(), rows=2)
    assert os.listdir() == [f"D{ending}"]
    np.testing.assert_array_equal(read(f"D{ending}"), before)


def test_targets(folder):
    saved("D.npy", b"precious")
    os.mkdir("D.csv")
    assert check_target("D.npy", WRITTEN, overwrite=True) == ".npy"
    for name, sentence in {
        "D.npy": "'D.npy' exists already: pass overwrite=True to replace it.",
        "D.csv": "'D.csv' cannot be written: it is a folder.",
        "D.txt": "'D.txt' cannot be written: its name must end in .npy, .csv or .parquet.",
        "none/D.npy": "'none/D.npy' cannot be written: there is no folder 'none'.",
    }.items():
        with pytest.raises(InputError) as caught:
            check_target(name, WRITTEN, overwrite=False)
        assert str(caught.value) == sentence
