"""The real worker, end to end: a tiny plan, of which only the structure is looked at and never the speed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ceilings_of import compute
from fakes import empty_run, runs, still_running
from msgspec.structs import replace

from roofline.errors import CodegenError, MeasurementError, RooflineError, UsageError, WrongResult
from roofline.host.machine import read_machine
from roofline.measurement.launch import launch
from roofline.measurement.measure import KernelProbe
from roofline.measurement.message import Request
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints
from roofline.measurement.team import Team
from roofline.measurement.worker import Worker, kind_of
from roofline.model.ceilings import Ceilings
from roofline.model.final import rejudged
from roofline.model.measurement import Measurement
from roofline.model.run import ComputeMeasured, KernelMeasured, Record
from roofline.model.work import Work

PLAN = Plan(
    mode="run",
    budget_s=0.5,
    threads=(1,),
    cpus=tuple(sorted(os.sched_getaffinity(0)))[:1] if hasattr(os, "sched_getaffinity") else (),
    dtypes=("f64",),
    isas=("scalar",),
    points=(
        SweepPoints(sizes=6),
        ComputePoint(isa="scalar", dtype="f64", op="mul_add", threads=1),
        MemoryPoint(level="L9", pattern="load", isa="scalar", threads=1),
        ComputePoint(isa="scalar", dtype="f64", op="mul_add", threads=1, launch=2),
        MemoryPoint(level="L9", pattern="load", isa="scalar", threads=1, launch=2),
        KernelPoint(kernel="stream.triad", dtype="f64", threads=1, n=1000, launch=2),
        KernelPoint(kernel="no.such", dtype="f64", threads=1, n=1000, launch=2),
        KernelPoint(kernel="stream.triad", dtype="f64", threads=1, n=10**12, launch=2),
    ),
    memory_budget_bytes=32 * 2**20,
)


def test_a_tiny_plan_is_measured_audited_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow one here: a worker that compiles, and one that measures."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    start = replace(empty_run(), machine=read_machine())
    kept: list[Record] = []
    run = launch(PLAN, start, keep=kept.append, progress=lambda _: None)
    assert run.complete

    assert len(run.sweep) == 6
    assert [point.size_bytes for point in run.sweep] == sorted(point.size_bytes for point in run.sweep)
    assert min(point.byte_per_s for point in run.sweep) > 0
    assert run.levels[-1].name == "DRAM"
    assert run.environment.llvm

    (ceiling,) = run.ceilings.compute
    assert (ceiling.isa, ceiling.dtype, ceiling.op, ceiling.threads) == ("scalar", "f64", "mul_add", 1)
    assert ceiling.audited
    assert ceiling.audit is not None
    assert ceiling.audit.chains == ceiling.chains
    first, second = ceiling.launches[:2]  # a third where blocks beside the kernel were faster
    assert first.amount > 0
    assert len(first.samples_s) == len(first.clock_samples_hz) >= 5
    assert min(second.samples_s) > 0
    assert ceiling.flop_per_s == pytest.approx(ceiling.per_s)
    assert first.evidence is not None
    assert first.evidence.compilations == 0

    (measurement,) = run.measurements
    assert (measurement.kernel, measurement.n, measurement.variant) == ("stream.triad", 1000, "serial")
    assert measurement.work.flops == 2000
    assert measurement.repeats >= 1
    assert measurement.error is not None
    assert measurement.tolerance is not None
    assert measurement.error <= measurement.tolerance
    assert measurement.ceiling == ceiling.name
    assert len(measurement.samples_s) >= 3
    assert len(measurement.roof_samples) == len(measurement.samples_s) + 1
    assert min(measurement.samples_s) > 0

    assert [(failure.kind, failure.point) for failure in run.failures] == [
        ("skipped", "L9 load scalar ×1"),
        ("raised", "no.such n=1000 f64 ×1"),
        ("skipped", "stream.triad n=1000000000000 f64 ×1"),
    ]
    assert "memory limit leaves 32 MiB" in run.failures[-1].message
    grown = start
    for record in kept:
        grown = grown.with_record(record)
    assert replace(rejudged(grown), elapsed_s=run.elapsed_s, complete=True) == run
    assert measurement.evidence is not None
    assert measurement.evidence.data is not None
    assert measurement.evidence.data.array_bytes == 3 * 8000


def raising_worker(monkeypatch: pytest.MonkeyPatch, again: float) -> tuple[list[Record], Ceilings]:
    """Return the records of one kernel whose own ceiling of 100 Gflop/s gives `again` when it is measured again."""
    low = compute(100e9, isa="scalar")
    beside = Measurement(
        kernel="stream.triad",
        n=1000,
        dtype="f64",
        threads=1,
        work=Work(flops=10**9, read_bytes=8, write_bytes=8),
        level="L1",
        ceiling=low.name,
        repeats=1,
        samples_s=(0.00625,) * 6,
        roof_samples=(200e9,) * 7,
        vector_register="xmm",
    )
    monkeypatch.setattr(KernelProbe, "measure", lambda *_: beside)
    with Team((), 1) as team:
        request = Request(plan=PLAN, machine=read_machine(), first=5, spent_s=0.0, ceilings=Ceilings(compute=(low,)))
        worker = Worker(request, team)
        monkeypatch.setattr(worker.compute, "measure", lambda *_: compute(again, isa="scalar"))
        records = list(worker.measured(PLAN.points[5], 0.1, lambda: None))
        return records, worker.ceilings


def test_a_ceiling_that_blocks_beside_a_kernel_prove_too_low_is_measured_again_and_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (raised, measured), ceilings = raising_worker(monkeypatch, 201e9)
    assert isinstance(raised, ComputeMeasured)
    assert (raised.ceiling.raised_by, raised.ceiling.flop_per_s) == ("stream.triad", pytest.approx(201e9))
    assert "RAISED" in raised.ceiling.caveats
    assert ceilings.compute == (raised.ceiling,)
    assert isinstance(measured, KernelMeasured)
    assert measured.measurement.status == "ok"


def test_a_ceiling_that_is_no_higher_the_second_time_stays_and_what_lies_above_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (measured,), ceilings = raising_worker(monkeypatch, 99e9)
    assert ceilings.compute == (compute(100e9, isa="scalar"),)
    assert isinstance(measured, KernelMeasured)
    assert measured.measurement.status == "above_roof"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (WrongResult("x"), "wrong"),
        (CodegenError("x"), "codegen"),
        (MeasurementError("x"), "skipped"),
        (UsageError("x"), "raised"),
    ],
)
def test_an_error_is_archived_as_its_kind_of_failure(error: RooflineError, kind: str) -> None:
    assert kind_of(error) == kind


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills children with their parent")
def test_a_worker_dies_with_a_launcher_that_is_killed(tmp_path: Path) -> None:
    worker = (
        "import os, time; from roofline.measurement.worker import die_with_launcher; "
        "die_with_launcher(); print(os.getpid(), flush=True); time.sleep(600)"
    )
    launcher = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", sys.executable, "-c", worker],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert launcher.stdout is not None
    pid = int(launcher.stdout.readline())
    assert runs(pid)
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()
    assert still_running([pid]) == []
