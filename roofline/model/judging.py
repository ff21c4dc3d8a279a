"""What archived evidence says of a measurement: rules on values alone, so that a reader can judge again.

Each rule gives the code of a guard (see `guard`). Thresholds allow for what one interrupt, one tick of the system's
books or one unlucky sample can do: a guard that cries wolf is switched off by its users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.model.evidence import DataEvidence, Evidence
from roofline.model.struct import Value

TICK_S = 0.01
"""The system's books of CPU time (/proc/stat) count in steps of 10 ms."""
LEAST_TICKS = 3
"""Fewer ticks than these are rounding."""
STOLEN_SHARE = 0.005
"""Of the CPU time, taken by the hypervisor."""
OTHERS_SHARE = 0.05
"""Of the CPU time, used by other programs."""
FAULTS_PER_SAMPLE = 8
"""More page faults in each sample and the memory system is not all that was timed."""
FAULTS_PER_PAGE = 0.01
"""More page faults than this share of the pages that the samples move, and faults are what was timed."""
PAGE_BYTES = 4096
RESIDENT_SHARE = 0.99
"""Buffers with fewer of their pages in memory were read without having been written."""
DISTINCT_SHARE = 0.99
"""Data in which fewer cache lines are different from all others is not what real data is like."""
FEW_LINES = 16
"""Of fewer lines nothing can be said."""
LEAST_DOUBLED = 1.6
"""Twice the repeats take so many times as long at least, or repeats do not work."""
DROPPED_SHARE = 0.01
"""More samples dropped because the clock did not move forward."""
NODES_APART = 0.10
"""Pages of a node and threads on it whose shares differ by more: some threads work on far memory."""
CLOCK_APART = 0.03
"""Two clocks held that differ by more."""
ALIASING_BYTES = 256
"""A load that follows a store so closely, in the low 12 bits of its address, waits for it on many cores."""
FASTEST_HZ = 6.5e9
"""No core in sale runs faster."""
MOST_FLOP_PER_CYCLE = {"f64": 64, "f32": 128, "i8": 1024}
"""No core does more: four 512-bit multiply-adds, and twice as much for dot products of bytes."""
MOST_BYTE_PER_CYCLE = 256
"""No core moves more: two 512-bit loads and a store, doubled."""


DECLARED_MORE = 0.05
LEAST_BYTES = 4096
"""Declared bytes beyond the arrays' own by more than a share and a page were counted twice."""
MOST_WIPED = 2.0
"""Calls that take so much longer where their output has been wiped, in cold caches, do not do their work otherwise."""
MOST_UNSEEN = 1.5
"""Calls that take so much longer on data that they have not seen do not do all of their work otherwise."""
MOST_UNSEEN_SHARED = 2.0
"""The same of calls on several threads: one that is late delays all, so that single calls vary."""
DOUBTED_UNSEEN = 1.25
"""From here on they are doubted."""


class Verdict(Value, frozen=True, kw_only=True):
    """The codes of the guards that fired."""

    invalid: tuple[str, ...] = ()
    """The number is not what it claims to be."""
    degraded: tuple[str, ...] = ()
    """The number counts, with doubt."""


class Circumstances(Value, frozen=True, kw_only=True):
    """What a measurement was meant to be: the facts that evidence is judged by."""

    samples: int
    """How many were taken."""
    threads: int
    cpus: tuple[int, ...] = ()
    """CPUs that the threads were pinned to, by rank; empty when they were not."""
    sample_bytes: int = 0
    """What one sample moves."""


def verdict_of(evidence: Evidence | None, facts: Circumstances) -> Verdict:
    """Return what the evidence says. What is unknown accuses nobody."""
    if evidence is None:
        return Verdict()
    data = evidence.data or DataEvidence()
    invalid = [*_invalid_process(evidence, facts), *_invalid_data(data)]
    degraded = [*_degraded_process(evidence, facts), *_degraded_data(data)]
    return Verdict(invalid=tuple(invalid), degraded=tuple(code for code in degraded if code not in invalid))


def _invalid_process(evidence: Evidence, facts: Circumstances) -> Iterator[str]:
    once = evidence.doubled is not None and evidence.doubled < LEAST_DOUBLED
    if once or (evidence.wiped or 0.0) > MOST_WIPED or remembers(evidence.unseen, facts.threads):
        yield "HOIST"
    if evidence.throttled_s:
        yield "THROTTLE"
    faults = (evidence.minor_faults or 0) + (evidence.major_faults or 0)
    pages = facts.samples * facts.sample_bytes / PAGE_BYTES
    if faults > FAULTS_PER_SAMPLE * facts.samples and faults > FAULTS_PER_PAGE * pages:
        yield "FAULT"


