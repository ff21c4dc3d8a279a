"""What a process may use: affinity, cores, quotas and memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from roofline.host import memory_available_bytes, memory_budget_bytes, read_affinity, usable_cpus
from roofline.host.cgroup import cpu_quota, memory_limit_bytes, memory_room_bytes
from roofline.host.tree import Tree

GIB, MIB = 2**30, 2**20
Plant = Callable[..., Path]


@pytest.mark.twin("SMT")
@pytest.mark.parametrize(
    ("host", "cpus"),
    [
        ("intel_two_sockets_smt", (0, 2, 1, 3)),  # siblings n, n + 4; even CPUs on socket 0, which is filled first
        ("amd_two_l3", (0, 1, 2, 3)),
        ("alder_lake_hybrid", (0, 2)),  # siblings 2n, 2n + 1; CPUs 4 to 7 are the slow kind
        ("neoverse_n1", (0, 1, 2, 3)),
        ("guest_without_cpufreq", (0, 1)),
        ("container_cgroup_v1", (0, 1)),  # 2.5 CPUs
        ("container_cgroup_v2", (1,)),  # 1.5 CPUs, and not CPU 0
    ],
)
def test_one_hardware_thread_per_core_is_used(host: str, cpus: tuple[int, ...], hosts: Path) -> None:
    assert usable_cpus(hosts / host) == cpus


@pytest.mark.canary("SMT")
@pytest.mark.parametrize(
    ("host", "affinity", "cpus"),
    [
        ("intel_two_sockets_smt", {0, 4}, (0,)),  # both threads of one core
        ("intel_two_sockets_smt", {4, 5}, (4, 5)),  # the second threads of two cores
        ("intel_two_sockets_smt", {7, 3, 2}, (2, 3)),
        ("alder_lake_hybrid", {1, 5, 6}, (1,)),  # one fast core among slow ones
        ("alder_lake_hybrid", {7, 5, 6}, (5, 6, 7)),  # only slow ones
        ("neoverse_n1", {2, 900}, (2,)),  # a CPU that is not there
        ("container_cgroup_v1", {1, 2, 3}, (1, 2)),
    ],
)
def test_affinity_narrows_the_choice(host: str, affinity: set[int], cpus: tuple[int, ...], hosts: Path) -> None:
    assert usable_cpus(hosts / host, affinity) == cpus


def test_affinity_is_read_from_the_recorded_process_without_cpus_that_are_offline(plant: Plant, hosts: Path) -> None:
    assert read_affinity(hosts / "container_cgroup_v2") == (1, 2, 3)
    root = plant({"proc/self/status": "Cpus_allowed_list:\t0-1023\n"}, "guest_without_cpufreq")
    assert read_affinity(root) == (0, 1)


def test_without_topology_every_cpu_allowed_is_taken_for_a_core(tmp_path: Path) -> None:
    assert usable_cpus(tmp_path, affinity=(5, 3)) == (3, 5)
    assert usable_cpus(tmp_path) == ()
    assert read_affinity(tmp_path) is None


def test_a_quota_below_one_cpu_still_leaves_one(plant: Plant) -> None:
    root = plant({"sys/fs/cgroup/cpu.max": "20000 100000\n"}, "neoverse_n1")
    assert cpu_quota(Tree(root)) == 0.2
    assert usable_cpus(root) == (0,)


def test_the_tightest_quota_is_found_in_an_ancestor_of_version_1(hosts: Path) -> None:
    assert cpu_quota(Tree(hosts / "container_cgroup_v1")) == 2.5  # the leaf allows 4


def test_the_tightest_quota_is_found_in_an_ancestor_of_version_2(hosts: Path) -> None:
    assert cpu_quota(Tree(hosts / "container_cgroup_v2")) == 1.5  # the leaf says max, its grandparent 8


@pytest.mark.parametrize("host", ["guest_without_cpufreq", "intel_two_sockets_smt", "neoverse_n1"])
def test_a_host_without_limits_has_none(host: str, hosts: Path) -> None:
    tree = Tree(hosts / host)
    assert (cpu_quota(tree), memory_limit_bytes(tree), memory_room_bytes(tree)) == (None, None, None)


def test_file_cache_that_can_be_dropped_is_not_use(hosts: Path) -> None:
    root = hosts / "container_cgroup_v1"
    assert memory_limit_bytes(Tree(root)) == 2 * GIB
    assert memory_available_bytes(root) == 2 * GIB - (768 - 256) * MIB


def test_memory_is_what_the_fullest_ancestor_leaves(hosts: Path) -> None:
    root = hosts / "container_cgroup_v2"
    assert memory_limit_bytes(Tree(root)) == 3 * GIB  # the leaf allows 4 and has 3 left
    assert memory_available_bytes(root) == 512 * MIB
    assert memory_budget_bytes(root) == 512 * MIB * 6 // 10


def test_the_budget_is_bounded_by_available_memory_too(plant: Plant) -> None:
    root = plant({"proc/meminfo": "MemTotal: 65834020 kB\nMemAvailable:   1000 kB\n"}, "container_cgroup_v2")
    assert memory_budget_bytes(root) == 600 * 1024


def test_a_limit_that_is_used_up_leaves_nothing(plant: Plant) -> None:
    root = plant({"sys/fs/cgroup/kubepods.slice/my pod.slice/memory.current": "9999999999\n"}, "container_cgroup_v2")
    assert memory_available_bytes(root) == 0


def test_the_throttling_limit_counts_as_a_limit(plant: Plant) -> None:
    root = plant({"sys/fs/cgroup/memory.max": "8000000000", "sys/fs/cgroup/memory.high": "7000000000"}, "neoverse_n1")
    assert memory_limit_bytes(Tree(root)) == 7_000_000_000


def test_a_limit_of_version_1_needs_no_statistics(plant: Plant) -> None:
    root = plant({"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n"}, "guest_without_cpufreq")
    assert memory_limit_bytes(Tree(root)) == GIB


def test_an_ancestor_out_of_sight_shows_in_the_hierarchical_limit(plant: Plant) -> None:
    files = {"sys/fs/cgroup/memory/memory.stat": "cache 0\nhierarchical_memory_limit 1073741824\n"}
    assert memory_limit_bytes(Tree(plant(files, "guest_without_cpufreq"))) == GIB


def test_unknown_memory_gives_no_budget(tmp_path: Path) -> None:
    assert memory_available_bytes(tmp_path) is None
    assert memory_budget_bytes(tmp_path) is None


@pytest.mark.parametrize(
    ("group", "mount_root"),
    [
        ("/docker/abc", "/docker/abc"),  # the container's own group is the root of what it sees
        ("/", "/"),  # cgroup namespace
        ("/../other", "/"),  # the process is outside of its namespace's root
        ("/docker/abc", "/somewhere/else"),
        ("/", "/../.."),  # mounted before the namespace was entered
        ("/docker/abc", "/"),  # the host's path, of which only the mount point exists
    ],
)
def test_the_mount_point_counts_wherever_the_group_seems_to_be(group: str, mount_root: str, plant: Plant) -> None:
    root = plant(
        {
            "proc/self/cgroup": f"0::{group}\n",
            "proc/self/mountinfo": f"35 25 0:30 {mount_root} /sys/fs/cg\\040roup rw shared:9 - cgroup2 cgroup2 rw\n",
            "sys/fs/cg roup/cpu.max": "300000 100000\n",
            "sys/fs/other/cpu.max": "100000 100000\n",  # outside of what is mounted
        }
    )
    assert cpu_quota(Tree(root)) == 3.0


def test_a_mount_of_another_controller_says_nothing(plant: Plant) -> None:
    root = plant(
        {
            "proc/self/cgroup": "3:cpuset:/a\n2:cpu:/a\n",
            "proc/self/mountinfo": "35 25 0:30 / /cpuset rw - cgroup cgroup rw,cpuset\n",
            "cpuset/cpu.cfs_quota_us": "100000\n",
            "cpuset/cpu.cfs_period_us": "100000\n",
        }
    )
    assert cpu_quota(Tree(root)) is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no affinity")
def test_this_process_may_use_what_the_system_says() -> None:
    allowed = os.sched_getaffinity(0)
    assert read_affinity() == tuple(sorted(allowed))
    assert set(usable_cpus()) <= allowed
    assert len(usable_cpus()) >= 1
    assert (memory_budget_bytes() or 0) > 0
