"""Runs that are killed, interrupted or out of room: nothing finished is lost or computed again."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from tests.problems import digits, random_metric, simplex
from tests.scale.test_store import ARRAYS, COSTS, Enough, X, contents, stop_after

DIGITS = 240  #: a job of 15 x 16 / 2 small tiles

# Starts quickly because it has imported and compiled all before it forks: each line on its input is
# a run in a process of its own. What that process says goes to the output, a line at a time.
SERVER = """
import json, os, resource, signal, sys
import numpy as np
import sinkdist as sd
from sinkdist.scale import job, run, stored

sys.path.insert(0, sys.argv[1])
from tests.problems import digits

job._LARGEST = 16  # many tiles, so that there is much to lose
everything = digits()


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())


def listen(record):
    if record.done > record.before:
        say("done", record.done, record.before)
    if limit_after is not None and record.done - record.before >= limit_after:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))


ground = sd.Ground.grid(8, 8)
sd.pairwise(everything[:20], ground=ground, lam=4, workers=1)
sd.pairwise(everything[:20], ground=ground, alpha=0.5, workers=1)
say("ready")
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        say("end", child)
        continue
    limit_after = order.pop("limit_after", None)
    X = everything[: order.pop("n")]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    say("start", os.getpid())
    try:
        sd.pairwise(X, ground=ground, progress=listen, **order)
        say("complete")
    except BaseException as error:
        say(type(error).__name__, str(error))
    os._exit(0)
"""


class Runs:
    """Processes that compute a stored matrix, one at a time."""

    def __init__(self, script):
        self._server = subprocess.Popen(
            [sys.executable, "-c", script, str(Path(__file__).parents[2])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert self.line() == ["ready"]

    def line(self):
        return self._server.stdout.readline().split()

    def start(self, **order):
        """Begin a run; the process."""
        self._server.stdin.write(json.dumps({"lam": 4, "n": DIGITS, "workers": 2, **order}) + "\n")
        self._server.stdin.flush()
        word, pid = self.line()
        assert word == "start"
        return int(pid)

    def rest(self):
        """What the process still says before its end."""
        lines = []
        while (words := self.line())[0] != "end":
            lines.append(words)
        return lines

    def complete(self, **order):
        """A run that nobody disturbs."""
        self.start(**order)
        assert self.rest()[-1] == ["complete"]

    def close(self):
        self._server.stdin.close()
        self._server.wait(30)
        self._server.stdout.close()


@pytest.fixture(scope="module")
def runs():
    runs = Runs(SERVER)
    yield runs
    runs.close()


@pytest.fixture(scope="module")
def whole(runs, tmp_path_factory):
    """The store of a run that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole") / "D.zarr"
    runs.complete(out=str(out))
    D = sd.open_matrix(out)
    assert D.summary().tile == 16 and len(contents(out / "distance" / "c")) == 120
    truth = sd.pairwise(digits(DIGITS), ground=sd.Ground.grid(8, 8), lam=4)
    np.testing.assert_allclose(D.to_numpy(), truth, rtol=1e-12)
    return out


def finished(out):
    """The files of tiles that are whole: bytes, and when and where each was written."""
    if not out.exists():
        return {}
    missing = {tile.place for tile in sd.open_matrix(out).missing}
    return {
        name: content
        for name, content in contents(out).items()
        if (place := re.search(r"/c/(\d+)/(\d+)$", name))
        and (int(place[1]), int(place[2])) not in missing
    }


def chunks(out):
    """The bytes of every chunk."""
    return {name: content[0] for name, content in contents(out).items() if "/c/" in name}


# ------------------------------------------------------------------------------------ SIGKILL


def kill_many_times(runs, out, kills, seed):
    """Kill runs at random moments; how many of them had finished something."""
    rng, kept, grown = random.Random(seed), {}, 0
    for _ in range(kills):
        pid = runs.start(out=str(out))
        for _ in range(rng.choice([0, 0, 1, 2])):
            assert runs.line()[0] == "done"
        time.sleep(rng.uniform(0.0, 0.03))
        os.kill(pid, signal.SIGKILL)
        last = runs.rest()
        assert ["complete"] not in last, "the job is too short for so many kills"
        with contextlib.suppress(sd.InputError):  # killed before there was a store
            now = finished(out)
            assert {name: now[name] for name in kept} == kept
            grown, kept = grown + (len(now) > len(kept)), now
    return kept, grown


