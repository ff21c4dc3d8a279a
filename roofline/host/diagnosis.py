"""What would make numbers measured here untrustworthy, line by line, each with the next step. It changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from roofline.host.counters import CounterReader
from roofline.host.tree import Tree
from roofline.model.ceilings import Ceiling
from roofline.model.host_caveat import CODEGEN_VARIABLES, LOAD_PER_CPU, STEAL_SHARE
from roofline.model.machine import HYPERVISORS, Environment, Machine
from roofline.model.run import Run
from roofline.model.statistics import median, relative_spread
from roofline.units import frequency, memory_size

OK, WARN, FAIL, UNKNOWN = "ok", "warn", "fail", "unknown"
STEADY_CLOCK = 0.01
"""Readings of the clock whose middle half is wider are no steady clock."""
QUIET_COMPUTE, NOISY_COMPUTE = 0.01, 0.05
QUIET_DRAM, NOISY_DRAM = 0.03, 0.10
"""Middle halves of samples, of their median: up to the first a quiet machine, beyond the second a very noisy one."""
FINE_CLOCK_S = 1e-6
"""Samples of a millisecond need a clock that is finer."""
GOOD_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
"""Clock sources that are read without leaving the process."""


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis."""

    check: str
    state: str
    """`ok`, `warn`, `fail` or `unknown`."""
    found: str
    next_step: str = ""
    """What to do; empty where nothing is to be done."""


@dataclass(frozen=True)
class Facts:
    """What the system says beside machine and environment; unknown is None."""

    clock_source: str | None = None
    runnable: int | None = None
    """Threads that want to run, this one among them."""
    cache_folder: str = ""
    cache_refused: str | None = None
    """Why compiled code cannot be kept there; None when it can."""


def read_facts(cache_folder: str, cache_refused: str | None, root: Path = Path("/")) -> Facts:
    """Read the rest of what the diagnosis looks at. Never raises."""
    tree = Tree(root)
    return Facts(
        clock_source=tree.word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        runnable=CounterReader(root).runnable(),
        cache_folder=cache_folder,
        cache_refused=cache_refused,
    )


def diagnose(machine: Machine, environment: Environment, facts: Facts, measured: Run | None) -> tuple[Finding, ...]:
    """Return all findings in the order of reading. `measured` is a short run of one compute and one DRAM ceiling."""
    return (
        *_system(machine, environment),
        *_load(environment, facts),
        *_rights(machine, environment),
        *_clocks(machine, facts, measured),
        *_noise(measured),
        *_software(environment, facts, measured),
    )


def _system(machine: Machine, environment: Environment) -> Iterator[Finding]:
    governor = environment.governor
    if governor is None:
        yield Finding("governor", UNKNOWN, "the system does not tell", "go by the clock measured beside each ceiling")
    elif governor == "performance":
        yield Finding("governor", OK, governor)
    else:
        yield Finding("governor", WARN, governor, "as root: cpupower frequency-set -g performance")
    turbo = environment.turbo
    if turbo is None:
        yield Finding("turbo", UNKNOWN, "the system does not tell", "compare flop/cycle and byte/cycle")
    elif turbo:
        step = "compare per cycle, or as root: echo 0 > /sys/devices/system/cpu/cpufreq/boost"
        yield Finding("turbo", WARN, "on: the first half minute may be faster than the rest", step)
    else:
        yield Finding("turbo", OK, "off")
    if environment.smt is None:
        yield Finding("SMT", UNKNOWN, "the system does not tell", "use --threads with the number of cores")
    else:
        yield Finding("SMT", OK, "on: one thread of each core is used" if environment.smt else "off")
    pages = environment.transparent_huge_pages
    if pages is None:
        yield Finding("huge pages", UNKNOWN, "the system does not tell", "see huge_share in the evidence of a run")
    elif pages == "never":
        step = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
        yield Finding("huge pages", WARN, "never: bandwidth beyond the caches is lower", step)
    else:
        yield Finding("huge pages", OK, pages)
    nodes = machine.numa_nodes
    if nodes is None:
        yield Finding("NUMA", UNKNOWN, "the system does not tell", "compare one core's DRAM bandwidth with that of all")
    elif nodes == 1:
        yield Finding("NUMA", OK, "1 node")
    else:
        yield Finding("NUMA", OK, f"{nodes} nodes: every buffer is written by the thread that uses it")
    if machine.virtualisation in HYPERVISORS:
        step = "repeat runs, and trust ratios within one run"
        yield Finding("virtual machine", WARN, f"{machine.virtualisation}: neighbours share caches and memory", step)
    else:
        yield Finding("virtual machine", OK, machine.virtualisation or "none seen")


def _load(environment: Environment, facts: Facts) -> Iterator[Finding]:
    load, most = environment.load_1min, max(0.5, LOAD_PER_CPU * len(environment.cpus_used))
    if load is None:
        yield Finding("load", UNKNOWN, "the system does not tell", "look for other programs yourself")
    elif load > most:
        running = "" if facts.runnable is None else f", {facts.runnable} threads want to run now"
        yield Finding(
            "load", WARN, f"{load:.2f} over the last minute{running}", "stop other programs, or wait a minute"
        )
    else:
        yield Finding("load", OK, f"{load:.2f} over the last minute")
    steal = environment.steal_share
    if steal is None:
        yield Finding("steal", UNKNOWN, "the system does not tell", "compare the spread of repeated runs")
    elif steal > STEAL_SHARE:
        yield Finding("steal", WARN, f"{100 * steal:.1f} % of the CPU time since boot", "use a less crowded host")
    else:
        yield Finding("steal", OK, f"{100 * steal:.2f} % of the CPU time since boot")


