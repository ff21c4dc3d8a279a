"""What a well-formed run can still get wrong: values that no machine produces, and arrays that do not fit together.

What passes here can be derived from, compared and drawn without dividing by zero or overflowing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace

from roofline.archive.identity import RUN_ID, label_defect
from roofline.archive.tree import Defect, shown
from roofline.model.ceilings import Ceiling, ComputeCeiling
from roofline.model.machine import Environment, Machine
from roofline.model.measurement import MOST_TOLERANCE, STATUSES, Measurement
from roofline.model.run import (
    ComputeMeasured,
    KernelMeasured,
    LatencyPoint,
    Level,
    LevelsFound,
    MemoryMeasured,
    Record,
    Run,
    SweepPoint,
)

TIME_S = (1e-12, 1e6)
"""Seconds per call or per sample."""
RATE = (1e-3, 1e24)
"""flop/s and B/s of a ceiling or block."""
PER_CYCLE = (0.0, 1e9)
CLOCK_HZ = (0.0, 1e12)
COUNT = (1, 2**31)
AMOUNT = (1, 2**63)
MAX_LAUNCHES = 100
REGISTERS = ("scalar", "xmm", "ymm", "zmm", "v")
"""What assembly calls the registers, single elements apart."""
DIGEST = re.compile(r"[0-9a-f]{16}")
MAX_SAMPLES = 100_000
"""Samples of one ceiling or measurement."""


def header_defects(run_id: str, started_utc: str) -> Iterator[Defect]:
    """Yield what is implausible in the name and the time of a run or trial."""
    if not RUN_ID.fullmatch(run_id):
        yield Defect("id", shown(run_id), "YYYYMMDD-HHMMSS-xxxx")
    try:
        datetime.strptime(started_utc, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        yield Defect("started_utc", shown(started_utc), "YYYY-MM-DDTHH:MM:SSZ")


def run_defects(run: Run) -> Iterator[Defect]:
    """Yield what is implausible in a run."""
    yield from header_defects(run.id, run.started_utc)
    if run.label is not None and (defect := label_defect(run.label)) is not None:
        yield Defect("label", shown(run.label), f"a short printable name ({defect})")
    if run.suite_digest is not None and not DIGEST.fullmatch(run.suite_digest):
        yield Defect("suite_digest", shown(run.suite_digest), "16 hexadecimal digits, or null")
    yield from within("elapsed_s", run.elapsed_s, (0.0, 1e9))
    yield from machine_defects(run.machine, run.environment)
    for index, compute in enumerate(run.ceilings.compute):
        yield from ceiling_defects(compute, f"ceilings.compute[{index}]")
    for index, memory in enumerate(run.ceilings.memory):
        yield from ceiling_defects(memory, f"ceilings.memory[{index}]")
    yield from level_defects(run.levels, run.sweep, run.latencies)
    for index, measurement in enumerate(run.measurements):
        yield from measurement_defects(measurement, f"measurements[{index}]")
    yield from _contradictions(run)


def _contradictions(run: Run) -> Iterator[Defect]:
    """Yield what single measurements say that the rest of the run does not know of."""
    levels = {level.name for level in run.levels}
    seen: set[tuple[Any, ...]] = set()
    for index, measurement in enumerate(run.measurements):
        path = f"measurements[{index}]"
        point = (measurement.kernel, measurement.n, measurement.dtype, measurement.threads, measurement.level)
        if point in seen:
            yield Defect(path, f"{shown(measurement.kernel)} twice", "each kernel once at one size")
        seen.add(point)
        if measurement.level and levels and measurement.level not in levels:
            yield Defect(f"{path}.level", shown(measurement.level), f"one of {', '.join(map(shown, sorted(levels)))}")
        if measurement.improves == measurement.kernel:
            yield Defect(f"{path}.improves", "the kernel itself", "another one, or none")
        if run.machine.hardware_threads is not None and measurement.threads > run.machine.hardware_threads:
            yield Defect(f"{path}.threads", str(measurement.threads), f"at most {run.machine.hardware_threads}")


def without_the_impossible(run: Run) -> Run:
    """Return the run with every number that claims to be sound and lies above its roof marked as what it is.

    The stored status is a claim; percent of roof follows from samples and ceilings, and is what counts.
    """

    def judged(measurement: Measurement) -> Measurement:
        derived = run.derived(measurement) if measurement.drawable else None
        if derived is None or not derived.is_above_roof:
            return measurement
        return replace(measurement, status="above_roof", status_codes=("ARCHIVE",))

    return replace(run, measurements=tuple(map(judged, run.measurements)))


def record_defects(record: Record) -> Iterator[Defect]:
    """Yield what is implausible in one record of a journal: those that hold only texts have nothing to check."""
    match record:
        case ComputeMeasured() | MemoryMeasured():
            yield from ceiling_defects(record.ceiling, "ceiling")
        case KernelMeasured():
            yield from measurement_defects(record.measurement, "measurement")
        case LevelsFound():
            yield from level_defects(record.levels, record.sweep, record.latencies)


def ceiling_defects(ceiling: Ceiling, path: str) -> Iterator[Defect]:
    """Yield what is implausible in a ceiling."""
    yield from within(f"{path}.threads", ceiling.threads, COUNT)
    yield from within(f"{path}.clock_hz", ceiling.clock_hz, CLOCK_HZ)
    if isinstance(ceiling, ComputeCeiling):
        yield from within(f"{path}.flop_per_s", ceiling.flop_per_s, RATE)
        yield from within(f"{path}.flop_per_cycle", ceiling.flop_per_cycle, PER_CYCLE)
        yield from within(f"{path}.chains", ceiling.chains, COUNT)
    else:
        yield from within(f"{path}.byte_per_s", ceiling.byte_per_s, RATE)
        yield from within(f"{path}.byte_per_cycle", ceiling.byte_per_cycle, PER_CYCLE)
        yield from within(f"{path}.working_set_bytes", ceiling.working_set_bytes, AMOUNT)
        yield from within(f"{path}.unroll", ceiling.unroll, COUNT)
    if len(ceiling.launches) > MAX_LAUNCHES:
        yield Defect(f"{path}.launches", f"{len(ceiling.launches)} launches", f"at most {MAX_LAUNCHES}")
    if ceiling.raised_by and not any(launch.samples_s for launch in ceiling.launches[-1:]):
        yield Defect(f"{path}.launches", "no samples in the last launch", f"some, as {ceiling.raised_by} raised it")
    for index, launch in enumerate(ceiling.launches):
        place = f"{path}.launches[{index}]"
        yield from within(f"{place}.amount", launch.amount, AMOUNT)
        yield from _samples(f"{place}.samples_s", launch.samples_s, TIME_S, MAX_SAMPLES, "at most")
        yield from _samples(f"{place}.clock_samples_hz", launch.clock_samples_hz, CLOCK_HZ, len(launch.samples_s))


def measurement_defects(measurement: Measurement, path: str) -> Iterator[Defect]:
    """Yield what is implausible in a measurement."""
    for name in ("n", "threads", "repeats"):
        yield from within(f"{path}.{name}", getattr(measurement, name), (COUNT[0], AMOUNT[1]))
    for name in ("flops", "read_bytes", "write_bytes", "allocate_bytes"):
        yield from within(f"{path}.work.{name}", getattr(measurement.work, name), (0, AMOUNT[1]))
    for name in ("error", "tolerance"):
        yield from within(f"{path}.{name}", getattr(measurement, name), (0.0, float("inf")))
    if measurement.status not in STATUSES:
        yield Defect(f"{path}.status", shown(measurement.status), f"one of {', '.join(STATUSES)}")
    error, tolerance = measurement.error, measurement.tolerance
    if measurement.drawable and error is not None and tolerance is not None and not error <= tolerance:
        yield Defect(f"{path}.error", shown(error), f"at most the tolerance, {tolerance:g}, as it counts as right")
    if measurement.vector_register is not None and measurement.vector_register.split(" ")[0] not in REGISTERS:
        yield Defect(f"{path}.vector_register", shown(measurement.vector_register), f"one of {', '.join(REGISTERS)}")
    digest = measurement.assembly_digest
    if digest and not DIGEST.fullmatch(digest):
        yield Defect(f"{path}.assembly_digest", shown(digest), "16 hexadecimal digits, or nothing")
    for name, size in measurement.tiles.items():
        yield from within(f"{path}.tiles.{shown(name)}", size, (0, AMOUNT[1]))
    if measurement.tolerance is not None and measurement.tolerance > MOST_TOLERANCE:
        yield Defect(f"{path}.tolerance", shown(measurement.tolerance), f"at most {MOST_TOLERANCE:g}")
    if measurement.evidence is not None:
        facts = asdict(measurement.evidence)
        for name, value in facts.items():
            if isinstance(value, int | float) and value < 0:
                yield Defect(f"{path}.evidence.{name}", shown(value), "0 or more")
    samples = len(measurement.samples_s)
    if measurement.status in ("ok", "degraded") and not samples:
        yield Defect(f"{path}.samples_s", "no samples", f"some, as the status is {measurement.status}")
    yield from _samples(f"{path}.samples_s", measurement.samples_s, TIME_S, MAX_SAMPLES, "at most")
    yield from _samples(f"{path}.clock_samples_hz", measurement.clock_samples_hz, CLOCK_HZ, samples)
    yield from _samples(f"{path}.roof_samples", measurement.roof_samples, RATE, samples + 1)
    yield from _samples(f"{path}.roof_clock_samples_hz", measurement.roof_clock_samples_hz, CLOCK_HZ, samples + 1)


def machine_defects(machine: Machine, environment: Environment) -> Iterator[Defect]:
    """Yield what is implausible in a machine and its conditions."""
    for name in ("sockets", "cores", "hardware_threads", "numa_nodes"):
        yield from within(f"machine.{name}", getattr(machine, name), COUNT)
    yield from within("machine.memory_bytes", machine.memory_bytes, AMOUNT)
    for index, cache in enumerate(machine.caches):
        yield from within(f"machine.caches[{index}].size_bytes", cache.size_bytes, AMOUNT)
        for name in ("line_bytes", "shared_by", "instances"):
            yield from within(f"machine.caches[{index}].{name}", getattr(cache, name), COUNT)
    yield from within("environment.steal_share", environment.steal_share, (0.0, 1.0))
    for name in ("load_1min", "cgroup_cpus", "memory_limit_bytes", "memory_available_bytes"):
        yield from within(f"environment.{name}", getattr(environment, name), (0, AMOUNT[1]))


def level_defects(
    levels: Sequence[Level], sweep: Sequence[SweepPoint] = (), latencies: Sequence[LatencyPoint] = ()
) -> Iterator[Defect]:
    """Yield what is implausible in levels, and in what they were found from."""
    for index, level in enumerate(levels):
        yield from within(f"levels[{index}].shared_by", level.shared_by, COUNT)
        for name in ("reported_bytes", "effective_bytes", "bandwidth_bytes", "latency_bytes", "working_set_bytes"):
            yield from within(f"levels[{index}].{name}", getattr(level, name), AMOUNT)
        for name in ("effective_interval_bytes", "bandwidth_interval_bytes", "latency_interval_bytes"):
            for end in getattr(level, name) or ():
                yield from within(f"levels[{index}].{name}", end, AMOUNT)
        yield from within(f"levels[{index}].byte_per_s", level.byte_per_s, RATE)
        yield from within(f"levels[{index}].latency_s", level.latency_s, TIME_S)
        yield from within(f"levels[{index}].latency_cycles", level.latency_cycles, PER_CYCLE)
    for index, point in enumerate(sweep):
        yield from within(f"sweep[{index}].size_bytes", point.size_bytes, AMOUNT)
        yield from within(f"sweep[{index}].byte_per_s", point.byte_per_s, RATE)
    for index, latency in enumerate(latencies):
        yield from within(f"latencies[{index}].size_bytes", latency.size_bytes, AMOUNT)
        yield from within(f"latencies[{index}].latency_s", latency.latency_s, TIME_S)
        yield from within(f"latencies[{index}].latency_cycles", latency.latency_cycles, PER_CYCLE)


def within(path: str, value: float | None, limits: tuple[float, float]) -> Iterator[Defect]:
    """Yield a defect for a value outside of its limits. Unknown (None) is always plausible; a NaN never is."""
    low, high = limits
    if value is not None and not low <= value <= high:
        yield Defect(path, shown(value), f"{low:g} to {high:g}")


def _samples(
    path: str, values: Sequence[float], limits: tuple[float, float], count: int, words: str = "none or"
) -> Iterator[Defect]:
    """Samples are all within limits, and either absent or exactly (or at most) as many as `count`."""
    fits = len(values) <= count if words == "at most" else len(values) in (0, count)
    if not fits:
        yield Defect(path, f"{len(values)} values", f"{words} {count}")
    low, high = limits
    for index, value in enumerate(values):
        if not low <= value <= high:
            yield Defect(f"{path}[{index}]", shown(value), f"{low:g} to {high:g}")
