"""Hypervisors and containers by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from roofline.host.tree import Tree
from roofline.host.virtualisation import read_virtualisation

GUEST = frozenset({"fpu", "lm", "hypervisor"})
BARE = frozenset({"fpu", "lm"})
ARM = frozenset({"fp", "asimd"})
CLOCKS = "sys/devices/system/clocksource/clocksource0/available_clocksource"
DMI = "sys/class/dmi/id/"
Plant = Callable[..., Path]


def dmi(vendor: str, product: str) -> dict[str, str]:
    return {f"{DMI}sys_vendor": vendor, f"{DMI}product_name": product}


@pytest.mark.parametrize(
    ("flags", "files", "name"),
    [
        (GUEST, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)"), "kvm"),
        (GUEST, dmi("Red Hat", "KVM"), "kvm"),
        (GUEST, dmi("Google", "Google Compute Engine"), "kvm"),
        (GUEST, dmi("Amazon EC2", "c6i.large"), "kvm"),
        (GUEST, dmi("VMware, Inc.", "VMware7,1"), "vmware"),
        (GUEST, dmi("Xen", "HVM domU"), "xen"),
        (GUEST, dmi("Microsoft Corporation", "Virtual Machine"), "hyperv"),
        (GUEST, dmi("innotek GmbH", "VirtualBox"), "virtualbox"),
        (GUEST, {"sys/hypervisor/type": "xen"}, "xen"),
        (GUEST, {"sys/firmware/acpi/tables/FACP": "FACP\x14\x01FIRECKFCVMFADT"}, "firecracker"),
        (GUEST, {CLOCKS: "tsc kvm-clock"}, "kvm"),
        (GUEST, {CLOCKS: "hyperv_clocksource_tsc_page acpi_pm"}, "hyperv"),
        (GUEST, {CLOCKS: "tsc"}, "vm"),
        (GUEST, {}, "vm"),
        (GUEST, {".dockerenv": "", CLOCKS: "kvm-clock"}, "kvm"),  # a container in a guest
        (ARM, dmi("QEMU", "QEMU Virtual Machine"), "kvm"),
        (BARE, dmi("Amazon EC2", "c6i.metal"), "none"),
        (BARE, dmi("Microsoft Corporation", "Surface Laptop"), "none"),
        (BARE, {"sys/hypervisor/type": "xen", "proc/xen/capabilities": "control_d\n"}, "none"),
        (BARE, {}, "none"),
        (ARM, dmi("GIGABYTE", "R272-P30-JG"), "none"),
        (ARM, {}, None),
        (frozenset(), {}, None),
        (BARE, {".dockerenv": ""}, "docker"),
        (ARM, {"run/.containerenv": "engine=podman"}, "podman"),
        (BARE, {"run/systemd/container": "lxc\n"}, "lxc"),
        (BARE, {"proc/1/cgroup": "0::/lxc/web\n"}, "lxc"),
        (BARE, {"proc/1/cgroup": "4:cpu:/docker/3f1c\n"}, "docker"),
        (BARE, {"proc/1/cgroup": "0::/kubepods.slice/pod1\n"}, "kubernetes"),
        (BARE, {"proc/1/cgroup": "0::/init.scope\n"}, "none"),
    ],
)
def test_what_stands_between_process_and_hardware_is_named(
    flags: frozenset[str], files: dict[str, str], name: str | None, plant: Plant
) -> None:
    assert read_virtualisation(Tree(plant(files)), flags) == name
