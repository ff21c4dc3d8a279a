"""What this process may use: logical CPUs and memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from pathlib import Path

import psutil

from roofline.host.cgroup import cpu_quota, memory_room_bytes
from roofline.host.machine import read_machine
from roofline.host.topology import Cpu, read_topology
from roofline.host.tree import Tree, cpu_list, fields, whole_number

MEMORY_SHARE = 0.6
"""Part of the available memory that a run takes at most: what other processes may need meanwhile stays free."""


def read_affinity(root: Path = Path("/")) -> tuple[int, ...] | None:
    """Return the logical CPUs that the process may run on, ascending; None where the system does not tell."""
    tree = Tree(root)
    if tree.is_live:
        return tuple(sorted(os.sched_getaffinity(0))) if sys.platform == "linux" else None
    status = fields((tree.text("proc/self/status") or "").splitlines())
    allowed = cpu_list(status.get("Cpus_allowed_list"))
    online = [cpu.number for cpu in read_topology(tree).cpus]
    return tuple(cpu for cpu in allowed if cpu in online) or None if allowed and online else allowed


def usable_cpus(root: Path = Path("/"), affinity: Collection[int] | None = None) -> tuple[int, ...]:
    """Return the logical CPUs to pin one thread each to, in the order in which to fill them.

    One hardware thread per physical core; of hybrid cores only the fastest kind that `affinity` (default: that of
    the process) holds; sockets and NUMA nodes filled one after the other; no more than the cgroup quota, rounded
    down, but at least one. Where the system has no affinity (macOS) the numbers only count the cores. Empty only
    when a recorded root tells of no CPU at all.
    """
    tree = Tree(root)
    if tree.is_live and sys.platform != "linux":
        return _countable_cpus()
    topology = read_topology(tree)
    allowed = affinity if affinity is not None else read_affinity(root)
    cpus = [cpu for cpu in topology.cpus if allowed is None or cpu.number in allowed]
    if not cpus:  # nothing is known of the CPUs allowed
        cpus = [Cpu(number=n, core=None, socket=None, node=None, core_class=0) for n in sorted(allowed or ())]
    fastest = min((cpu.core_class for cpu in cpus), default=0)
    first_of_core: dict[tuple[str, int], Cpu] = {}
    for cpu in cpus:
        if cpu.core_class == fastest:
            key = ("cpu", cpu.number) if cpu.core is None else ("core", cpu.core)
            first_of_core.setdefault(key, cpu)
    ordered = sorted(first_of_core.values(), key=lambda cpu: (cpu.socket or 0, cpu.node or 0, cpu.number))
    quota = cpu_quota(tree)
    most = len(ordered) if quota is None else max(1, int(quota))
    return tuple(cpu.number for cpu in ordered[:most])


def memory_available_bytes(root: Path = Path("/")) -> int | None:
    """Return min(MemAvailable, limit - use over all cgroup ancestors); None when neither is known."""
    tree = Tree(root)
    known = [memory_room_bytes(tree), _system_available_bytes(tree)]
    return min((size_bytes for size_bytes in known if size_bytes is not None), default=None)


def memory_budget_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that a run may allocate: 60 % of what is available; None when that is unknown."""
    available_bytes = memory_available_bytes(root)
    return None if available_bytes is None else int(MEMORY_SHARE * available_bytes)


def _system_available_bytes(tree: Tree) -> int | None:
    if tree.is_live and sys.platform != "linux":
        return int(psutil.virtual_memory().available)
    line = fields((tree.text("proc/meminfo") or "").splitlines()).get("MemAvailable", "")
    size_kib = whole_number(line.removesuffix("kB"))
    return size_kib * 1024 if size_kib is not None and size_kib >= 0 else None


def _countable_cpus() -> tuple[int, ...]:
    machine = read_machine()
    return tuple(range(machine.core_classes[0] if machine.core_classes else machine.cores or 1))
