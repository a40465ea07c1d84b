"""Watching a cluster that is silent, with a client that says what the test wants."""

from types import SimpleNamespace

import pytest

from sinkdist.errors import ClusterWarning, StoreError
from sinkdist.scale import cluster_health
from sinkdist.scale.cluster_health import ClusterHealth, kept


class Clock:
    """A time that passes only when somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class FakeClient:
    """A scheduler whose workers have the given statuses."""

    def __init__(self, *statuses, busy=0):
        self.status = "running"
        self.scheduler = SimpleNamespace(address="tcp://here:1", identity=None)
        self.workers = [
            {"status": status, "metrics": {"task_counts": {"executing": busy}}}
            for status in statuses
        ]

    def sync(self, function, callback_timeout):
        if self.workers is None:
            raise OSError("no answer")
        return {"workers": dict(enumerate(self.workers))}


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(cluster_health, "time", clock)
    return clock


@pytest.mark.parametrize(
    "client", [FakeClient("running"), FakeClient("paused", "running"), FakeClient("paused", busy=1)]
)
def test_somebody_can_work(client, clock):
    looking = ClusterHealth(client, "D.zarr")
    for _ in range(1000):
        assert looking.check()
        clock.sleep(1.0)


@pytest.mark.parametrize(
    ("client", "trouble"),
    [
        (FakeClient(), "no worker is connected. Start some."),
        (FakeClient("paused", "paused"), r"all its workers \(2\) are paused, for want of memory."),
    ],
)
def test_trouble_is_told_once_and_ends_the_run_when_it_lasts(client, trouble, clock):
    looking = ClusterHealth(client, "D.zarr")
    with (
        pytest.warns(ClusterWarning, match=f"computes nothing: {trouble}") as said,
        pytest.raises(
            StoreError, match=f"has computed nothing for 30 seconds: {trouble}.*kept in 'D.zarr'"
        ),
    ):
        looking.wait_for_workers()
    assert len(said) == 1 and 30.0 < clock.now < 31.0


def test_there_is_more_patience_after_the_first_tile(clock):
    looking = ClusterHealth(FakeClient(), None)
    looking.tile_finished()
    with pytest.warns(ClusterWarning), pytest.raises(StoreError, match="nothing for 60 seconds"):
        looking.wait_for_workers()


def test_workers_that_come_back_are_waited_for(clock):
    client = FakeClient()
    looking = ClusterHealth(client, None)
    looks = []
    with pytest.warns(ClusterWarning):
        looks += [(looking.check(), clock.sleep(1.0)) for _ in range(25)]
    assert not any(found for found, _ in looks)
    client.workers = FakeClient("running").workers
    looking.wait_for_workers()
    client.workers = []  # and the count begins anew
    assert not looking.check()


def test_a_scheduler_that_does_not_answer_is_trouble(clock):
    client = FakeClient("running")
    client.workers = None
    with (
        pytest.warns(ClusterWarning, match="its scheduler does not answer"),
        pytest.raises(StoreError),
    ):
        ClusterHealth(client, None).wait_for_workers()


@pytest.mark.parametrize(("status", "seconds"), [("closed", 0.0), ("connecting", 5.0)])
def test_a_scheduler_that_is_gone(clock, status, seconds):
    client = FakeClient("running")
    looking = ClusterHealth(client, "D.zarr")
    client.status = status
    with pytest.raises(StoreError, match="The Dask scheduler at tcp://here:1 is gone"):
        looking.check()
    assert seconds <= clock.now < seconds + 1.0


def test_what_is_left_of_a_run():
    assert "lost, because they were kept in memory only" in kept(None)
    assert kept("E.zarr").startswith("Finished tiles are kept in 'E.zarr'")
