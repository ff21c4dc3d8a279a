"""What the process and the system said while samples were taken: the facts that guards judge by."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from roofline.model.struct import Value


class DataEvidence(Value, frozen=True, kw_only=True):
    """What was seen of the arrays that a measurement works on; of large ones a sample of their cache lines."""

    lines: int = 0
    """Cache lines of 64 bytes looked at, of operands that hold floating-point numbers."""
    repeated_lines: int = 0
    """Those equal to another one looked at, or holding one value throughout: some CPUs treat them faster."""
    subnormals: int = 0
    """Numbers other than zero below the smallest normal one."""
    nonfinite: int = 0
    """Infinities and NaNs."""
    resident_share: float | None = None
    """Share of the pages that have memory of their own: pages never written share one."""
    huge_share: float | None = None
    """Share of them on huge pages."""
    node_shares: dict[str, float] = {}
    """Share of the pages by NUMA node; empty on one node, or where the system does not tell."""
    thread_shares: dict[str, float] = {}
    """Share of the threads by NUMA node."""
    row_bytes: tuple[int, ...] = ()
    """Distance of neighbouring rows of each matrix with many of them."""
    array_bytes: int | None = None
    """Size of all arrays together."""
    offsets_bytes: tuple[int, ...] = ()
    """Place of each array within a page of 4096 bytes, those that are written last."""
    written_arrays: int = 0
    """How many of them, the last ones, are written."""


class Evidence(Value, frozen=True, kw_only=True):
    """Facts beside the samples of one measurement, from before its first to after its last. Unknown is None."""

    started_s: float | None = None
    """When, on the system's monotonic clock, which all processes of a run share."""
    interval_s: float | None = None
    """Wall time from the first sample to the last, the roof's blocks among them."""
    minor_faults: int | None = None
    """Page faults of the process that needed no disk, during the samples themselves."""
    major_faults: int | None = None
    """Page faults that did."""
    involuntary_switches: int | None = None
    """Times that the system took a CPU away from a thread of the process."""
    stolen_s: float | None = None
    """CPU time that the hypervisor gave to others, of all CPUs together (/proc/stat, in steps of 10 ms)."""
    others_s: float | None = None
    """CPU time that other processes used, of all CPUs together (/proc/stat less this process's own)."""
    throttled_s: float | None = None
    """Time that a CPU quota of a cgroup, its own or an ancestor's, kept the process stopped."""
    suspended_s: float | None = None
    """Time that the system slept: clocks that count it against clocks that do not."""
    clock_resolution_s: float | None = None
    """Smallest step of the clock that the samples were taken with."""
    clock_overhead_s: float | None = None
    """What one reading of it takes."""
    clock_steps_back: int = 0
    """Samples that were dropped because the clock did not move forward."""
    runnable: int | None = None
    """Threads of the whole system that wanted to run when the samples began, this process's own among them."""
    runnable_cpus: int | None = None
    """CPUs that they had."""
    collections: int | None = None
    """Runs of Python's garbage collector."""
    compilations: int | None = None
    """Functions that Numba compiled."""
    cpus: tuple[int, ...] = ()
    """Logical CPU of each thread of the team, by rank, after the last sample; empty where the system does not tell."""
    changed: tuple[str, ...] = ()
    """What user code has changed in the process, when its file was loaded or when it ran: `folder`, `locale`,
    `affinity`, `subnormals`, ..."""
    doubled: float | None = None
    """Time of twice the repeats over the time of the repeats: near 2 when each repeat does the work."""
    wiped: float | None = None
    """Time of a call that finds its output wiped, its caches cold, over that of the timed calls: in runs of earlier
    code, where both are long enough to tell."""
    unseen: float | None = None
    """Time of a call on data that it has not seen, its output wiped, over that of calls on data that it has; both with
    warm caches. None where no other data can be made."""
    data: DataEvidence | None = None
    """What the data was after the last sample; None for code without data."""

    def with_changed(self, names: Iterable[str]) -> Evidence:
        """Return it with these changes of the process, too, each once."""
        return replace(self, changed=tuple(dict.fromkeys((*self.changed, *names))))
