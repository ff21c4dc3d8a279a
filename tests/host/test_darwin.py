"""The machine as macOS tells it. No macOS was at hand: the text of `sysctl` is a recorded one."""

from __future__ import annotations

from pathlib import Path

import pytest

from roofline.host.darwin import machine_from_sysctl
from roofline.model.machine import Cache, Machine

KIB, MIB = 2**10, 2**20

INTEL = """\
hw.packages: 1
hw.physicalcpu: 4
hw.logicalcpu: 8
hw.memsize: 17179869184
hw.cacheconfig: 8 2 2 8 0 0 0 0 0 0
hw.cachelinesize: 64
hw.l1icachesize: 32768
hw.l1dcachesize: 32768
hw.l2cachesize: 262144
hw.l3cachesize: 6291456
hw.optional.floatingpoint: 1
machdep.cpu.vendor: GenuineIntel
machdep.cpu.brand_string: Intel(R) Core(TM) i5-8279U CPU @ 2.40GHz
machdep.cpu.features: FPU VME SSE SSE2 SSE3 SSSE3 FMA CX16 SSE4.1 SSE4.2 AES AVX1.0 F16C
machdep.cpu.leaf7_features: RDWRFSGS BMI1 AVX2 SMEP BMI2
"""


@pytest.fixture
def m1(hosts: Path) -> Machine:
    return machine_from_sysctl((hosts / "apple_m1.sysctl").read_text())


def test_apple_silicon_is_named(m1: Machine) -> None:
    assert (m1.cpu_model, m1.microarchitecture, m1.arch, m1.system) == ("Apple M1", "m1", "aarch64", "Darwin")
    assert m1.features == ("dotprod", "fullfp16", "neon")  # not bf16, which it lists with a 0
    assert m1.isas == ("scalar", "neon")
    assert m1.virtualisation == "none"


def test_performance_and_efficiency_cores_are_told_apart(m1: Machine) -> None:
    assert (m1.sockets, m1.cores, m1.hardware_threads, m1.core_classes) == (1, 8, 8, (4, 4))
    assert m1.memory_bytes == 16 * 2**30


def test_caches_are_those_of_the_performance_cores(m1: Machine) -> None:
    assert m1.caches == (
        Cache(name="L1", size_bytes=128 * KIB, line_bytes=128, shared_by=1, instances=4),
        Cache(name="L2", size_bytes=12 * MIB, line_bytes=128, shared_by=4, instances=1),
    )


def test_a_cluster_with_its_own_l2_counts_as_an_instance(hosts: Path) -> None:
    text = (hosts / "apple_m1.sysctl").read_text()
    pro = text.replace("perflevel0.physicalcpu: 4", "perflevel0.physicalcpu: 8")
    pro = pro.replace("perflevel0.logicalcpu: 4", "perflevel0.logicalcpu: 8").replace("Apple M1", "Apple M1 Pro")
    machine = machine_from_sysctl(pro)
    assert machine.microarchitecture == "m1"
    assert machine.cache("L2") == Cache(name="L2", size_bytes=12 * MIB, line_bytes=128, shared_by=4, instances=2)


def test_an_intel_mac_has_smt_and_three_levels() -> None:
    machine = machine_from_sysctl(INTEL)
    assert (machine.arch, machine.cores, machine.hardware_threads, machine.core_classes) == ("x86_64", 4, 8, ())
    assert machine.features == ("avx", "avx2", "f16c", "fma", "sse2", "ssse3")
    assert machine.isas == ("scalar", "sse2", "avx2")
    assert machine.caches == (
        Cache(name="L1", size_bytes=32 * KIB, line_bytes=64, shared_by=2, instances=4),
        Cache(name="L2", size_bytes=256 * KIB, line_bytes=64, shared_by=2, instances=4),
        Cache(name="L3", size_bytes=6 * MIB, line_bytes=64, shared_by=8, instances=1),
    )
    assert machine.virtualisation is None


def test_a_chip_that_archspec_does_not_know_has_no_microarchitecture(hosts: Path) -> None:
    text = (hosts / "apple_m1.sysctl").read_text().replace("Apple M1", "Apple M99 Max")
    assert machine_from_sysctl(text).microarchitecture is None


def test_neon_is_known_by_its_newer_name_too(hosts: Path) -> None:
    text = (hosts / "apple_m1.sysctl").read_text().replace("hw.optional.neon: 1\n", "")
    assert "neon" in machine_from_sysctl(text).features


def test_llvm_features_take_precedence(hosts: Path) -> None:
    text = (hosts / "apple_m1.sysctl").read_text()
    assert machine_from_sysctl(text, features=("neon", "zcm")).features == ("neon",)


@pytest.mark.parametrize(
    "text", ["", "\0\0: \0", "hw.logicalcpu: -1\nhw.physicalcpu: x\nhw.nperflevels: 999999999999\n", ":\n::"]
)
def test_garbage_is_unknown(text: str) -> None:
    assert machine_from_sysctl(text) == Machine(cpu_model="unknown", arch="unknown", system="Darwin")
