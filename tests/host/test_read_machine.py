"""The machine, as each recorded host tells it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from roofline.host import read_machine
from roofline.host.machine import machine_from_platform
from roofline.host.processor import microarchitecture_of
from roofline.model.machine import Cache, Machine

KIB, MIB = 2**10, 2**20
Plant = Callable[..., Path]


def test_two_sockets_with_smt_are_counted_once(hosts: Path) -> None:
    machine = read_machine(hosts / "intel_two_sockets_smt")
    assert machine.cpu_model == "Intel(R) Xeon(R) CPU E5-2637 0 @ 3.00GHz"
    assert (machine.arch, machine.microarchitecture) == ("x86_64", "sandybridge")  # kernel before proc/sys/kernel/arch
    assert (machine.sockets, machine.cores, machine.hardware_threads, machine.numa_nodes) == (2, 4, 8, 2)
    assert machine.core_classes == (4,)
    assert machine.memory_bytes == 65834020 * KIB
    assert machine.virtualisation == "none"
    assert machine.system == "Linux"


def test_only_data_and_unified_caches_are_listed(hosts: Path) -> None:
    assert read_machine(hosts / "intel_two_sockets_smt").caches == (
        Cache(name="L1", size_bytes=32 * KIB, line_bytes=64, shared_by=2, instances=4),
        Cache(name="L2", size_bytes=256 * KIB, line_bytes=64, shared_by=2, instances=4),
        Cache(name="L3", size_bytes=5 * MIB, line_bytes=64, shared_by=4, instances=2),
    )


@pytest.mark.parametrize(
    ("file", "text"), [("type", "Instruction"), ("type", ""), ("level", "-3"), ("level", "77"), ("size", "0K")]
)
def test_a_cache_that_holds_no_data_or_has_no_sound_level_or_size_is_not_listed(
    file: str, text: str, plant: Plant
) -> None:
    files = {f"sys/devices/system/cpu/cpu{cpu}/cache/index0/{file}": text for cpu in range(2)}
    assert [cache.name for cache in read_machine(plant(files, "guest_without_cpufreq")).caches] == ["L2", "L3"]


def test_a_host_without_fma_has_no_avx2_row(hosts: Path) -> None:
    machine = read_machine(hosts / "intel_two_sockets_smt")
    assert machine.features == ("avx", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3")
    assert machine.isas == ("scalar", "sse2", "avx")


def test_each_core_complex_has_its_own_l3(hosts: Path) -> None:
    machine = read_machine(hosts / "amd_two_l3")
    assert machine.microarchitecture == "zen2"
    assert machine.cache("L3") == Cache(name="L3", size_bytes=8 * MIB, line_bytes=64, shared_by=4, instances=2)
    assert machine.isas == ("scalar", "sse2", "avx2")


def test_favoured_cores_of_one_kind_are_not_hybrid(hosts: Path) -> None:
    assert read_machine(hosts / "amd_two_l3").core_classes == (4,)  # one core clocks 0.7 % higher


def test_hybrid_cores_are_told_apart_and_the_fast_ones_give_the_caches(hosts: Path) -> None:
    machine = read_machine(hosts / "alder_lake_hybrid")
    assert machine.microarchitecture == "alderlake"
    assert (machine.cores, machine.hardware_threads, machine.core_classes) == (6, 8, (2, 4))
    assert machine.caches == (
        Cache(name="L1", size_bytes=48 * KIB, line_bytes=64, shared_by=2, instances=2),
        Cache(name="L2", size_bytes=1280 * KIB, line_bytes=64, shared_by=2, instances=2),
        Cache(name="L3", size_bytes=10 * MIB, line_bytes=64, shared_by=8, instances=1),
    )


def test_hybrid_cores_are_told_by_clock_where_the_kernel_names_no_kinds(plant: Plant) -> None:
    root = plant({"sys/devices/cpu_core/cpus": "", "sys/devices/cpu_atom/cpus": ""}, "alder_lake_hybrid")
    assert read_machine(root).core_classes == (2, 4)


def test_hybrid_cores_are_told_by_their_counter_units_where_no_clock_is_visible(plant: Plant) -> None:
    clocks = {f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq": "" for cpu in range(8)}
    assert read_machine(plant(clocks, "alder_lake_hybrid")).core_classes == (2, 4)


def test_big_and_little_cores_are_told_by_capacity_and_named_after_the_big_ones(plant: Plant) -> None:
    little = "processor\t: {0}\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
    big = "processor\t: {0}\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n"
    blocks = little.format(0) + big.format(1) + big.format(2) + little.format(3)
    capacity = {f"sys/devices/system/cpu/cpu{cpu}/cpu_capacity": "1024" if cpu in (1, 2) else "446" for cpu in range(4)}
    machine = read_machine(
        plant({"proc/cpuinfo": blocks, "proc/sys/kernel/arch": "aarch64", **capacity}, "neoverse_n1")
    )
    assert machine.core_classes == (2, 2)
    assert machine.cpu_model == "ARM cortex_a72"


def test_an_aarch64_cpu_without_a_name_is_called_by_vendor_and_part(hosts: Path) -> None:
    machine = read_machine(hosts / "neoverse_n1")
    assert (machine.cpu_model, machine.microarchitecture) == ("ARM neoverse_n1", "neoverse_n1")
    assert machine.arch == "aarch64"
    assert machine.features == ("dotprod", "fp-armv8", "fullfp16", "neon")
    assert machine.isas == ("scalar", "neon")
    assert [cache.name for cache in machine.caches] == ["L1", "L2"]


def test_an_unknown_part_keeps_its_number(plant: Plant) -> None:
    cpuinfo = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x7f\nCPU architecture: 8\nCPU part\t: 0xfff\n"
    machine = read_machine(plant({"proc/cpuinfo": cpuinfo}))
    assert (machine.cpu_model, machine.microarchitecture) == ("0x7f part 0xfff", None)


def test_a_guest_that_hides_features_gets_a_level_and_not_an_older_cpu(hosts: Path) -> None:
    machine = read_machine(hosts / "guest_without_cpufreq")  # a Zen 4 without its protection keys
    assert machine.microarchitecture == "x86_64_v4"
    assert machine.isas == ("scalar", "sse2", "avx2", "avx512")
    assert machine.virtualisation == "kvm"


def test_a_microarchitecture_of_another_vendor_is_never_given() -> None:
    flags = frozenset(["mmx", "sse", "sse2", "ssse3", "sse4_1", "sse4_2", "popcnt", "cx16", "lahf_lm"])
    assert microarchitecture_of("x86_64", "GenuineIntel", flags) == "nehalem"
    assert microarchitecture_of("x86_64", "SomebodyElse", flags) == "x86_64_v2"
    assert microarchitecture_of("x86_64", "GenuineIntel", frozenset()) is None
    assert microarchitecture_of("vax", "GenuineIntel", flags) is None


def test_features_given_by_llvm_lead_to_the_same_key(hosts: Path) -> None:
    root = hosts / "alder_lake_hybrid"
    told = read_machine(root)
    by_llvm = read_machine(root, features=(*told.features, "cmov", "64bit", "sahf"))
    assert by_llvm == told
    assert read_machine(root, features=("sse2",)).isas == ("scalar", "sse2")


def test_an_empty_tree_is_unknown_in_every_field(tmp_path: Path) -> None:
    assert read_machine(tmp_path) == Machine(cpu_model="unknown", arch="unknown")


def test_a_host_without_sys_still_has_its_cpus(plant: Plant, hosts: Path) -> None:
    cpuinfo = (hosts / "amd_two_l3" / "proc" / "cpuinfo").read_text()
    machine = read_machine(plant({"proc/cpuinfo": cpuinfo}))
    assert (machine.hardware_threads, machine.cores, machine.sockets, machine.numa_nodes) == (8, None, None, None)
    assert machine.core_classes == ()
    assert machine.arch == "x86_64"


def test_a_32_bit_x86_is_no_x86_64(plant: Plant) -> None:
    machine = read_machine(plant({"proc/cpuinfo": "processor\t: 0\nflags\t: fpu mmx sse sse2\n"}))
    assert (machine.arch, machine.isas) == ("i686", ())


def test_a_cpu_of_which_the_kernel_shows_no_folder_does_not_count(plant: Plant) -> None:
    machine = read_machine(plant({"sys/devices/system/cpu/online": "0-63\n"}, "guest_without_cpufreq"))
    assert machine.hardware_threads == 2


def test_a_sibling_that_is_offline_does_not_count(plant: Plant) -> None:
    machine = read_machine(plant({"sys/devices/system/cpu/online": "0-4,6-7\n"}, "amd_two_l3"))
    assert (machine.hardware_threads, machine.cores) == (7, 4)


def test_this_machine_can_be_read() -> None:
    machine = read_machine()
    assert machine.arch != "unknown"
    assert machine.hardware_threads is not None and machine.hardware_threads >= (machine.cores or 1)
    assert "scalar" in machine.isas


def test_a_system_that_is_neither_linux_nor_macos_is_read_through_psutil() -> None:
    machine = machine_from_platform()
    assert machine.hardware_threads is not None and machine.hardware_threads >= 1
    assert machine.memory_bytes is not None and machine.memory_bytes > 0
    assert machine.isas[:1] == ("scalar",)
    assert machine_from_platform(features=()).features == ()
