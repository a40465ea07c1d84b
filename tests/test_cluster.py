"""Runs on a cluster of processes: the same bits, and workers may die."""

import os
import resource
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sparse
from distributed import Client, LocalCluster
from problems import digits, simplex
from test_store import COSTS, MEMBERS, PAIRS, Enough, X, Y, begin, contents, stop_after

import sinkdist as sd
from sinkdist.all_pairs import AllPairs
from sinkdist.scale import threads as scale_threads
from sinkdist.solution import Status

HEAVY = {"ground": sd.Ground.grid(8, 8), "lam": 4, "iterations": 200}  #: some time for each tile


def cluster_of(workers):
    """Processes of one thread each."""
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", silence_logs=50,
        dashboard_address="127.0.0.1:0",
    )  # fmt: skip


def cluster_of_threads(threads):
    """No process but this one."""
    return LocalCluster(
        n_workers=1, threads_per_worker=threads, processes=False, silence_logs=50,
        dashboard_address="127.0.0.1:0",
    )  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def frail():
    """A cluster whose workers are going to die."""
    with cluster_of(2) as cluster, Client(cluster) as client:
        yield client


def chunks(out):
    return {name: content[0] for name, content in contents(out).items() if "/c/" in name}


# ------------------------------------------------------------------------------- the same bits


LONG = ("alpha", "exact")  #: each worker imports POT for these
QUICK = [name for name in MEMBERS if name not in LONG]


@pytest.mark.parametrize(
    "member", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_stores_the_same_bits_as_threads(client, tmp_path, member):
    sd.pairwise(X, ground=COSTS, out=tmp_path / "threads.zarr", **MEMBERS[member])
    D = sd.pairwise(X, ground=COSTS, out=tmp_path / "D.zarr", client=client, **MEMBERS[member])
    assert isinstance(D, sd.StoredMatrix) and D.is_complete
    assert chunks(tmp_path / "D.zarr") == chunks(tmp_path / "threads.zarr")
    home = sd.pairwise(X, ground=COSTS, client=client, **MEMBERS[member])
    assert type(home) is np.ndarray
    np.testing.assert_array_equal(home, D.to_numpy())


def test_two_families_with_all_that_may_be_asked(client, tmp_path):
    A, B = X.copy(), np.vstack([Y, X[:5]])
    A[3] = B[20] = 0.0
    asked = {
        "ground": np.random.default_rng(0).random((6, 6)), "lam": 5, "on_empty": "nan",
        "coincidence": True, "dtype": "float32",
    }  # fmt: skip
    truth = sd.pairwise(A, B, **asked, out=tmp_path / "threads.zarr").to_numpy()
    out = tmp_path / "D.zarr"
    D = sd.pairwise(A, B, **asked, out=out, client=client)
    np.testing.assert_array_equal(D.to_numpy(), truth)
    assert (D.status[3] == Status.EMPTY).all() and D[0, 21] == 0.0
    np.testing.assert_array_equal(sd.pairwise(A, B, **asked, client=client), truth)
    thin = sd.pairwise(sparse.csr_array(A), sparse.csr_array(B), **asked, client=client)
    np.testing.assert_allclose(thin, truth, rtol=1e-5)
    one = sd.pairwise(A, **asked, client=client)  # an asymmetric ground: both halves
    np.testing.assert_allclose(one, sd.pairwise(A, **asked), rtol=1e-5)


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows(client, tmp_path, n):
    family = simplex(n, 6, 1).reshape(n, 6)
    D = sd.pairwise(family, ground=COSTS, lam=5, out=tmp_path / "D.zarr", client=client)
    assert D.is_complete and D.shape == (n, n)
    assert sd.pairwise(family, ground=COSTS, lam=5, client=client).shape == (n, n)


def test_workers_compute_and_inputs_travel_once(client, tmp_path, monkeypatch):
    packed = []
    reduce = AllPairs.__reduce__

    def never(self, tile):
        raise AssertionError("computed at home")

    def counted(self):
        packed.append(self)
        return reduce(self)

    monkeypatch.setattr(AllPairs, "__call__", never)
    monkeypatch.setattr(AllPairs, "__reduce__", counted)
    D = sd.pairwise(digits(200), **HEAVY, out=tmp_path / "D.zarr", client=client)
    assert len(D.summary().endings) == 1 and D.is_complete
    assert 1 <= len(packed) <= 4 < len(list((tmp_path / "D.zarr").glob("distance/c/*/*")))


def test_nothing_is_left_on_the_cluster(client, tmp_path):
    sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr", client=client)
    sd.pairwise(X, ground=COSTS, lam=5, client=client)
    deadline = time.monotonic() + 10
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not client.futures


def test_relative_places_are_the_callers(client, tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    there = client.run(os.getcwd)
    client.run(os.chdir, str(tmp_path / "theirs"))
    monkeypatch.chdir(tmp_path / "ours")
    try:
        assert sd.pairwise(X, ground=COSTS, lam=5, out="D.zarr", client=client).is_complete
    finally:
        client.run(os.chdir, next(iter(there.values())))
    assert not list((tmp_path / "theirs").iterdir())


# ------------------------------------------------------------------------ resume and progress


def test_threads_and_cluster_continue_each_other(client, tmp_path):
    sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "whole.zarr")
    out = tmp_path / "threads first.zarr"
    begin(out)
    before = chunks(out)
    records = []
    sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client, progress=records.append)
    assert records[0].before == 136 + 256 and records[-1].done == PAIRS
    assert before.items() <= chunks(out).items() and chunks(out) == chunks(tmp_path / "whole.zarr")

    out = tmp_path / "cluster first.zarr"
    with pytest.raises(Enough):
        sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client, progress=stop_after(2))
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    assert chunks(out) == chunks(tmp_path / "whole.zarr")


