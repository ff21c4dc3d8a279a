"""Cores, hardware threads, sockets, NUMA nodes and caches as /sys/devices/system tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roofline.host.processor import processor_numbers
from roofline.host.tree import Tree, whole_number
from roofline.model.machine import Cache

_CPUS = "sys/devices/system/cpu"
_NODES = "sys/devices/system/node"
_SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
_SAME_CLASS_SHARE = 0.9
"""Cores within a tenth of the next faster one are of its class: favoured cores of one kind differ by a few percent."""


@dataclass(frozen=True, kw_only=True)
class Cpu:
    """One logical CPU that is online. Unknown is None."""

    number: int
    core: int | None
    """The lowest logical CPU of its physical core."""
    socket: int | None
    node: int | None
    """NUMA node."""
    core_class: int
    """0 for the fastest kind of core in the machine; more only where cores are hybrid."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The logical CPUs that are online, and the caches of the fastest kind of core."""

    cpus: tuple[Cpu, ...]
    """Ascending by number; empty when unknown."""
    caches: tuple[Cache, ...]
    """Data and unified caches, nearest first."""
    numa_nodes: int | None

    @property
    def hardware_threads(self) -> int | None:
        """Logical CPUs online."""
        return len(self.cpus) or None

    @property
    def cores(self) -> int | None:
        """Physical cores; None when the core of any CPU is unknown."""
        cores = {cpu.core for cpu in self.cpus}
        return None if None in cores else len(cores) or None

    @property
    def sockets(self) -> int | None:
        """CPU packages; None when the package of any CPU is unknown."""
        sockets = {cpu.socket for cpu in self.cpus}
        return None if None in sockets else len(sockets) or None

    @property
    def core_classes(self) -> tuple[int, ...]:
        """Physical cores of each kind, fastest first; empty when the cores are unknown."""
        if self.cores is None:
            return ()
        kinds = sorted({cpu.core_class for cpu in self.cpus})
        return tuple(len({cpu.core for cpu in self.cpus if cpu.core_class == kind}) for kind in kinds)

    @property
    def fastest_cpu(self) -> int | None:
        """The first logical CPU of the fastest kind."""
        return min(self.cpus, key=lambda cpu: (cpu.core_class, cpu.number)).number if self.cpus else None


def numa_nodes_of(cpus: Sequence[int], root: Path = Path("/")) -> tuple[int, ...]:
    """Return the NUMA node of each of these CPUs; none when that of any is unknown."""
    nodes = {cpu.number: cpu.node for cpu in read_topology(Tree(root)).cpus}
    found = [nodes.get(cpu) for cpu in cpus]
    return tuple(node for node in found if node is not None) if None not in found else ()


def read_topology(tree: Tree) -> Topology:
    """Read the topology. Never raises: a CPU of which nothing is known is still a CPU."""
    online = _online(tree)
    nodes = tree.numbered(_NODES, "node")
    node_of = {cpu: node for node in nodes for cpu in tree.cpus(f"{_NODES}/node{node}/cpulist") or ()}
    class_of = _core_classes(tree, online)
    cpus = tuple(
        Cpu(
            number=cpu,
            core=_core(tree, cpu),
            socket=_natural(tree.number(f"{_CPUS}/cpu{cpu}/topology/physical_package_id")),
            node=node_of.get(cpu),
            core_class=class_of.get(cpu, 0),
        )
        for cpu in online
    )
    fastest_first = sorted(online, key=lambda cpu: (class_of.get(cpu, 0), cpu))
    return Topology(cpus=cpus, caches=_caches(tree, fastest_first), numa_nodes=len(nodes) or None)


def _online(tree: Tree) -> tuple[int, ...]:
    present = tree.numbered(_CPUS, "cpu")
    online = tree.cpus(f"{_CPUS}/online")
    if online and present:
        online = tuple(sorted(set(online) & set(present)))
    return online or processor_numbers(tree)


def _natural(number: int | None) -> int | None:
    """Return the number, or None for the -1 that the kernel writes when it does not know."""
    return number if number is not None and number >= 0 else None


def _core(tree: Tree, cpu: int) -> int | None:
    for name in ("core_cpus_list", "thread_siblings_list"):  # the latter is the name before Linux 5.3
        siblings = tree.cpus(f"{_CPUS}/cpu{cpu}/topology/{name}")
        if siblings and cpu in siblings:
            return min(siblings)
    return None


def _core_classes(tree: Tree, online: tuple[int, ...]) -> dict[int, int]:
    """Return the class of each CPU, 0 for the fastest; empty when all are of one kind, or nothing tells.

    Intel's hybrids have a performance counter unit per kind; AArch64 states a capacity; else the highest clock tells.
    """
    performance, efficiency = tree.cpus("sys/devices/cpu_core/cpus"), tree.cpus("sys/devices/cpu_atom/cpus")
    if performance and efficiency:
        return {cpu: int(cpu not in performance) for cpu in online}
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        speeds = {cpu: tree.number(f"{_CPUS}/cpu{cpu}/{name}") for cpu in online}
        classes = _by_speed({cpu: speed for cpu, speed in speeds.items() if speed is not None and speed > 0})
        if len(set(classes.values())) > 1 and len(classes) == len(online):
            return classes
    return {}


def _by_speed(speeds: Mapping[int, int]) -> dict[int, int]:
    classes: dict[int, int] = {}
    kind, faster = 0, max(speeds.values(), default=0)
    for cpu, speed in sorted(speeds.items(), key=lambda pair: -pair[1]):
        kind += speed < _SAME_CLASS_SHARE * faster
        classes[cpu], faster = kind, speed
    return classes


def _caches(tree: Tree, fastest_first: list[int]) -> tuple[Cache, ...]:
    """Return the caches that the first CPU has; other CPUs count as long as theirs are of the same size."""
    found: dict[str, dict[tuple[int, ...], Cache]] = {}
    for cpu in fastest_first:
        for index in tree.numbered(f"{_CPUS}/cpu{cpu}/cache", "index"):
            folder = f"{_CPUS}/cpu{cpu}/cache/index{index}"
            level, size_bytes = tree.number(f"{folder}/level"), _size_bytes(tree.word(f"{folder}/size"))
            if tree.word(f"{folder}/type") not in ("Data", "Unified") or not size_bytes or level not in range(1, 10):
                continue
            sharers = tree.cpus(f"{folder}/shared_cpu_list")
            sharers = tuple(sorted(set(sharers or ()) & set(fastest_first))) or (cpu,)
            line_bytes = tree.number(f"{folder}/coherency_line_size")
            cache = Cache(
                name=f"L{level}",
                size_bytes=size_bytes,
                line_bytes=line_bytes if line_bytes and line_bytes > 0 else None,
                shared_by=len(sharers),
            )
            found.setdefault(cache.name, {}).setdefault(sharers, cache)
    caches = []
    for _, instances in sorted(found.items()):
        first = next(iter(instances.values()))
        alike = sum(cache.size_bytes == first.size_bytes for cache in instances.values())
        caches.append(
            Cache(
                name=first.name,
                size_bytes=first.size_bytes,
                line_bytes=first.line_bytes,
                shared_by=first.shared_by,
                instances=alike,
            )
        )
    return tuple(caches)


def _size_bytes(text: str | None) -> int | None:
    """Return the bytes of `32K`, `1M` or a plain number."""
    if text is None:
        return None
    unit = _SIZE_UNITS.get(text[-1].upper())
    number = whole_number(text[:-1] if unit else text)
    return number * (unit or 1) if number is not None and 0 < number < 2**33 else None
