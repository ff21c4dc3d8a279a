"""What the host is."""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection
from pathlib import Path

import psutil

from roofline.host.darwin import machine_from_sysctl, read_sysctl
from roofline.host.features import features_from_flags, kept_features
from roofline.host.processor import UNKNOWN, canonical_arch, read_processor
from roofline.host.topology import read_topology
from roofline.host.tree import Tree, fields, whole_number
from roofline.host.virtualisation import read_virtualisation
from roofline.model.isa import isas_of
from roofline.model.machine import Machine


def read_machine(root: Path = Path("/"), features: Collection[str] | None = None) -> Machine:
    """Read the machine from /proc and /sys below `root`, or from sysctl on macOS.

    `features` are LLVM's names of what the host has, where the caller knows them better than /proc/cpuinfo; of
    both, the same subset is kept, so that the machine's key does not depend on who asked. Never raises: what
    cannot be read is None, and a CPU without a name is `unknown`.
    """
    tree = Tree(root)
    if tree.is_live and sys.platform == "darwin":
        return machine_from_sysctl(read_sysctl(), features)
    if tree.is_live and sys.platform != "linux":
        return machine_from_platform(features)
    topology = read_topology(tree)
    processor = read_processor(tree, topology.fastest_cpu)
    kept = features_from_flags(processor.flags) if features is None else kept_features(features)
    return Machine(
        cpu_model=processor.name,
        microarchitecture=processor.microarchitecture,
        arch=processor.arch,
        features=kept,
        isas=tuple(isa.name for isa in isas_of(processor.arch, kept)),
        sockets=topology.sockets,
        cores=topology.cores,
        core_classes=topology.core_classes,
        hardware_threads=topology.hardware_threads,
        numa_nodes=topology.numa_nodes,
        caches=topology.caches,
        memory_bytes=_memory_bytes(tree),
        virtualisation=read_virtualisation(tree, processor.flags),
        system=tree.word("proc/sys/kernel/ostype") or (platform.system() or None if tree.is_live else None),
    )


def machine_from_platform(features: Collection[str] | None = None) -> Machine:
    """Return what the standard library and psutil know of a host that is neither Linux nor macOS."""
    arch = canonical_arch(platform.machine())
    # Every 64-bit x86 has SSE2 and every 64-bit Arm has Neon: their calling conventions use them
    kept = kept_features({"x86_64": ("sse2",), "aarch64": ("neon",)}.get(arch, ()) if features is None else features)
    return Machine(
        cpu_model=platform.processor() or UNKNOWN,
        arch=arch,
        features=kept,
        isas=tuple(isa.name for isa in isas_of(arch, kept)),
        cores=psutil.cpu_count(logical=False),
        hardware_threads=psutil.cpu_count(),
        memory_bytes=psutil.virtual_memory().total,
        system=platform.system() or None,
    )


def _memory_bytes(tree: Tree) -> int | None:
    line = fields((tree.text("proc/meminfo") or "").splitlines()).get("MemTotal", "")
    size_kib = whole_number(line.removesuffix("kB"))
    return size_kib * 1024 if size_kib is not None and size_kib > 0 else None
