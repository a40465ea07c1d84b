"""An index answers as `neighbors` does: prepared, extended, saved, opened, shared by threads."""

import json
import threading

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.search import cascade

RNG = np.random.default_rng(7)
GRID = sd.Ground.grid(4, 4)
X = RNG.dirichlet(np.full(16, 0.3), 5)
Y = RNG.dirichlet(np.full(16, 0.3), 80)
FEW = Y * (Y.max(axis=1, keepdims=True) == Y)
FEW /= FEW.sum(axis=1, keepdims=True)
MEMBERS = [{"lam": np.inf}, {"alpha": 0.4}, {"lam": 5.0}, {"lam": 0.0}]


def same(found, other):
    np.testing.assert_array_equal(found.indices, other.indices)
    np.testing.assert_array_equal(found.distances, other.distances)
    assert found.bounds == other.bounds


@pytest.fixture(autouse=True)
def all_bounds(monkeypatch):
    monkeypatch.setattr(cascade, "MANY", 2)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("rows", [Y, csr_array(FEW)], ids=["dense", "sparse"])
def test_an_index_answers_as_neighbors(member, rows, tmp_path):
    wanted = sd.neighbors(X, rows, ground=GRID, k=4, **member)
    index = sd.Index(rows, GRID, **member)
    same(index.query(X, 4), wanted)
    index.save(tmp_path / "a.index")
    opened = sd.open_index(tmp_path / "a.index")
    same(opened.query(X, 4), wanted)
    assert repr(opened) == repr(index) and len(opened) == 80
    radius = float(np.median(wanted.distances))
    within = opened.radius(X, radius)
    same(within, sd.neighbors(X, rows, ground=GRID, radius=radius, **member))


@pytest.mark.parametrize("rows", [Y, csr_array(FEW)], ids=["dense", "sparse"])
def test_rows_can_be_added(rows, tmp_path):
    index = sd.Index(rows[:50], GRID, lam=np.inf)
    index.save(tmp_path / "b")
    for part in (index, sd.open_index(tmp_path / "b")):
        assert part.add(rows[50:70]).add(rows[70:]) is part
        found = part.query(X, 6)
        wanted = sd.neighbors(X, rows, ground=GRID, k=6, lam=np.inf)
        np.testing.assert_array_equal(found.indices, wanted.indices)
    assert len(sd.open_index(tmp_path / "b")) == 50


@pytest.mark.parametrize(
    "ground", [sd.Ground.grid(16), sd.Ground.points(RNG.random((16, 2))), RNG.random((16, 16)),
               sd.Ground.grid(4, 4).scaled()], ids=["line", "points", "matrix", "scaled"],
)  # fmt: skip
def test_grounds_come_back_as_they_were(ground, tmp_path):
    index = sd.Index(Y, ground, lam=np.inf, on_empty="nan", normalize=True)
    index.save(tmp_path / "c")
    opened = sd.open_index(tmp_path / "c")
    kept = opened._engine.problem
    assert kept.ground.fingerprint == sd.Ground.of(ground).fingerprint
    assert kept.ground.is_made_metric == sd.Ground.of(ground).is_made_metric
    assert kept.options.on_empty == "nan" and kept.options.normalize is True
    same(opened.query(10 * X, 3), index.query(10 * X, 3))


def test_queries_from_threads_while_rows_are_added():
    index, wanted = sd.Index(Y, GRID, lam=np.inf), sd.neighbors(X, Y, ground=GRID, k=1, lam=np.inf)
    far = np.eye(16)[15:]
    failures = []

    def ask():
        found = [index.query(X, 1, workers=1).indices.max() for _ in range(5)]
        failures.extend(x for x in found if x >= 85)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        index.add(far)
    for thread in threads:
        thread.join()
    assert not failures and len(index) == 85
    assert (index.query(X, 1).distances <= wanted.distances).all()


def test_the_caller_may_change_the_rows_later():
    rows = Y.copy()
    index = sd.Index(rows, GRID, lam=np.inf)
    wanted = index.query(X, 2)
    rows[:] = 0.0
    same(index.query(X, 2), wanted)


def test_places_that_hold_something_are_left_alone(tmp_path):
    index = sd.Index(Y, GRID, lam=np.inf)
    index.save(tmp_path / "d")
    with pytest.raises(sd.InputError, match="exists already: pass overwrite=True"):
        index.save(tmp_path / "d")
    index.add(Y[:1]).save(tmp_path / "d", overwrite=True)
    assert len(sd.open_index(tmp_path / "d")) == 81
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(sd.InputError, match="choose another place"):
        index.save(tmp_path / "mine", overwrite=True)
    with pytest.raises(sd.InputError, match="is not an index"):
        sd.open_index(tmp_path / "mine")
    with pytest.raises(sd.InputError, match="There is no index at"):
        sd.open_index(tmp_path / "nowhere")


def test_damage_is_named(tmp_path):
    sd.Index(Y, GRID, lam=np.inf).save(tmp_path / "e")
    (chunk,) = (tmp_path / "e" / "rows" / "c").rglob("0/0")
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[:-8])
    with pytest.raises(sd.StoreError, match=r"rows/c/0/0 has \d+ bytes, not \d+"):
        sd.open_index(tmp_path / "e")
    chunk.unlink()
    with pytest.raises(sd.StoreError, match="rows/c/0/0 is missing"):
        sd.open_index(tmp_path / "e")
    chunk.write_bytes(whole)
    file = tmp_path / "e" / "zarr.json"
    text = file.read_text()
    file.write_text(text[:100])
    with pytest.raises(sd.StoreError, match=r"zarr\.json cannot be read"):
        sd.open_index(tmp_path / "e")
    content = json.loads(text)
    content["attributes"]["sinkdist_index"]["format"] = 99
    file.write_text(json.dumps(content))
    with pytest.raises(sd.InputError, match="written in format 99"):
        sd.open_index(tmp_path / "e")


def test_features_take_less_than_two_kilobytes():
    """Beyond the rows themselves, for the paper's digits."""
    index = sd.Index(RNG.dirichlet(np.full(400, 0.05), 300), sd.Ground.grid(20, 20), lam=np.inf)
    projections = index._engine.cascade.projections
    assert projections is not None and projections.blocks[0].nbytes / 256 < 2000