def test_damage_is_mended(client, tmp_path):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
    before = contents(out)
    chunk = out / "status" / "c" / "0" / "1"
    chunk.write_bytes(bytes(len(chunk.read_bytes())))
    sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
    after = contents(out)
    assert {n: c[0] for n, c in after.items()} == {n: c[0] for n, c in before.items()}
    others = [name for name in before if not name.endswith("/c/0/1")]
    assert {n: after[n] for n in others} == {n: before[n] for n in others}


def test_other_parameters_are_refused(client, tmp_path):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
    before = contents(out)
    with pytest.raises(sd.InputError, match=r"lam is 5\.0 there and 6\.0 here"):
        sd.pairwise(X, ground=COSTS, lam=6, out=out, client=client)
    assert contents(out) == before


def test_progress_and_warning(client, tmp_path):
    asked = {"ground": COSTS, "lam": 80, "solver": "plain", "max_iter": 30, "client": client}
    for out in (tmp_path / "D.zarr", None):
        records = []
        with pytest.warns(sd.ConvergenceWarning, match=f"of {PAIRS} pairs") as caught:
            sd.pairwise(X, **asked, out=out, progress=records.append)
        assert len(caught) == 1 and caught[0].filename == __file__
        assert [r.done for r in records] == sorted({r.done for r in records})
        assert records[-1].done == records[-1].total == PAIRS and records[-1].unconverged > 0


def test_what_a_callback_raises_arrives_and_stops_the_cluster(client, tmp_path):
    mine = PermissionError("mine")

    def listen(record):
        raise mine

    with pytest.raises(PermissionError) as caught:
        sd.pairwise(digits(300), **HEAVY, out=tmp_path / "D.zarr", client=client, progress=listen)
    assert caught.value is mine
    deadline = time.monotonic() + 20
    while any(client.processing().values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not sd.open_matrix(tmp_path / "D.zarr").is_complete
    assert sd.pairwise(X, ground=COSTS, lam=5, client=client).shape == (40, 40)


def test_no_room_on_the_workers(client, tmp_path):
    out, unlimited = tmp_path / "D.zarr", resource.RLIM_INFINITY
    client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (500, unlimited))
    try:
        with pytest.raises(sd.StoreError, match="could not be written"):
            sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
    finally:
        client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    assert sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client).is_complete


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    "client", ["tcp://127.0.0.1:8786", 3, object()], ids=["address", "number", "object"]
)
def test_what_is_no_client(tmp_path, client):
    with pytest.raises(sd.InputTypeError, match=r"must be a dask\.distributed\.Client"):
        sd.pairwise(X, ground=COSTS, lam=5, client=client, out=tmp_path / "D.zarr")
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_was_closed(tmp_path):
    with cluster_of_threads(1) as cluster, Client(cluster) as client:
        pass
    with pytest.raises(sd.InputError, match="client"):
        sd.pairwise(X, ground=COSTS, lam=5, client=client, out=tmp_path / "D.zarr")
    assert list(tmp_path.iterdir()) == []


