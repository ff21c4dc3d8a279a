"""What the reader of a host's numbers must know, and how to mend it. Stored in the run, shown with the numbers.

Rules on archived facts alone, so that a reader can apply them again.
"""

from __future__ import annotations

from collections.abc import Iterator

from roofline.model.machine import HYPERVISORS, Environment, Machine
from roofline.model.run import Caveat

STEAL_SHARE = 0.005
"""More than this share of CPU time taken by the hypervisor disturbs samples."""
LOAD_PER_CPU = 0.1
"""More load than this per CPU used is another program's."""

CODEGEN_VARIABLES = frozenset(
    {
        "NUMBA_CPU_NAME",
        "NUMBA_CPU_FEATURES",
        "NUMBA_OPT",
        "NUMBA_LOOP_VECTORIZE",
        "NUMBA_SLP_VECTORIZE",
        "NUMBA_ENABLE_AVX",
        "NUMBA_DISABLE_INTEL_SVML",
        "NUMBA_BOUNDSCHECK",
        "NUMBA_DEBUGINFO",
        "OPENBLAS_CORETYPE",
        "MKL_ENABLE_INSTRUCTIONS",
        "MKL_CBWR",
    }
)
"""Variables that change the machine code, hence the numbers."""


def host_caveats(machine: Machine, environment: Environment) -> tuple[Caveat, ...]:
    """Return the caveats of this host under these conditions; the gravest first, empty on a quiet, tuned machine.

    What is unknown (None) gives no caveat, but for the clock and the affinity, whose absence itself is one.
    """
    found = [
        *_code(environment),
        *_rights(machine, environment),
        *_neighbours(machine, environment),
        *_clock(machine, environment),
        *_memory(environment),
    ]
    return tuple(Caveat(code=code, message=message) for code, message in found)


def _code(environment: Environment) -> Iterator[tuple[str, str]]:
    for name in sorted(CODEGEN_VARIABLES & environment.variables.keys()):
        value = environment.variables[name]
        yield "CODEGEN", f"{name}={value!r} may change the machine code; unset it to measure what the machine can do"


def _rights(machine: Machine, environment: Environment) -> Iterator[tuple[str, str]]:
    used, threads = len(environment.cpus_used), machine.hardware_threads
    if environment.cgroup_cpus is not None and (threads is None or environment.cgroup_cpus < threads):
        of = "" if threads is None else f" of {threads} CPUs"
        yield (
            "THROTTLE",
            f"the cgroup quota is {environment.cgroup_cpus:.4g}{of}: all cores means {used} here, and more threads "
            "would be stopped in every period; raise the quota (docker --cpus, cpu.max) to see the whole machine",
        )
    if environment.affinity is None:
        yield "UNPINNED", "the system does not tell which CPUs the process may use, so threads may move between cores"
    elif threads is not None and len(environment.affinity) < threads:
        yield (
            "CPUCOUNT",
            f"the process may run on {len(environment.affinity)} of {threads} CPUs (taskset, cpuset): "
            f"all cores means {used} here",
        )
    if len(machine.core_classes) > 1:
        kinds = " + ".join(str(cores) for cores in machine.core_classes)
        yield (
            "HYBRID",
            f"the cores are of different kinds ({kinds}, fastest first): ceilings are of one kind, on CPUs "
            f"{_listed(environment.cpus_used)}; pin the process elsewhere (taskset) to measure another kind",
        )


def _neighbours(machine: Machine, environment: Environment) -> Iterator[tuple[str, str]]:
    if machine.virtualisation in HYPERVISORS:
        yield (
            "VM",
            f"this is a guest ({machine.virtualisation}): cache sizes and topology are what the hypervisor says, and "
            "neighbours share caches and memory; trust the measured levels, and repeat the run",
        )
    if environment.steal_share is not None and environment.steal_share > STEAL_SHARE:
        yield (
            "STEAL",
            f"the hypervisor took {100 * environment.steal_share:.1f} % of the CPU time since boot (expected below "
            f"{100 * STEAL_SHARE:.1f} %); repeat on a less crowded host",
        )
    most = max(0.5, LOAD_PER_CPU * len(environment.cpus_used))
    if environment.load_1min is not None and environment.load_1min > most:
        yield (
            "BUSY",
            f"the load over the last minute is {environment.load_1min:.2f} (expected below {most:.1f}): stop other "
            "programs, or wait a minute if a run has just ended",
        )


def _clock(machine: Machine, environment: Environment) -> Iterator[tuple[str, str]]:
    if environment.governor is None and machine.system in (None, "Linux"):
        yield (
            "NOCPUFREQ",
            "the clock's governor and limits cannot be seen; go by the clock measured beside each ceiling",
        )
    elif environment.governor is not None and environment.governor != "performance":
        yield (
            "GOVERNOR",
            f"the clock governor is {environment.governor} (expected performance): "
            "`cpupower frequency-set -g performance` as root",
        )
    if environment.turbo:
        yield (
            "TURBO_ON",
            "turbo is on: the first half minute may run at a higher clock than can be sustained; "
            "compare flop/cycle and byte/cycle, or switch it off in the firmware",
        )


def _memory(environment: Environment) -> Iterator[tuple[str, str]]:
    if environment.transparent_huge_pages == "never":
        yield (
            "THP",
            "transparent huge pages are off, which lowers bandwidth beyond the caches: "
            "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root",
        )


def _listed(cpus: tuple[int, ...]) -> str:
    return ", ".join(map(str, cpus)) or "unknown"
