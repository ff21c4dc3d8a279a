"""The machine (what identifies it) and the environment (what may differ between two runs on it)."""

from __future__ import annotations

import hashlib
import re

import msgspec
from msgspec.structs import replace

from roofline.model.struct import Value

HYPERVISORS = frozenset({"kvm", "firecracker", "vmware", "xen", "hyperv", "virtualbox", "parallels", "vm"})
"""Names of `Machine.virtualisation` that mean a guest; `vm` is one that does not say of what."""


class Cache(Value, frozen=True, kw_only=True):
    """One data or unified cache, as the operating system reports it. In a VM that may be another machine's."""

    name: str
    """`L1`, `L2`, `L3`, ..."""
    size_bytes: int
    """Capacity of one instance."""
    line_bytes: int | None = None
    """Line size."""
    shared_by: int = 1
    """Hardware threads that share one instance."""
    instances: int = 1
    """Instances in the machine."""


class Machine(Value, frozen=True, kw_only=True):
    """What the host is. Unknown is None, never a guess. A hostname is not identity."""

    cpu_model: str
    """As the CPU names itself, e.g. `AMD EPYC`."""
    microarchitecture: str | None = None
    """archspec's or LLVM's name, e.g. `zen4`."""
    arch: str
    """`x86_64`, `aarch64`, ..."""
    features: tuple[str, ...] = ()
    """LLVM's names of the instruction-set features, sorted."""
    isas: tuple[str, ...] = ()
    """Names of the ISA rows that the host executes, narrowest first."""
    sockets: int | None = None
    cores: int | None = None
    """Physical cores."""
    core_classes: tuple[int, ...] = ()
    """Physical cores of each kind, fastest first: more than one entry on hybrid machines. Empty when unknown."""
    hardware_threads: int | None = None
    """Logical CPUs that are online."""
    numa_nodes: int | None = None
    caches: tuple[Cache, ...] = ()
    """Data and unified caches, nearest first."""
    memory_bytes: int | None = None
    virtualisation: str | None = None
    """`kvm`, `docker`, `none`, ...; None when it cannot be told."""
    system: str | None = None
    """Operating system, e.g. `Linux`."""

    @property
    def threads_per_core(self) -> int:
        """Hardware threads of each core; 1 where they are not known."""
        return max(1, (self.hardware_threads or 1) // (self.cores or 1))

    @property
    def key(self) -> str:
        """A short slug and a hash of everything that identifies the machine: its folder under results/."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.cpu_model.lower()).strip("-")[:32].strip("-") or "cpu"
        memory_gib = None if self.memory_bytes is None else round(self.memory_bytes / 2**30)  # varies with the kernel
        identity = replace(self, memory_bytes=memory_gib)
        digest = hashlib.sha256(msgspec.json.encode(identity, order="deterministic")).hexdigest()[:8]
        return f"{slug}-{self.hardware_threads or 'n'}t-{digest}"

    def cache(self, name: str) -> Cache | None:
        """Return the cache with this name, or None."""
        return next((cache for cache in self.caches if cache.name == name), None)


class Blas(Value, frozen=True, kw_only=True):
    """A BLAS library that the process has loaded."""

    name: str
    """`openblas`, `mkl`, ..."""
    version: str | None = None
    architecture: str | None = None
    """The kernel set that it chose, e.g. `SkylakeX`."""
    threads: int | None = None


class Environment(Value, frozen=True, kw_only=True):
    """What may differ between two runs on one machine, and must be shown. Unknown is None."""

    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    transparent_huge_pages: str | None = None
    load_1min: float | None = None
    """Load average over the last minute when the run started."""
    steal_share: float | None = None
    """Share of CPU time that the hypervisor took since boot, 0 to 1."""
    affinity: tuple[int, ...] | None = None
    """Logical CPUs that the process may run on."""
    cpus_used: tuple[int, ...] = ()
    """Logical CPUs that the run pins its threads to: one per physical core."""
    cgroup_cpus: float | None = None
    """CPU quota in CPUs, the tightest of all ancestors."""
    memory_limit_bytes: int | None = None
    """The tightest cgroup memory limit of all ancestors."""
    memory_available_bytes: int | None = None
    """What the run may use: available memory within the limit."""
    python: str | None = None
    numba: str | None = None
    llvmlite: str | None = None
    llvm: str | None = None
    target_cpu: str | None = None
    """CPU that LLVM took this one for and compiled for, e.g. `znver4`."""
    numpy: str | None = None
    blas: tuple[Blas, ...] = ()
    threading_layer: str | None = None
    """What Numba's parallel loops run on: `omp`, `tbb`, `workqueue`; None where no second thread was used."""
    variables: dict[str, str] = {}
    """The NUMBA_, OMP_, OPENBLAS_, GOMP_, KMP_ and MKL_ variables that are set."""