def check_killed(runs, whole, out, kills, seed):
    kept, grown = kill_many_times(runs, out, kills, seed)
    assert grown >= kills // 4 and len(kept) >= 3
    runs.complete(out=str(out))
    after = contents(out)
    assert {name: after[name] for name in kept} == kept  # neither lost nor computed again
    assert chunks(out) == chunks(whole)  # to the bit
    assert not list(out.rglob("*.partial"))
    np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), sd.open_matrix(whole).to_numpy())


def test_killed_at_random_moments(runs, whole, tmp_path):
    check_killed(runs, whole, tmp_path / "D.zarr", kills=8, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"alpha": 0.5, "lam": None}], ids=str)
def test_killed_sixty_times(runs, tmp_path, options):
    big, out = {"n": 800, **options}, tmp_path / "D.zarr"
    runs.complete(out=str(tmp_path / "whole.zarr"), **big)

    class Big:
        line, rest = runs.line, runs.rest

        @staticmethod
        def start(**order):
            return runs.start(**order, **big)

        @staticmethod
        def complete(**order):
            runs.complete(**order, **big)

    check_killed(Big, tmp_path / "whole.zarr", out, kills=60, seed=2)


def test_killed_while_another_matrix_is_replaced(runs, whole, tmp_path):
    """Whatever is left of the old one, the same call can be made again."""
    rng = random.Random(3)
    for trial in range(6):
        out = tmp_path / f"{trial}.zarr"
        shutil.copytree(whole, out)
        pid = runs.start(out=str(out), lam=5, n=40, overwrite=True)
        time.sleep(rng.uniform(0.0, 0.05))
        os.kill(pid, signal.SIGKILL)
        runs.rest()
        runs.complete(out=str(out), lam=5, n=40, overwrite=True)
        D = sd.open_matrix(out)
        assert D.is_complete and D.parameters["lam"] == 5.0


# ----------------------------------------------------------------------- torn, damaged, missing


def truncated(chunk):
    chunk.write_bytes(chunk.read_bytes()[:-9])


def emptied(chunk):
    chunk.write_bytes(b"")


def lengthened(chunk):
    chunk.write_bytes(chunk.read_bytes() + b"more")


def deleted(chunk):
    chunk.unlink()


def flipped(chunk, where=5):
    raw = bytearray(chunk.read_bytes())
    raw[where] ^= 1
    chunk.write_bytes(raw)


def flipped_checksum(chunk):
    flipped(chunk, -2)


def zeroed(chunk):
    """What a power cut can leave: the right size, and nothing in it."""
    chunk.write_bytes(bytes(len(chunk.read_bytes())))


DAMAGES = [truncated, emptied, lengthened, deleted, flipped, flipped_checksum, zeroed]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ARRAYS)
def test_a_torn_chunk_is_found_and_computed_again(tmp_path, name, damage):
    out, records = tmp_path / "D.zarr", []
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    before = contents(out)
    damage(out / name / "c" / "0" / "1")
    if damage not in (flipped, flipped_checksum, zeroed):
        assert [tile.place for tile in sd.open_matrix(out).missing] == [(0, 1)]
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out, progress=records.append)
    assert D.is_complete and records[-1].done - records[-1].before == 256
    after = contents(out)
    assert {n: c[0] for n, c in after.items()} == {n: c[0] for n, c in before.items()}
    others = [n for n in before if not n.endswith("/c/0/1")]
    assert {n: after[n] for n in others} == {n: before[n] for n in others}


