"""Watches the process and the system while samples are taken, and says what it saw as Evidence."""

from __future__ import annotations

import ctypes
import gc
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from roofline.codegen.compilations import Compilations
from roofline.host.counters import CounterReader, Counters, between
from roofline.measurement.clock import ClockQuality
from roofline.measurement.team import Team
from roofline.model.evidence import DataEvidence, Evidence

Usage = Callable[[], Any]
"""Returns what `resource.getrusage` does: ru_minflt, ru_majflt, ru_nivcsw."""


def process_usage() -> Any:
    """Return what the system says that this process, all threads of it, has used."""
    return resource.getrusage(resource.RUSAGE_SELF)


@dataclass
class Witness:
    """One for a worker; `watch` lends a note for every measurement."""

    team: Team
    reader: CounterReader = field(default_factory=CounterReader)
    usage: Usage = process_usage
    clock: Callable[[], float] = time.perf_counter
    compilations: Compilations = field(default_factory=Compilations)
    quality: ClockQuality | None = None
    """Of the clock that samples are taken with."""
    changed: tuple[str, ...] = ()
    """What loading a user's file has changed in the process: it holds for all that is measured in it."""

    @contextmanager
    def watch(self) -> Iterator[Note]:
        """Lend a Note that knows, when the context ends, what happened in it; the garbage collector rests meanwhile."""
        note = Note(self)
        collecting = gc.isenabled()
        gc.disable()
        try:
            yield note
        finally:
            note.finish()
            if collecting:
                gc.enable()

    def cpus(self) -> tuple[int, ...]:
        """Return where each thread of the team runs now; empty where the system does not tell."""
        return tuple(self.team.each(lambda _: current_cpu())) if current_cpu() >= 0 else ()


def current_cpu() -> int:
    """Return the logical CPU that the calling thread runs on; -1 where the system does not tell."""
    return _sched_getcpu() if _sched_getcpu is not None else -1


def _find_sched_getcpu() -> Callable[[], int] | None:
    try:
        found = ctypes.CDLL(None).sched_getcpu
    except (AttributeError, OSError, TypeError):
        return None
    found.restype = ctypes.c_int
    found.argtypes = []
    return found


_sched_getcpu = _find_sched_getcpu()


class Note:
    """What one measurement's samples went through."""

    def __init__(self, witness: Witness) -> None:
        """Begin now."""
        self._witness = witness
        self._faults = [0, 0]
        self._switches = 0
        self.clock_steps_back = 0
        self.doubled: float | None = None
        self._runnable = witness.reader.runnable()
        self._collections = _collections()
        self._compilations = witness.compilations.count
        self._counters: Counters = witness.reader.read()
        self._started_s = witness.clock()
        self._evidence = Evidence()

    @contextmanager
    def sample(self) -> Iterator[None]:
        """Count faults and switches of what happens in this context only."""
        before = self._witness.usage()
        try:
            yield
        finally:
            after = self._witness.usage()
            self._faults[0] += after.ru_minflt - before.ru_minflt
            self._faults[1] += after.ru_majflt - before.ru_majflt
            self._switches += after.ru_nivcsw - before.ru_nivcsw

    def finish(self) -> None:
        """Read everything once more: what differs has happened meanwhile."""
        witness = self._witness
        interval_s = witness.clock() - self._started_s
        passed = between(self._counters, witness.reader.read())
        self._evidence = Evidence(
            started_s=self._started_s,
            interval_s=interval_s,
            minor_faults=self._faults[0],
            major_faults=self._faults[1],
            involuntary_switches=self._switches,
            stolen_s=passed.stolen_s,
            others_s=passed.others_s,
            throttled_s=passed.throttled_s,
            suspended_s=passed.suspended_s,
            clock_resolution_s=witness.quality.resolution_s if witness.quality else None,
            clock_overhead_s=witness.quality.overhead_s if witness.quality else None,
            clock_steps_back=self.clock_steps_back,
            runnable=self._runnable,
            runnable_cpus=witness.reader.cpus,
            collections=_collections() - self._collections,
            compilations=witness.compilations.count - self._compilations,
            cpus=witness.cpus(),
            doubled=self.doubled,
            changed=witness.changed,
        )

    def evidence(self, data: DataEvidence | None = None) -> Evidence:
        """Return what was seen, with what was seen of the data."""
        return replace(self._evidence, data=data)


def _collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())