def _rights(machine: Machine, environment: Environment) -> Iterator[Finding]:
    quota, used = environment.cgroup_cpus, len(environment.cpus_used)
    threads = machine.hardware_threads
    if quota is None or (threads is not None and quota >= threads):
        yield Finding("CPU quota", OK, "none")
    elif quota < 1:
        yield Finding(
            "CPU quota", FAIL, f"{quota:.3g} CPUs: even one thread is stopped in every period", "raise the quota"
        )
    else:
        yield Finding(
            "CPU quota", WARN, f"{quota:.3g} CPUs: ceilings are of {used}", "raise the quota to see all cores"
        )
    affinity = environment.affinity
    if affinity is None:
        yield Finding("affinity", WARN, "threads cannot be pinned here", "repeat runs: threads may move between cores")
    elif threads is not None and len(affinity) < threads:
        found = f"{len(affinity)} of {threads} CPUs: ceilings are of {used} cores"
        yield Finding("affinity", WARN, found, "run without taskset or cpuset to see all cores")
    else:
        yield Finding("affinity", OK, f"all {len(affinity)} CPUs, {used} cores used")
    room = environment.memory_available_bytes
    if room is None:
        yield Finding("memory", UNKNOWN, "the system does not tell", "watch for failures named oom")
    else:
        yield Finding("memory", OK, f"{memory_size(room)} available")


def _clocks(machine: Machine, facts: Facts, measured: Run | None) -> Iterator[Finding]:
    source = facts.clock_source
    if source is None:
        yield Finding("clock source", UNKNOWN, "the system does not tell")
    elif source in GOOD_CLOCKS:
        yield Finding("clock source", OK, source)
    else:
        yield Finding("clock source", WARN, f"{source}: slow to read", "boot with clocksource=tsc where it is stable")
    if measured is None:
        return
    evidence = next((launch.evidence for c in measured.ceilings.all for launch in c.launches if launch.evidence), None)
    if evidence is None or evidence.clock_resolution_s is None:
        yield Finding("timer", UNKNOWN, "nothing was measured", "run doctor again")
    else:
        resolution_s, overhead_s = evidence.clock_resolution_s, evidence.clock_overhead_s or 0.0
        found = f"resolution {resolution_s * 1e9:.3g} ns, {overhead_s * 1e9:.3g} ns a reading"
        fine = resolution_s <= FINE_CLOCK_S
        yield Finding("timer", OK if fine else WARN, found, "" if fine else "samples grow: give runs more --budget")
    clocks_hz = [hz for c in measured.ceilings.compute for launch in c.launches for hz in launch.clock_samples_hz]
    if not clocks_hz:
        yield Finding("clock stability", UNKNOWN, "nothing was measured", "run doctor again")
    else:
        spread = relative_spread(clocks_hz)
        found = f"{frequency(median(clocks_hz))}, middle half {100 * spread:.1f} % wide"
        steady = spread <= STEADY_CLOCK
        step = "" if steady else "fix the clock, stop other programs, or compare per cycle"
        yield Finding("clock stability", OK if steady else WARN, found, step)


def _noise(measured: Run | None) -> Iterator[Finding]:
    if measured is None:
        return
    memory = [ceiling for ceiling in measured.ceilings.memory if ceiling.level == "DRAM"]
    for check, ceilings, quiet, noisy in (
        ("noise, compute", measured.ceilings.compute, QUIET_COMPUTE, NOISY_COMPUTE),
        ("noise, DRAM", memory, QUIET_DRAM, NOISY_DRAM),
    ):
        yield _noise_of(check, ceilings, quiet, noisy)


def _noise_of(check: str, ceilings: Sequence[Ceiling], quiet: float, noisy: float) -> Finding:
    rates = [rate for c in ceilings for launch in c.launches for rate in launch.rates_per_s]
    if not rates:
        return Finding(check, UNKNOWN, "nothing was measured", "see the failures of a run")
    spread = relative_spread(rates)
    below = 1 - median(rates) / max(rates)
    state, word = (OK, "quiet") if spread <= quiet else (WARN, "noisy") if spread <= noisy else (FAIL, "very noisy")
    found = f"{word}: middle half of the samples {100 * spread:.1f} % wide, median {100 * below:.1f} % below the best"
    return Finding(
        check, state, found, "" if state == OK else "measure at another time or on another host; use --thorough"
    )


def _software(environment: Environment, facts: Facts, measured: Run | None) -> Iterator[Finding]:
    changed = sorted(CODEGEN_VARIABLES & environment.variables.keys())
    if changed:
        yield Finding(
            "variables", WARN, f"{', '.join(changed)} may change the machine code", f"unset {' '.join(changed)}"
        )
    else:
        yield Finding("variables", OK, "none that change the machine code")
    if measured is not None:
        layer = measured.environment.threading_layer
        if layer is None:
            yield Finding("threading layer", UNKNOWN, "one core only, or it did not start")
        else:
            step = "" if layer != "workqueue" else "install the OpenMP runtime (libgomp): workqueue is slow to start"
            yield Finding("threading layer", OK if layer != "workqueue" else WARN, layer, step)
    if facts.cache_refused is not None:
        found = f"{facts.cache_folder}: {facts.cache_refused}: every run compiles again"
        yield Finding("cache folder", WARN, found, "set XDG_CACHE_HOME to a folder that can be written")
    else:
        yield Finding("cache folder", OK, facts.cache_folder)