@pytest.mark.parametrize("damage", [flipped, flipped_checksum, zeroed])
def test_a_damaged_chunk_is_never_read(tmp_path, damage):
    out = tmp_path / "D.zarr"
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    damage(out / "distance" / "c" / "0" / "1")
    for read in (lambda: D[3, 20], lambda: D[20, 3], D.to_numpy, D.summary, lambda: D[[3], [20]]):
        with pytest.raises(sd.StoreError, match=r"Rows 0 to 15 against columns 16 to 31.*damaged"):
            read()
    assert D[3, 5] > 0 and D.status[3, 20] == 0  # the others are as good as before


def test_many_damages_at_once(tmp_path):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    whole = chunks(out)
    for k, chunk in enumerate(sorted(p for p in out.rglob("c/*/*") if p.is_file())):
        DAMAGES[k % len(DAMAGES)](chunk)
    sd.pairwise(X, ground=COSTS, lam=5, out=out, workers=3)
    assert chunks(out) == whole


# ---------------------------------------------------------------------------------- no more room


def test_no_room_in_the_middle(runs, whole, tmp_path):
    out = tmp_path / "D.zarr"
    runs.start(out=str(out), limit_after=2000)
    *_, last = runs.rest()
    assert last[0] == "StoreError" and "could not be written" in " ".join(last)
    assert "run it again" in " ".join(last)
    kept = finished(out)
    assert len(kept) >= 3 * 8 and len(sd.open_matrix(out).missing) > 0
    assert {name: content[0] for name, content in kept.items()}.items() <= chunks(whole).items()
    runs.complete(out=str(out))
    after = contents(out)
    assert {name: after[name] for name in kept} == kept and chunks(out) == chunks(whole)


