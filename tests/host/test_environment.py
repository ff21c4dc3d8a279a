"""The conditions of a run, as each recorded host tells them."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from roofline.host import read_environment
from roofline.model.machine import Environment

Plant = Callable[..., Path]


def conditions(environment: Environment) -> tuple[object, ...]:
    return environment.governor, environment.turbo, environment.smt, environment.transparent_huge_pages


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("intel_two_sockets_smt", ("powersave", True, True, "madvise")),  # intel_pstate
        ("amd_two_l3", ("performance", True, True, "always")),  # acpi-cpufreq
        ("alder_lake_hybrid", ("powersave", False, True, "madvise")),
        ("neoverse_n1", ("performance", None, False, "never")),
        ("guest_without_cpufreq", (None, None, False, "madvise")),
        ("garbage", (None, None, None, None)),
    ],
)
def test_clock_and_page_settings_are_read(host: str, expected: tuple[object, ...], hosts: Path) -> None:
    assert conditions(read_environment(hosts / host, variables={})) == expected


def test_turbo_of_one_policy_stands_for_all_where_there_is_no_common_switch(plant: Plant) -> None:
    root = plant({"sys/devices/system/cpu/cpu0/cpufreq/boost": "0\n"}, "neoverse_n1")
    assert read_environment(root).turbo is False


def test_smt_follows_from_the_topology_on_an_old_kernel(plant: Plant) -> None:
    root = plant({"sys/devices/system/cpu/smt/active": ""}, "amd_two_l3")
    assert read_environment(root).smt is True


def test_governors_that_differ_are_all_named(plant: Plant) -> None:
    root = plant({"sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "schedutil\n"}, "neoverse_n1")
    assert read_environment(root).governor == "performance, schedutil"


def test_load_and_steal_are_read(hosts: Path) -> None:
    environment = read_environment(hosts / "guest_without_cpufreq", variables={})
    assert environment.load_1min == 0.08
    assert environment.steal_share == 3012 / (77481 + 2423 + 231533 + 330 + 31 + 3012)
    assert read_environment(hosts / "neoverse_n1").steal_share == 0


def test_guest_time_is_not_counted_twice(plant: Plant) -> None:
    assert read_environment(plant({"proc/stat": "cpu  50 0 0 40 0 0 0 10 50 0\n"})).steal_share == 0.1


def test_a_kernel_too_old_to_tell_steal_leaves_it_unknown(plant: Plant) -> None:
    assert read_environment(plant({"proc/stat": "cpu  50 0 0 40\n"})).steal_share is None


def test_limits_are_recorded(hosts: Path) -> None:
    environment = read_environment(hosts / "container_cgroup_v2", variables={})
    assert environment.affinity == (1, 2, 3)
    assert environment.cpus_used == (1,)
    assert environment.cgroup_cpus == 1.5
    assert environment.memory_limit_bytes == 3 * 2**30
    assert environment.memory_available_bytes == 2**29


def test_affinity_given_replaces_that_of_the_process(hosts: Path) -> None:
    environment = read_environment(hosts / "neoverse_n1", affinity=[3, 1])
    assert (environment.affinity, environment.cpus_used) == ((1, 3), (1, 3))


def test_only_variables_that_change_code_or_threads_are_kept(hosts: Path) -> None:
    variables = {"OMP_NUM_THREADS": "4", "NUMBA_OPT": "1", "PATH": "/usr/bin", "MY_OMP_X": "1", "MKL_CBWR": "AVX2"}
    environment = read_environment(hosts / "neoverse_n1", variables=variables)
    assert environment.variables == {"MKL_CBWR": "AVX2", "NUMBA_OPT": "1", "OMP_NUM_THREADS": "4"}


def test_versions_are_those_of_this_process(tmp_path: Path) -> None:
    environment = read_environment(tmp_path, llvm="20.1.8")
    assert environment.python == platform.python_version()
    assert (environment.numba, environment.numpy) == (version("numba"), version("numpy"))
    assert environment.llvmlite == version("llvmlite")
    assert environment.llvm == "20.1.8"
    assert environment.blas == ()


def test_an_empty_tree_leaves_everything_unknown(tmp_path: Path) -> None:
    environment = read_environment(tmp_path, variables={})
    known = {name for name in environment.__struct_fields__ if getattr(environment, name) not in (None, (), {})}
    assert known <= {"python", "numba", "llvmlite", "numpy"}
