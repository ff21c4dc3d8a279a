"""What is seen beside samples."""

from __future__ import annotations

import gc
import mmap
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import njit
from witnesses import NOWHERE, quiet_witness

from roofline.host.counters import CounterReader
from roofline.measurement.clock import ClockQuality
from roofline.measurement.team import Team, pin_to
from roofline.measurement.witness import Witness, current_cpu, process_usage
from roofline.model.evidence import DataEvidence
from roofline.model.judging import Circumstances, verdict_of

FACTS = Circumstances(samples=2, threads=1)


def touch_new_memory() -> None:
    """Write one byte in each page of 8 MiB that no one has used before."""
    with mmap.mmap(-1, 8 * 2**20) as fresh:
        for start in range(0, len(fresh), mmap.PAGESIZE):
            fresh[start] = 1


def test_only_what_happens_in_a_sample_counts_as_its_faults() -> None:
    faults = count(0, 5)
    usage = lambda: SimpleNamespace(ru_minflt=next(faults), ru_majflt=0, ru_nivcsw=1)  # noqa: E731
    with Team((), 1) as team:
        witness = Witness(team, reader=CounterReader(NOWHERE), usage=usage)
        with witness.watch() as note:
            with note.sample():
                pass
            next(faults)  # outside
            with note.sample():
                pass
    evidence = note.evidence()
    assert (evidence.minor_faults, evidence.major_faults, evidence.involuntary_switches) == (10, 0, 0)


@pytest.mark.canary("FAULT")
def test_memory_that_is_touched_for_the_first_time_in_a_sample_is_seen() -> None:
    with Team((), 1) as team:
        witness = Witness(team)
        with witness.watch() as note, note.sample():
            touch_new_memory()
    evidence = note.evidence()
    assert evidence.minor_faults is not None
    assert verdict_of(evidence, FACTS).invalid == ("FAULT",)


@pytest.mark.twin("FAULT")
def test_memory_that_was_written_before_faults_no_more() -> None:
    data = bytearray(b"\1" * 2**20)
    with Team((), 1) as team:
        witness = Witness(team)
        with witness.watch() as note, note.sample():
            data[::4096] = b"\2" * 256
    assert verdict_of(note.evidence(), FACTS).invalid == ()


@pytest.mark.canary("GC")
def test_a_collection_among_the_samples_is_seen() -> None:
    with Team((), 1) as team, quiet_witness(team).watch() as note:
        gc.collect()
    assert "GC" in verdict_of(note.evidence(), FACTS).degraded


@pytest.mark.twin("GC")
def test_the_collector_rests_among_the_samples_and_works_again_after_them_even_when_one_raises() -> None:
    assert gc.isenabled()
    with Team((), 1) as team:
        witness = quiet_witness(team)
        with pytest.raises(RuntimeError), witness.watch() as note:
            assert not gc.isenabled()
            cycles = [[] for _ in range(5000)]
            for cycle in cycles:
                cycle.append(cycle)
            raise RuntimeError
    assert gc.isenabled()
    assert "GC" not in verdict_of(note.evidence(), FACTS).degraded


@pytest.mark.canary("JIT")
@pytest.mark.twin("JIT")
def test_a_new_type_among_the_samples_is_compiled_and_seen() -> None:
    @njit
    def twice(x):  # type: ignore[no-untyped-def]
        return x + x

    twice(1)
    with Team((), 1) as team:
        witness = quiet_witness(team)
        with witness.watch() as warm:
            twice(2)
        with witness.watch() as cold:
            twice(1.0)
    assert verdict_of(warm.evidence(), FACTS).degraded == ()
    assert "JIT" in verdict_of(cold.evidence(), FACTS).degraded


@pytest.mark.canary("UNPINNED")
@pytest.mark.twin("UNPINNED")
def test_a_thread_that_is_not_where_it_was_pinned_is_seen() -> None:
    here = current_cpu()
    if here < 0 or not pin_to(here):
        pytest.skip("the system does not tell where a thread runs, or does not pin it")
    with Team((here,), 1) as team:
        with quiet_witness(team).watch() as note:
            pass
        evidence = note.evidence()
        assert evidence.cpus == (here,)
        assert verdict_of(evidence, Circumstances(samples=1, threads=1, cpus=(here,))).degraded == ()
        assert verdict_of(evidence, Circumstances(samples=1, threads=1, cpus=(here + 1,))).degraded == ("UNPINNED",)


def test_the_clock_and_the_data_stand_in_the_evidence() -> None:
    with Team((), 1) as team:
        witness = quiet_witness(team)
        witness.quality = ClockQuality(resolution_s=1e-9, overhead_s=3e-8)
        with witness.watch() as note:
            note.doubled = 2.0
            note.clock_steps_back = 3
    evidence = note.evidence(DataEvidence(lines=7))
    assert (evidence.clock_resolution_s, evidence.clock_overhead_s) == (1e-9, 3e-8)
    assert (evidence.doubled, evidence.clock_steps_back, evidence.data) == (2.0, 3, DataEvidence(lines=7))
    assert evidence.stolen_s is None  # this system keeps no books


def test_the_usage_of_this_process_can_be_asked() -> None:
    first = process_usage().ru_minflt
    touch_new_memory()
    assert process_usage().ru_minflt > first


def test_what_the_system_counts_is_read_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    stat = tmp_path / "proc/stat"
    stat.write_text("cpu 100 0 50 1000 0 0 0 7\ncpu0 1\ncpu1 1\n")
    (tmp_path / "proc/loadavg").write_text("0.1 0.1 0.1 5/90 1234\n")
    with Team((), 1) as team, quiet_witness(team, tmp_path).watch() as note:
        stat.write_text("cpu 180 0 50 1000 0 0 0 57\ncpu0 1\ncpu1 1\n")
    evidence = note.evidence()
    assert evidence.stolen_s == pytest.approx(0.5)
    assert (evidence.runnable, evidence.runnable_cpus) == (5, 2)
    assert evidence.others_s is None  # what this process used is not known of another system
