"""All nearest neighbours of a family: shared solves, tiles in a store, a cluster, a budget."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.search import neighbors_store
from sinkdist.search.tile_search import TileSearch
from tests.search_problems import by_brute_force

RNG = np.random.default_rng(11)
GRID = sd.Ground.grid(4, 4)
X = RNG.dirichlet(np.full(16, 0.3), 300)
Y = RNG.dirichlet(np.full(16, 0.3), 120)
MEMBERS = ({"lam": np.inf}, {"alpha": 0.5}, {"lam": 3.0})


class Enough(Exception):
    """Raised to stop a run."""


def stop_after(calls):
    """A callback that stops the run after some tiles."""
    seen = []

    def listen(record):
        seen.append(record)
        if len(seen) == calls:
            raise Enough

    return listen


def same(first, second):
    """Whether two answers are the same to the bit."""
    for name in ("indices", "distances", "proven", "solved"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.bounds == second.bounds and first.searched == second.searched


@pytest.fixture
def counted(monkeypatch):
    """The tiles that are answered."""
    tiles, honest = [], TileSearch.__call__

    def counting(self, tile):
        tiles.append(tile.place[0])
        return honest(self, tile)

    monkeypatch.setattr(TileSearch, "__call__", counting)
    return tiles


# ------------------------------------------------------------------------------ pairs solved once


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("rows", [X, csr_array(X * (X > 0.05) / (X * (X > 0.05)).sum(1)[:, None])])
def test_neighbours_of_a_family_are_those_of_all_pairs(member, rows):
    found = sd.neighbors(rows, ground=GRID, k=4, **member)
    D = by_brute_force(GRID, rows, None, member)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :4], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(
        np.take_along_axis(D, found.indices, 1), found.distances, rtol=1e-5, atol=1e-9
    )
    assert found.proven.all()


def test_a_pair_that_was_solved_for_one_row_is_not_solved_for_the_other():
    shared = sd.neighbors(X, ground=GRID, k=4, lam=np.inf)
    apart = sd.neighbors(X, X, ground=GRID, k=5, lam=np.inf)  # one more: the row itself
    assert shared.solved.sum() < 0.9 * apart.solved.sum()
    assert shared.solved[150:].mean() < shared.solved[:16].mean()


def test_nothing_is_shared_where_a_number_of_steps_is_fixed():
    """Algorithm 1 stopped early gives another number in the other direction."""
    member = {"lam": 5.0, "iterations": 3}
    found = sd.neighbors(X[:80], ground=GRID, k=79, **member)
    assert found.bounds == () and (found.solved == 79).all()
    D = by_brute_force(GRID, X[:80], None, member)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :79], rtol=1e-9)


def test_nothing_is_shared_under_asymmetric_costs():
    M = RNG.random((16, 16))
    found = sd.neighbors(X[:80], ground=M, k=3, lam=np.inf)
    D = by_brute_force(sd.Ground(M), X[:80], None, {"lam": np.inf})
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :3], rtol=1e-9)


@pytest.mark.parametrize("member", MEMBERS)
def test_answers_do_not_depend_on_threads_or_memory(member):
    one = sd.neighbors(X, ground=GRID, k=3, workers=1, **member)
    same(one, sd.neighbors(X, ground=GRID, k=3, workers=4, memory="10GB", **member))


def test_a_budget_and_a_radius_hold_for_a_family():
    found = sd.neighbors(X, ground=GRID, k=4, lam=np.inf, budget=5)
    assert (found.solved <= 5).all()
    D = by_brute_force(GRID, X, None, {"lam": np.inf})
    for q, row in enumerate(D):
        sure = found.proven[q]
        wanted = np.sort(row)[:4][: sure.sum()]
        np.testing.assert_allclose(found.distances[q][sure], wanted, rtol=1e-9)
    radius = float(np.nanquantile(D, 0.02))
    within = sd.neighbors(X, ground=GRID, radius=radius, lam=np.inf)
    for q, row in enumerate(D):
        assert set(within.indices[q]) - {-1} == set(np.flatnonzero(row <= radius))


# --------------------------------------------------------------------------------------- in a store


@pytest.mark.parametrize("family", [None, Y])
@pytest.mark.parametrize("member", MEMBERS)
def test_a_store_holds_what_memory_would(tmp_path, member, family):
    plain = sd.neighbors(X, family, ground=GRID, k=3, **member)
    stored = sd.neighbors(X, family, ground=GRID, k=3, out=tmp_path / "near.zarr", **member)
    opened = sd.open_neighbors(tmp_path / "near.zarr")
    for found in (stored, opened):
        same(found, plain)


@pytest.mark.parametrize("member", MEMBERS)
def test_an_interrupted_run_resumes_without_solving_again(tmp_path, counted, member):
    out = tmp_path / "near.zarr"
    with pytest.raises(Enough):
        sd.neighbors(X, ground=GRID, k=3, out=out, workers=1, progress=stop_after(5), **member)
    first = set(counted)
    with pytest.raises(sd.IncompleteError, match=r"incomplete: 1\d of 19 tiles have not been"):
        sd.open_neighbors(out)
    counted.clear()
    seen = []
    found = sd.neighbors(X, ground=GRID, k=3, out=out, workers=1, progress=seen.append, **member)
    assert len(first & set(counted)) <= 1 and len(counted) + len(first) <= 20
    assert seen[0].before > 0 and seen[-1].done == seen[-1].total == 300 * 300
    same(found, sd.neighbors(X, ground=GRID, k=3, **member))
    counted.clear()
    same(sd.neighbors(X, ground=GRID, k=3, out=out, **member), found)
    assert not counted


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"k": 5}, "k is 3 there and 5 here"),
        ({"lam": None, "alpha": 1.0}, "distance is exact there and constrained here"),
        ({"budget": 4}, "budget is None there and 4 here"),
        ({"radius": 0.25}, "radius is inf there and 0.25 here"),
        ({"X": X[::-1]}, "X is not the one that was stored"),
        ({"Y": Y}, "Y is not the one that was stored"),
        ({"ground": sd.Ground.grid(2, 8)}, "ground is not the one that was stored"),
    ],
)
def test_another_request_is_refused_and_changes_nothing(tmp_path, changed, said):
    out = tmp_path / "near.zarr"
    call = {"X": X, "ground": GRID, "k": 3, "lam": np.inf, "out": out}
    found = sd.neighbors(**call)
    with pytest.raises(sd.InputError) as error:
        sd.neighbors(**(call | changed))
    assert f"{str(out)!r} holds other neighbours" in str(error.value) and said in str(error.value)
    assert "pass overwrite=True to replace them" in str(error.value)
    same(sd.open_neighbors(out), found)
    other = sd.neighbors(**(call | changed), overwrite=True)
    same(sd.open_neighbors(out), other)


def test_rows_without_mass_and_single_precision_are_stored(tmp_path):
    rows = X[:40].astype(np.float32)
    rows[7] = 0.0
    call = {"ground": GRID, "k": 3, "lam": np.inf, "on_empty": "nan"}
    found = sd.neighbors(rows, **call, out=tmp_path / "near.zarr")
    assert found.distances.dtype == np.float32 and (found.indices[7] == -1).all()
    same(found, sd.neighbors(rows, **call))
    opened = sd.open_neighbors(tmp_path / "near.zarr")
    same(opened, found)
    assert opened.distances.dtype == np.float32


def test_the_warning_comes_again_for_what_was_stored(tmp_path):
    call = {"ground": GRID, "k": 2, "lam": 400.0, "max_iter": 1, "out": tmp_path / "near.zarr"}
    with pytest.warns(sd.ConvergenceWarning) as first:
        sd.neighbors(X[:20], **call)
    with pytest.warns(sd.ConvergenceWarning) as second:
        sd.neighbors(X[:20], **call)
    told = [
        [str(w.message) for w in some if w.category is sd.ConvergenceWarning]
        for some in (first, second)
    ]
    assert told[0] == told[1] != []


@pytest.mark.parametrize("array", ["neighbour", "distance", "proven", "solved", "known", "ended"])
@pytest.mark.parametrize("how", ["torn", "flipped", "lost"])
def test_a_damaged_tile_is_found_and_computed_again(tmp_path, counted, array, how):
    out = tmp_path / "near.zarr"
    call = {"ground": GRID, "k": 3, "lam": np.inf, "out": out}
    found = sd.neighbors(X, **call)
    chunk = next(x for x in sorted((out / array / "c").rglob("*")) if x.is_file())
    raw = chunk.read_bytes()
    if how == "lost":
        chunk.unlink()
    else:
        chunk.write_bytes(raw[:-9] if how == "torn" else bytes([raw[0] ^ 1]) + raw[1:])
    with pytest.raises(sd.IncompleteError):
        sd.open_neighbors(out)
    counted.clear()
    same(sd.neighbors(X, **call), found)
    assert counted == [0]


def test_places_that_hold_something_else_are_left_alone(tmp_path):
    call = {"ground": GRID, "k": 3, "lam": np.inf}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear reader")
    sd.pairwise(X[:20], ground=GRID, lam=np.inf, out=tmp_path / "D.zarr")
    for place in ("mine", "D.zarr"):
        for overwrite in (False, True):
            with pytest.raises(sd.InputError, match="nothing was changed"):
                sd.neighbors(X, **call, out=tmp_path / place, overwrite=overwrite)
    assert sd.open_matrix(tmp_path / "D.zarr").is_complete
    sd.neighbors(X[:20], **call, out=tmp_path / "near.zarr")
    with pytest.raises(sd.InputError, match="nothing was changed"):
        sd.pairwise(X[:20], ground=GRID, lam=np.inf, out=tmp_path / "near.zarr", overwrite=True)
    with pytest.raises(sd.InputError, match="There are no neighbours at"):
        sd.open_neighbors(tmp_path / "nothing.zarr")
    with pytest.raises(sd.InputError, match="does not hold neighbours"):
        sd.open_neighbors(tmp_path / "D.zarr")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"attributes": {"sinkdist_neighbors": {}}}'])
def test_a_damaged_description_is_named(tmp_path, text):
    out = tmp_path / "near.zarr"
    call = {"ground": GRID, "k": 3, "lam": np.inf, "out": out}
    found = sd.neighbors(X[:40], **call)
    (out / "zarr.json").write_text(text)
    with pytest.raises(sd.StoreError, match=r"is damaged: its file 'zarr.json'"):
        sd.neighbors(X[:40], **call)
    same(sd.neighbors(X[:40], **call, overwrite=True), found)


def test_one_writer_at_a_time(tmp_path):
    out = tmp_path / "near.zarr"
    with neighbors_store.folder.locked(str(out)), pytest.raises(sd.StoreError, match="another"):
        sd.neighbors(X, ground=GRID, k=3, lam=np.inf, out=out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": np.inf, "overwrite": True}, "The 'overwrite' option needs 'out'"),
        ({"lam": np.inf, "radius": 0.1, "out": "near.zarr"}, "pass 'k' as well"),
        ({"lam": np.inf, "client": 3}, "must be a dask.distributed.Client"),
        ({"lam": np.inf, "memory": "much"}, "must be a size such as '2GB'"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(options, said):
    with pytest.raises((sd.InputError, sd.InputTypeError)) as error:
        sd.neighbors(X, ground=GRID, **options)
    assert said in str(error.value)


def test_classic_distances_are_not_stored(tmp_path):
    with pytest.raises(sd.InputError, match="distance='chi2' is computed at once"):
        sd.neighbors(X, distance="chi2", out=tmp_path / "near.zarr")


# -------------------------------------------------------------------------- killed, and on clusters

KILLED = """
import signal
import sys
import numpy as np
import sinkdist as sd
# Where tests run in the background, Ctrl-C is ignored unless asked for.
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(11).dirichlet(np.full(64, 0.3), 400)
def listen(record):
    print(record.done, flush=True)