def test_threads_of_one_process_as_workers(tmp_path):
    with cluster_of_threads(3) as cluster, Client(cluster) as client:
        D = sd.pairwise(X, ground=COSTS, lam=5, client=client, out=tmp_path / "D.zarr")
        home = sd.pairwise(X, ground=COSTS, lam=5, client=client)
    np.testing.assert_array_equal(D.to_numpy(), home)
    np.testing.assert_allclose(home, sd.pairwise(X, ground=COSTS, lam=5), rtol=1e-12)


# ------------------------------------------------------------------------------- workers that die


def kill_when(out, client, tiles, victims):
    """A callback that kills workers after some tiles, and notes what was finished by then."""
    kept, lock, seen = {}, threading.Lock(), []

    def listen(record):
        with lock:
            seen.append(record)
            if len(seen) != tiles:
                return
        pids = sorted(client.run(os.getpid).values())[:victims]
        if out is not None:
            missing = {tile.place for tile in sd.open_matrix(out).missing}
            for name, content in contents(out).items():
                place = name.split("/")[2:]
                is_chunk = "/c/" in name and all(map(str.isdigit, place))
                if is_chunk and tuple(map(int, place)) not in missing:
                    kept[name] = content
        for pid in pids:  # of workers of this test's own cluster
            os.kill(pid, signal.SIGKILL)

    return listen, kept, seen


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "D.zarr"
    sd.pairwise(digits(200), **HEAVY, out=out)
    return out


@pytest.mark.parametrize("victims", [1, 2], ids=["one worker", "all workers"])
def test_a_worker_is_killed_in_the_middle(frail, whole, tmp_path, victims):
    out = tmp_path / "D.zarr"
    listen, kept, seen = kill_when(out, frail, 5, victims)
    D = sd.pairwise(digits(200), **HEAVY, out=out, client=frail, progress=listen)
    assert D.is_complete and chunks(out) == chunks(whole)
    after = contents(out)
    assert len(kept) >= 15 and {name: after[name] for name in kept} == kept
    assert seen[-1].done == seen[-1].total == 200 * 201 // 2  # each tile counted once
    assert not list(out.rglob("*.partial"))


@pytest.mark.slow
@pytest.mark.parametrize("victims", [1, 2], ids=["one worker", "all workers"])
def test_a_worker_is_killed_while_tiles_are_brought_home(frail, whole, victims):
    listen, _, seen = kill_when(None, frail, 5, victims)
    D = sd.pairwise(digits(200), **HEAVY, client=frail, progress=listen)
    np.testing.assert_array_equal(D, sd.open_matrix(whole).to_numpy())
    assert seen[-1].done == seen[-1].total


@pytest.mark.slow
def test_workers_are_killed_again_and_again(frail, tmp_path):
    """Whenever both are up: one that dies while it starts, its nanny does not start again."""
    family, deaths, tiles = digits(600), [], []
    whole, out = tmp_path / "whole.zarr", tmp_path / "D.zarr"
    sd.pairwise(family, **HEAVY, out=whole)

    def listen(record):
        tiles.append(record)
        if len(tiles) % 5 == 0 and len(frail.scheduler_info()["workers"]) == 2:
            pids = sorted(frail.run(os.getpid, on_error="ignore").values())
            if len(pids) == 2:
                os.kill(pids[len(deaths) % 2], signal.SIGKILL)
                deaths.append(pids)

    sd.pairwise(family, **HEAVY, out=out, client=frail, progress=listen)
    assert len(deaths) >= 2 and chunks(out) == chunks(whole)


def test_one_worker_starts_no_threads_on_a_cluster(monkeypatch):
    """Not even to build a large kernel that all pairs share."""

    def refuse(*args, **kwargs):
        raise AssertionError("threads were started")

    monkeypatch.setattr(scale_threads, "ThreadPoolExecutor", refuse)
    ground = sd.Ground.grid(730).scaled()
    with cluster_of_threads(1) as cluster, Client(cluster) as client:
        D = sd.pairwise(np.eye(730)[:3], ground=ground, lam=1, workers=1, client=client)
    assert D.shape == (3, 3)