def _degraded_process(evidence: Evidence, facts: Circumstances) -> Iterator[str]:
    faults = (evidence.minor_faults or 0) + (evidence.major_faults or 0)
    if faults > FAULTS_PER_SAMPLE * facts.samples:
        yield "FAULT"
    if evidence.interval_s:
        cpu_s = evidence.interval_s * max(1, facts.threads)
        if _taken(evidence.stolen_s, STOLEN_SHARE * cpu_s):
            yield "STEAL"
        if _taken(evidence.others_s, OTHERS_SHARE * cpu_s):
            yield "BUSY"
    if (evidence.unseen or 0.0) > DOUBTED_UNSEEN and not remembers(evidence.unseen, facts.threads):
        yield "SEEN"
    if evidence.clock_steps_back > DROPPED_SHARE * facts.samples or (evidence.suspended_s or 0.0) > TICK_S:
        yield "CLOCKBACK"
    if evidence.collections:
        yield "GC"
    if evidence.compilations:
        yield "JIT"
    if evidence.changed:
        yield "STATE"
    if evidence.cpus and facts.cpus and any(a != b for a, b in zip(evidence.cpus, facts.cpus, strict=False)):
        yield "UNPINNED"
    if evidence.runnable is not None and evidence.runnable_cpus and evidence.runnable > evidence.runnable_cpus:
        yield "OVERSUB"


def remembers(unseen: float | None, threads: int) -> bool:
    """Return whether calls are so late on data that they have not seen that they do not do all of their work."""
    return (unseen or 0.0) > (MOST_UNSEEN if threads == 1 else MOST_UNSEEN_SHARED)


def _taken(spent_s: float | None, allowed_s: float) -> bool:
    return spent_s is not None and spent_s > allowed_s and spent_s > LEAST_TICKS * TICK_S


def _invalid_data(data: DataEvidence) -> Iterator[str]:
    if data.subnormals:
        yield "DENORM"
    if data.nonfinite:
        yield "NONFINITE"
    if data.lines >= FEW_LINES and data.repeated_lines > (1 - DISTINCT_SHARE) * data.lines + 1:
        yield "ZERODATA"
    if data.resident_share is not None and data.resident_share < RESIDENT_SHARE:
        yield "ZEROPAGE"


def _degraded_data(data: DataEvidence) -> Iterator[str]:
    if aliases(data.offsets_bytes, data.written_arrays):
        yield "ALIAS4K"
    nodes = data.node_shares.keys() | data.thread_shares.keys()
    if data.node_shares and data.thread_shares:
        apart = (abs(data.node_shares.get(node, 0.0) - data.thread_shares.get(node, 0.0)) for node in nodes)
        if max(apart) > NODES_APART:
            yield "FIRSTTOUCH"


def notes_on(data: DataEvidence | None) -> tuple[str, ...]:
    """Return the codes of what a reader should know of sound data: SETCONF, rows that fall into the same sets."""
    conflicts = data is not None and any(row and row % PAGE_BYTES == 0 for row in data.row_bytes)
    return ("SETCONF",) if conflicts else ()


def aliases(offsets_bytes: Sequence[int], written: int) -> bool:
    """Return whether a load can seem to depend on a store: arrays so placed within a page.

    `offsets_bytes` are the places of the arrays within a page of 4096 bytes, the last `written` of them written.
    (Intel, Optimization Reference Manual, "4K aliasing"; an array does not alias with itself.)
    """
    loads, stores = offsets_bytes[: len(offsets_bytes) - written], offsets_bytes[len(offsets_bytes) - written :]
    return any(0 < (store - load) % PAGE_BYTES < ALIASING_BYTES for store in stores for load in loads)


def is_impossible(per_core_s: float, most_per_cycle: float) -> bool:
    """Return whether one core cannot do so much in a second, whatever its clock: work is missing, or counted twice."""
    return not per_core_s <= most_per_cycle * FASTEST_HZ


def clock_ratio(held_hz: Sequence[float], roof_hz: Sequence[float]) -> float:
    """Return the clock beside a kernel over that beside its roof; 1 where either is unknown.

    The highest of each count: whatever disturbs the chain of additions that tells the clock makes it look lower.
    """
    kernel, roof = max(held_hz, default=0.0), max(roof_hz, default=0.0)
    return kernel / roof if kernel > 0 and roof > 0 else 1.0


def other_clock(held_hz: Sequence[float], roof_hz: Sequence[float]) -> bool:
    """Return whether the clock beside a kernel was another than beside its roof: the ratio then says both."""
    return abs(clock_ratio(held_hz, roof_hz) - 1) > CLOCK_APART


def is_too_short(interval_s: float, resolution_s: float, overhead_s: float, least_s: float = 1e-3) -> bool:
    """Return whether a clock interval is shorter than its clock can tell to 0.1 %: a thousand ticks (STREAM: 20)."""
    return not interval_s >= max(least_s, 1000 * resolution_s, 100 * overhead_s)