@contextlib.contextmanager
def largest_file(size):
    """As on a full disk: no file may become larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 600, 1000])
def test_no_room_while_the_store_is_made(tmp_path, size):
    out, error = tmp_path / "D.zarr", None
    with largest_file(size):  # nothing else may write here, not even pytest
        try:
            sd.pairwise(X, ground=COSTS, lam=5, out=out)
        except sd.StoreError as caught:
            error = caught
    assert error is not None and re.search("could not be (made|written)", str(error))
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    np.testing.assert_allclose(D, sd.pairwise(X, ground=COSTS, lam=5), rtol=1e-12)


# -------------------------------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize(
    "order",
    [
        {"workers": 2},
        {"workers": 1},
        {"workers": 2, "iterations": 2000},
        pytest.param({"workers": 2, "alpha": 0.5, "lam": None}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_interrupted(runs, tmp_path, order):
    out, order = str(tmp_path / "D.zarr"), {"n": 1200, **order}
    pid = runs.start(out=out, **order)
    assert runs.line()[0] == "done"
    while len(finished(Path(out))) < 3:  # of one tile; pairs of unfinished ones are told as well
        assert runs.line()[0] == "done"
    begun = time.monotonic()
    os.kill(pid, signal.SIGINT)
    assert runs.rest()[-1][0] == "KeyboardInterrupt"
    answers = [time.monotonic() - begun]
    kept = finished(Path(out))
    assert len(kept) >= 3
    while min(answers) > 1.0 or len(answers) < 2:  # the quickest counts: other work only adds
        assert len(answers) < 5, f"answered after {answers} seconds"
        pid = runs.start(out=out, **order)  # goes on
        word, done, before = runs.line()
        assert word == "done" and int(done) > int(before) > 0
        begun = time.monotonic()
        os.kill(pid, signal.SIGINT)
        assert runs.rest()[-1][0] == "KeyboardInterrupt"
        answers.append(time.monotonic() - begun)
    now = finished(Path(out))
    assert {name: now[name] for name in kept} == kept


def test_interrupted_and_resumed_to_the_bit(runs, whole, tmp_path):
    out = tmp_path / "D.zarr"
    for _ in range(3):
        pid = runs.start(out=str(out))
        for _ in range(3):
            assert runs.line()[0] == "done"
        os.kill(pid, signal.SIGINT)
        assert runs.rest()[-1][0] == "KeyboardInterrupt"
    runs.complete(out=str(out))
    assert chunks(out) == chunks(whole) and not list(out.rglob("*.partial"))


# --------------------------------------------------------------------- killed while it was made


def states():
    """What a run may leave that is killed while it makes the store, in order."""
    yield "folder", set()
    yield "lock", {"lock"}
    yield "group", {"lock", "zarr.json"}
    for k in range(1, 4):
        yield f"{k} arrays", {"lock", "zarr.json", *ARRAYS[:k]}


@pytest.mark.parametrize("left", [left for _, left in states()], ids=[n for n, _ in states()])
@pytest.mark.parametrize("partial", [False, True], ids=["", "partial"])
def test_killed_while_the_store_was_made(tmp_path, left, partial):
    import zarr

    out = tmp_path / "D.zarr"
    with pytest.raises(Enough):
        sd.pairwise(X, ground=COSTS, lam=5, out=out, workers=1, progress=stop_after(1))
    if "zarr.json" in left:
        del zarr.open_group(str(out), mode="r+").attrs["sinkdist"]
    for name in ARRAYS:
        shutil.rmtree(out / name / "c", ignore_errors=True)
    for entry in [*out.iterdir(), out / "distance/zarr.json"]:
        holds_lock = entry.name == "distance" and "lock" in left
        owner = entry.parent.name if entry.parent != out else entry.name
        if owner not in left and not holds_lock:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
    if partial and left:
        (out / "zarr.0123456789abcdef0123456789abcdef.partial").write_bytes(b"{")
    with pytest.raises(sd.InputError):
        sd.open_matrix(out)
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    np.testing.assert_allclose(D, sd.pairwise(X, ground=COSTS, lam=5), rtol=1e-12)
    assert not list(out.rglob("*.partial"))


@pytest.mark.parametrize("gone", [*ARRAYS, "distance/zarr.json"])
def test_a_store_without_one_of_its_arrays(tmp_path, gone):
    """By hand, or by a kill while it was replaced: a sentence, and overwrite mends it."""
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    path = out / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises((sd.InputError, sd.StoreError), match=r"D\.zarr'"):
        sd.open_matrix(out)
    for lam in (5, 6):
        D = sd.pairwise(X, ground=COSTS, lam=lam, out=out, overwrite=True)
        np.testing.assert_allclose(D, sd.pairwise(X, ground=COSTS, lam=lam), rtol=1e-12)


# ---------------------------------------------------------------------------------- starting up


@pytest.mark.slow
def test_resume_of_many_tiles_starts_at_once(tmp_path, monkeypatch, capsys):
    """10^4 tiles: under two seconds of work to the first one that is computed."""
    from sinkdist.scale import job
    from sinkdist.scale.job import TileResult
    from sinkdist.scale.store import open_store

    monkeypatch.setattr(job, "_LARGEST", 16)
    family, ground, out = simplex(141 * 16, 4, 1), random_metric(4, 1), tmp_path / "D.zarr"
    call = {"ground": ground, "lam": 5, "out": out}
    with pytest.raises(Enough):
        sd.pairwise(family, **call, progress=stop_after(1))
    store = open_store(out, "r+")
    assert len(store.tiling) == 10_011
    block = TileResult(
        np.ones((16, 16)), np.zeros((16, 16), np.int8), np.zeros((16, 16), np.float32)
    )
    *most, last = sd.open_matrix(out).missing
    for tile in most:
        store.write(tile, block)
    assert [tile.place for tile in sd.open_matrix(out).missing] == [last.place]
    moments, begun = [], time.process_time()
    D = sd.pairwise(
        family, **call, progress=lambda record: moments.append(time.process_time() - begun)
    )
    took = time.process_time() - begun
    begun = time.process_time()
    sd.pairwise(family, **call)
    again = time.process_time() - begun
    begun = time.process_time()
    assert D[3, 5] == D[5, 3]
    entry = (time.process_time() - begun) / 2
    with capsys.disabled():
        sys.stdout.write(
            f"\n10,011 tiles: first tile after {moments[0]:.2f} s, resumed in {took:.2f} s, "
            f"complete one checked in {again:.2f} s, one entry read in {entry * 1e3:.1f} ms\n"
        )
    assert moments[0] < 2.0