sd.neighbors(X, ground=sd.Ground.grid(8, 8), k=5, alpha=0.5, out=sys.argv[1], progress=listen)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_process_leaves_what_it_finished(tmp_path, counted, how):
    out = tmp_path / "near.zarr"
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(out)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert run.stdout is not None
    for _ in range(4):
        assert run.stdout.readline()
    run.send_signal(how)
    begun = time.monotonic()
    run.wait(60)
    assert time.monotonic() - begun < 20
    run.stdout.close()
    rows = np.random.default_rng(11).dirichlet(np.full(64, 0.3), 400)
    call = {"ground": sd.Ground.grid(8, 8), "k": 5, "alpha": 0.5}
    found = sd.neighbors(rows, **call, out=out)
    assert 0 < len(counted) <= 22
    same(found, sd.neighbors(rows, **call))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_gives_the_same_answers(tmp_path, counted):
    distributed = pytest.importorskip("distributed")
    wanted = [sd.neighbors(X, family, ground=GRID, k=3, lam=np.inf) for family in (None, Y)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", silence_logs=50,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        counted.clear()
        for family, plain in zip((None, Y), wanted, strict=True):
            same(sd.neighbors(X, family, ground=GRID, k=3, lam=np.inf, client=client), plain)
        call = {"ground": GRID, "k": 3, "lam": np.inf, "out": tmp_path / "near.zarr"}
        with pytest.raises(Enough):
            sd.neighbors(X, **call, client=client, progress=stop_after(4))
        same(sd.neighbors(X, **call, client=client), wanted[0])
        assert not counted  # here; they are answered elsewhere
    same(sd.open_neighbors(tmp_path / "near.zarr"), wanted[0])


def test_object_stores(tmp_path):
    pytest.importorskip("fsspec")
    call = {"ground": GRID, "k": 3, "lam": np.inf}
    name = f"memory://{tmp_path.name}/near.zarr"
    found = sd.neighbors(X[:40], **call, out=name)
    same(sd.open_neighbors(name), found)
    same(sd.neighbors(X[:40], **call, out=name), found)
    with pytest.raises(sd.InputError, match="holds other neighbours: k is 3 there and 4 here"):
        sd.neighbors(X[:40], **(call | {"k": 4}), out=name)
