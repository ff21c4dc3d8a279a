"""Each caveat has a canary on which it must fire, and a clean twin on which it must stay silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from roofline.host import host_caveats, read_environment, read_machine
from roofline.model.host_caveat import CODEGEN_VARIABLES
from roofline.model.machine import Environment, Machine

MACHINE = Machine(
    cpu_model="X", arch="x86_64", hardware_threads=8, core_classes=(4,), virtualisation="none", system="Linux"
)
QUIET = Environment(
    governor="performance",
    turbo=False,
    transparent_huge_pages="madvise",
    load_1min=0.4,
    steal_share=0.0,
    affinity=tuple(range(8)),
    cpus_used=(0, 1, 2, 3),
)


def codes(machine: Machine, environment: Environment) -> list[str]:
    return [caveat.code for caveat in host_caveats(machine, environment)]


@pytest.mark.twin("HYBRID")
def test_a_quiet_tuned_machine_has_no_caveat() -> None:
    assert codes(MACHINE, QUIET) == []


@pytest.mark.canary("CPUCOUNT", "THROTTLE", "UNPINNED")
@pytest.mark.twin("CPUCOUNT", "UNPINNED")
@pytest.mark.parametrize(
    ("code", "canary", "twin"),
    [
        ("THROTTLE", {"cgroup_cpus": 2.5}, {"cgroup_cpus": 8.0}),
        ("UNPINNED", {"affinity": None}, {"affinity": tuple(range(8))}),
        ("CPUCOUNT", {"affinity": (0, 1)}, {"affinity": tuple(range(8))}),
        ("STEAL", {"steal_share": 0.02}, {"steal_share": 0.004}),
        ("STEAL", {"steal_share": 0.02}, {"steal_share": None}),
        ("BUSY", {"load_1min": 0.6}, {"load_1min": 0.5}),
        ("BUSY", {"load_1min": 1.1}, {"load_1min": 0.9, "cpus_used": tuple(range(10))}),
        ("NOCPUFREQ", {"governor": None}, {"governor": "performance"}),
        ("GOVERNOR", {"governor": "powersave"}, {"governor": "performance"}),
        ("GOVERNOR", {"governor": "performance, powersave"}, {"governor": "performance"}),
        ("TURBO_ON", {"turbo": True}, {"turbo": None}),
        ("THP", {"transparent_huge_pages": "never"}, {"transparent_huge_pages": "always"}),
        ("CODEGEN", {"variables": {"NUMBA_OPT": "0"}}, {"variables": {"NUMBA_NUM_THREADS": "2"}}),
    ],
)
def test_a_condition_gives_its_caveat_and_the_clean_twin_gives_none(
    code: str, canary: dict[str, object], twin: dict[str, object]
) -> None:
    assert codes(MACHINE, replace(QUIET, **canary)) == [code]
    assert codes(MACHINE, replace(QUIET, **twin)) == []


@pytest.mark.parametrize("name", ["kvm", "firecracker", "vmware", "xen", "hyperv", "vm"])
def test_a_guest_gives_a_caveat(name: str) -> None:
    assert codes(replace(MACHINE, virtualisation=name), QUIET) == ["VM"]


@pytest.mark.parametrize("name", ["docker", "podman", "lxc", "none", None])
def test_a_container_alone_gives_none(name: str | None) -> None:
    assert codes(replace(MACHINE, virtualisation=name), QUIET) == []


@pytest.mark.canary("HYBRID")
def test_hybrid_cores_give_a_caveat_that_names_the_cpus_used() -> None:
    (caveat,) = host_caveats(replace(MACHINE, core_classes=(2, 4)), QUIET)
    assert caveat.code == "HYBRID"
    assert "2 + 4" in caveat.message
    assert "0, 1, 2, 3" in caveat.message


def test_macos_which_has_no_governor_is_not_blamed_for_it() -> None:
    assert codes(replace(MACHINE, system="Darwin"), replace(QUIET, governor=None)) == []


@pytest.mark.parametrize("name", sorted(CODEGEN_VARIABLES))
def test_every_variable_that_changes_machine_code_is_named_with_its_value(name: str) -> None:
    (caveat,) = host_caveats(MACHINE, replace(QUIET, variables={name: "generic"}))
    assert caveat.message.startswith(f"{name}='generic' ")


def test_a_quota_is_told_with_what_it_leaves() -> None:
    (caveat,) = host_caveats(MACHINE, replace(QUIET, cgroup_cpus=2.5, cpus_used=(0, 1)))
    assert "2.5 of 8 CPUs" in caveat.message
    assert "all cores means 2 here" in caveat.message


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("intel_two_sockets_smt", ["GOVERNOR", "TURBO_ON"]),
        ("amd_two_l3", ["TURBO_ON"]),
        ("alder_lake_hybrid", ["HYBRID", "BUSY", "GOVERNOR"]),
        ("neoverse_n1", ["THP"]),
        ("guest_without_cpufreq", ["VM", "STEAL", "NOCPUFREQ"]),
        ("container_cgroup_v1", ["THROTTLE", "NOCPUFREQ"]),
        ("container_cgroup_v2", ["THROTTLE", "CPUCOUNT", "NOCPUFREQ"]),
        ("garbage", ["UNPINNED", "NOCPUFREQ"]),
    ],
)
def test_recorded_hosts_get_their_caveats(host: str, expected: list[str], hosts: Path) -> None:
    root = hosts / host
    assert codes(read_machine(root), read_environment(root, variables={})) == expected
