"""What the operating system says of memory, on made-up machines and on this one."""

import os
import sys

import numpy as np
import pytest

from sinkdist.scale import memory, system

GB = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Write the files of a Linux system with 16 GB free."""
    monkeypatch.setattr(system, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(system, "_CGROUPS", tmp_path / "cgroup")

    def write(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")

    write(**{"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {16 * GB // 1024} kB"})
    return write


def near(expected):
    return pytest.approx(expected, abs=1024)


def test_a_machine_without_limits(machine):
    assert system.available() == near(16 * GB)


def test_a_container(machine):
    """Version 2: the container's own group is at the top."""
    machine(
        **{
            "proc/self/cgroup": "0::/",
            "cgroup/memory.max": 4 * GB,
            "cgroup/memory.high": "max",
            "cgroup/memory.current": 3 * GB,
            "cgroup/memory.stat": f"anon {GB}\ninactive_file {GB}",
        }
    )
    assert system.available() == 2 * GB  # the file cache is given back


def test_no_limit_is_the_word_max(machine):
    machine(**{"cgroup/memory.max": "max", "cgroup/memory.current": 3 * GB})
    assert system.available() == near(16 * GB)


@pytest.mark.parametrize("limited", ["batch", "batch/job7", "batch/job7/step0"])
def test_a_batch_job(machine, limited):
    """The limit may be that of any group around this one."""
    machine(
        **{
            "proc/self/cgroup": "0::/batch/job7/step0",
            f"cgroup/{limited}/memory.max": 2 * GB,
            f"cgroup/{limited}/memory.current": GB,
        }
    )
    assert system.available() == GB


def test_a_group_above_its_limit_leaves_nothing(machine):
    machine(**{"cgroup/memory.high": GB, "cgroup/memory.current": 2 * GB})
    assert system.available() == 0


@pytest.mark.parametrize("name", ["/", "/docker/6a7b", "/docker/6a7b/../../.."])
def test_version_1(machine, name):
    """Where a container sees a name that exists only outside, its own group is at the top."""
    machine(
        **{
            "proc/self/cgroup": f"9:cpu,cpuacct:/\n4:memory:{name}\n1:name=systemd:/x:y",
            "cgroup/memory/memory.limit_in_bytes": 3 * GB,
            "cgroup/memory/memory.usage_in_bytes": 2 * GB,
            "cgroup/memory/memory.stat": f"cache {GB}\ntotal_inactive_file {GB // 2}",
        }
    )
    assert system.available() == GB + GB // 2


def test_no_proc_at_all(machine, tmp_path):
    (tmp_path / "proc/meminfo").unlink()
    assert system.available() == system.physical() // 2
    assert system.held() > 10**6  # the peak stands for it


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
def test_what_is_held_follows_allocations():
    before = system.held()
    block = np.ones(25_000_000)
    assert system.held() - before > 0.9 * block.nbytes
    del block
    assert system.held() - before < 50_000_000


def test_this_machine():
    assert 10**7 < system.held() < system.physical()
    assert 0 < system.available() < 2**50
    assert memory.read(None) > system.held()


@pytest.mark.skipif(sys.platform != "linux", reason="limits address space as Linux does")
def test_a_limit_of_the_address_space(monkeypatch):
    import resource

    pages = system._pages()[0] * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (pages + GB, pages + 2 * GB))
    assert system.available() <= GB
