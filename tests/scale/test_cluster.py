"""Runs on a cluster of processes: the same bits, and workers may die."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
import scipy.sparse as sparse
from distributed import Client, LocalCluster, WorkerPlugin

import sinkdist as sd
from sinkdist.errors import ClusterWarning
from sinkdist.pairs.all_pairs import AllPairs
from sinkdist.scale import cluster_health
from sinkdist.scale import threads as scale_threads
from sinkdist.solution.status import Status
from tests.problems import digits, simplex
from tests.scale.test_store import COSTS, MEMBERS, PAIRS, Enough, X, Y, begin, contents, stop_after
from tests.waiting import until

SOON = 60.0  #: seconds within which trouble is told, on a machine that is busy with other tests
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
    until(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
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
    until(lambda: not any(client.processing().values()))
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


SLOW_TO_RISE = pytest.mark.filterwarnings("ignore:The Dask cluster at .* computes nothing")


@SLOW_TO_RISE
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
@SLOW_TO_RISE
@pytest.mark.parametrize("victims", [1, 2], ids=["one worker", "all workers"])
def test_a_worker_is_killed_while_tiles_are_brought_home(frail, whole, victims):
    listen, _, seen = kill_when(None, frail, 5, victims)
    D = sd.pairwise(digits(200), **HEAVY, client=frail, progress=listen)
    np.testing.assert_array_equal(D, sd.open_matrix(whole).to_numpy())
    assert seen[-1].done == seen[-1].total


@pytest.mark.slow
@SLOW_TO_RISE
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


# ------------------------------------------------------------------------- clusters that are gone


@pytest.fixture
def hasty(monkeypatch):
    """A tenth of the patience, for tests that have none."""
    for name in ("_GONE", "_WORD", "_BEFORE", "_LATER"):
        monkeypatch.setattr(
            f"sinkdist.scale.cluster_health.{name}", getattr(cluster_health, name) / 10
        )


def lines(caught):
    return [str(warning.message) for warning in caught if warning.category is ClusterWarning]


KEPT = r"Finished tiles are kept in '.*D\.zarr': run it again to continue\.$"
LOST = r"Finished tiles are lost, because they were kept in memory only\.$"
PLACES = pytest.mark.parametrize("stored", [True, False], ids=["stored", "in memory"])


def place(tmp_path, stored):
    """Where a matrix goes, and what is said of its finished tiles when the run is given up."""
    return (tmp_path / "D.zarr", KEPT) if stored else (None, LOST)


def bare_cluster(**options):
    """A scheduler in this process, with workers in it as well, if any."""
    return LocalCluster(
        processes=False, silence_logs=50, dashboard_address="127.0.0.1:0", **options
    )


@PLACES
def test_no_worker_is_connected(hasty, tmp_path, stored):
    out, rest = place(tmp_path, stored)
    with bare_cluster(n_workers=0) as cluster, Client(cluster) as client:
        with (
            pytest.warns(ClusterWarning, match="computes nothing: no worker is connected") as said,
            pytest.raises(sd.StoreError, match=f"for 3 seconds: no worker is connected.*{rest}"),
        ):
            sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
        assert len(lines(said)) == 1 and client.scheduler.address in lines(said)[0]
        assert said[0].filename == __file__


def known(client):
    """The workers that the scheduler knows."""
    return client.scheduler_info()["workers"]


@PLACES
def test_all_workers_are_paused(hasty, tmp_path, stored):
    """They hold more than their limit from the first moment on, and nobody restarts them."""
    out, rest = place(tmp_path, stored)
    cluster = bare_cluster(n_workers=1, threads_per_worker=1, memory_limit="1MB")
    with cluster, Client(cluster) as client:
        until(lambda: {w["status"] for w in known(client).values()} == {"paused"})
        paused = r"all its workers \(1\) are paused, for want of memory"
        with (
            pytest.warns(ClusterWarning, match=f"computes nothing: {paused}") as said,
            pytest.raises(sd.StoreError, match=f"computed nothing for .*{paused}.*{rest}"),
        ):
            sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
        assert len(lines(said)) == 1


def test_a_cluster_that_works_slowly_is_left_in_peace(hasty, tmp_path, monkeypatch):
    """A tile may take longer than all patience: what counts is whether somebody works."""
    monkeypatch.setattr(cluster_health, "_LATER", 0.2)
    compute, look, looks = AllPairs.__call__, cluster_health.ClusterHealth.check, []

    def counted(self):
        looks.append(None)
        return look(self)

    def slow(self, tile):
        seen = len(looks)
        until(lambda: len(looks) > seen + 2)
        return compute(self, tile)

    monkeypatch.setattr(cluster_health.ClusterHealth, "check", counted)

    monkeypatch.setattr(AllPairs, "__call__", slow)
    with cluster_of_threads(3) as cluster, Client(cluster) as client:
        D = sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr", client=client)
    assert D.is_complete


def test_workers_may_come_late(tmp_path):
    with bare_cluster(n_workers=0, threads_per_worker=1) as cluster, Client(cluster) as client:
        cluster.scale(1)
        assert sd.pairwise(X, ground=COSTS, lam=5, client=client).shape == (40, 40)


@PLACES
def test_the_scheduler_is_closed_in_the_middle(hasty, tmp_path, stored):
    out, rest = place(tmp_path, stored)
    cluster = bare_cluster(n_workers=1, threads_per_worker=1)
    with cluster, Client(cluster.scheduler_address, timeout="5s") as client:

        def listen(record):
            cluster.close()

        asked, begun = {**HEAVY, "out": out}, time.monotonic()
        with pytest.raises(sd.StoreError, match=f"The Dask scheduler at .* is gone. {rest}"):
            sd.pairwise(digits(200), **asked, client=client, progress=listen)
        assert time.monotonic() - begun < SOON
    if stored:
        assert 1 <= len(sd.open_matrix(out).missing) < len(list(sd.open_matrix(out)._store.tiling))
        assert sd.pairwise(digits(200), **asked).is_complete


@pytest.fixture
def started():
    """Processes of Dask, ended with the test."""
    with contextlib.ExitStack() as running:

        def start(*arguments):
            command = [sys.executable, "-m", f"distributed.cli.dask_{arguments[0]}", *arguments[1:]]
            process = running.enter_context(
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            )
            running.callback(process.kill)
            for line in process.stderr:
                if found := re.search(r"(?:Scheduler at|Registered to): +(tcp://\S+)", line):
                    reader = threading.Thread(target=process.stderr.read)
                    reader.start()
                    running.callback(reader.join)
                    running.callback(process.kill)
                    return process, found[1]
            raise AssertionError("Dask did not start")

        yield start


def start_cluster(started, workers=1, memory="0"):
    """A scheduler and workers that nobody restarts, each a process: the processes, the address."""
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    scheduler, address = started("scheduler", *options)
    alone = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", memory)
    crew = [started("worker", address, *alone)[0] for _ in range(workers)]
    return scheduler, crew, address


@pytest.mark.slow
@PLACES
def test_the_scheduler_is_killed_in_the_middle(started, tmp_path, stored):
    out, rest = place(tmp_path, stored)
    scheduler, _, address = start_cluster(started)
    killed = []

    def listen(record):
        if not killed:
            scheduler.kill()
            killed.append(time.monotonic())

    with Client(address) as client:
        with pytest.raises(sd.StoreError, match=f"The Dask scheduler at {address} is gone. {rest}"):
            sd.pairwise(digits(300), **HEAVY, out=out, client=client, progress=listen)
        assert time.monotonic() - killed[0] < SOON
    if stored:
        before = chunks(out)
        assert before and sd.pairwise(digits(300), **HEAVY, out=out).is_complete
        assert before.items() <= chunks(out).items()


@pytest.mark.slow
def test_the_scheduler_is_killed_under_a_command(started, tmp_path):
    """One sentence, and no traceback of Dask beside it."""
    scheduler, _, address = start_cluster(started)
    np.save(tmp_path / "X.npy", digits(400))
    out = tmp_path / "D.zarr"
    arguments = [tmp_path / "X.npy", "--ground", "grid:8x8", "--lam", 4, "--iterations", 200]
    command = [sys.executable, "-m", "sinkdist", "pairwise", *arguments, "--out", out]
    run = subprocess.Popen(
        [*map(str, command), "--scheduler", address, "--no-progress"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with run:
        until(lambda: list(out.glob("distance/c/*/*")))
        scheduler.kill()
        _, err = run.communicate(timeout=SOON)
    assert run.returncode == 2 and err.count("\n") == 1
    assert err.startswith(
        f"Error: The Dask scheduler at {address} is gone. Finished tiles are kept"
    )


@pytest.mark.slow
def test_a_worker_with_little_memory_is_named_within_seconds(started, tmp_path):
    _, _, address = start_cluster(started, memory="50MB")
    with Client(address) as client:
        begun = time.monotonic()
        with pytest.raises(ClusterWarning, match="paused, for want of memory"):
            sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr", client=client)
        assert time.monotonic() - begun < SOON


@pytest.mark.slow
def test_all_workers_are_killed_and_nobody_restarts_them(started, tmp_path):
    _, crew, address = start_cluster(started, workers=2)
    killed = []

    def listen(record):
        if not killed:
            killed.append(time.monotonic())
            for worker in crew:
                worker.kill()

    with Client(address) as client:
        with pytest.raises(ClusterWarning, match=f"no worker is connected.*{LOST}"):
            sd.pairwise(digits(300), **HEAVY, client=client, progress=listen)
        assert time.monotonic() - killed[0] < SOON


# ---------------------------------------------------------------- tiles at which workers are killed


class Deadly(WorkerPlugin):
    """Ends workers that come to one of the tiles, as a system does that is out of memory."""

    def __init__(self, graves, most):
        self.graves, self.most = graves, most
        graves.mkdir()

    def setup(self, worker):
        compute, graves, most = AllPairs.__call__, self.graves, self.most

        def deadly(self, tile):
            if tile.place == (1, 2) and len(list(graves.iterdir())) < most:
                (graves / str(os.getpid())).touch()
                time.sleep(1)  # so that other tiles come home meanwhile
                os.kill(os.getpid(), signal.SIGKILL)
            return compute(self, tile)

        AllPairs.__call__ = deadly


@pytest.fixture
def strict():
    """A cluster that gives a task up with the first worker that dies at it."""
    impatient = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with impatient, cluster_of(2) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    "stored", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["in memory", "stored"]
)
def test_a_tile_that_dask_gives_up_is_sent_again(strict, tmp_path, stored):
    out, records = tmp_path / "D.zarr" if stored else None, []
    strict.register_plugin(Deadly(tmp_path / "graves", 1))
    with pytest.warns(ClusterWarning, match="died at one tile, rows .* It is tried again") as said:
        D = sd.pairwise(X, ground=COSTS, lam=5, out=out, client=strict, progress=records.append)
    assert len(lines(said)) == 1 and said[0].filename == __file__
    np.testing.assert_allclose(np.asarray(D), sd.pairwise(X, ground=COSTS, lam=5), rtol=1e-12)
    assert records[-1].done == PAIRS and len(records) == 6  # each tile counted once
    assert len(list((tmp_path / "graves").iterdir())) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sinkdist.errors.ClusterWarning")
@PLACES
def test_a_tile_that_kills_every_worker_is_named(strict, tmp_path, stored):
    out, rest = place(tmp_path, stored)
    strict.register_plugin(Deadly(tmp_path / "graves", 100))
    tile = "rows 16 to 31 against columns 32 to 39"
    with pytest.raises(sd.StoreError, match=f"again and again at one tile, {tile}.*memory.*{rest}"):
        sd.pairwise(X, ground=COSTS, lam=5, out=out, client=strict)
    if stored:
        assert [tile.place for tile in sd.open_matrix(out).missing] == [(1, 2)]
        assert sd.pairwise(X, ground=COSTS, lam=5, out=out).is_complete


@pytest.mark.slow
@SLOW_TO_RISE
@PLACES
def test_the_only_worker_dies_again_and_again(monkeypatch, tmp_path, stored):
    """The inputs die with it, so Dask counts no deaths; at times it is not started again."""
    out, rest = place(tmp_path, stored)
    monkeypatch.setattr("sinkdist.scale.cluster._LOSSES", 4)
    with cluster_of(1) as cluster, Client(cluster) as client:
        client.register_plugin(Deadly(tmp_path / "graves", 1000))
        with (
            pytest.warns(ClusterWarning, match=f"lost its workers 2 times over.*{rest}") as said,
            pytest.raises(sd.StoreError, match=f"(lost its workers 4 times|no worker).*{rest}"),
        ):
            sd.pairwise(X, ground=COSTS, lam=5, out=out, client=client)
        assert sum("times over" in line for line in lines(said)) == 1


def test_one_worker_starts_no_threads_on_a_cluster(monkeypatch):
    """Not even to build a large kernel that all pairs share."""

    def refuse(*args, **kwargs):
        raise AssertionError("threads were started")

    monkeypatch.setattr(scale_threads, "run_beside", refuse)
    ground = sd.Ground.grid(730).scaled()
    with cluster_of_threads(1) as cluster, Client(cluster) as client:
        D = sd.pairwise(np.eye(730)[:3], ground=ground, lam=1, workers=1, client=client)
    assert D.shape == (3, 3)
