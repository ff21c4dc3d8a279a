"""A run grows by records."""

from __future__ import annotations

import pytest
from ceilings_of import compute, memory
from msgspec.structs import replace
from sample_host import sample_environment, sample_machine

from roofline.model.ceilings import Ceilings
from roofline.model.machine import Blas
from roofline.model.measurement import Measurement, derive
from roofline.model.run import (
    SCHEMA,
    Caveat,
    CaveatFound,
    ComputeMeasured,
    Failure,
    KernelMeasured,
    Level,
    LevelsFound,
    LibrariesFound,
    MemoryMeasured,
    PointFailed,
    Run,
    SweepPoint,
)
from roofline.model.work import Work

START = Run(
    id="20261104-101500-a1b2",
    started_utc="2026-11-04T10:15:00Z",
    machine=sample_machine(),
    environment=sample_environment(),
)
POINT = Measurement(
    kernel="a.b",
    n=1,
    dtype="f64",
    threads=1,
    work=Work(flops=1, read_bytes=8, write_bytes=0),
    level="L1",
    repeats=1,
    samples_s=(1e-6,),
)
BLAS = Blas(name="openblas")
LOADED = replace(START.environment, llvm="9", target_cpu="z", blas=(BLAS,))
LEVEL, SWEPT = Level(name="L1"), SweepPoint(size_bytes=4096, byte_per_s=1e9)
FAILURE, CAVEAT = Failure(kind="hung", point="a.b", message="m"), Caveat(code="VM", message="m")


def test_a_run_starts_empty_incomplete_and_of_this_schema() -> None:
    assert (START.schema, START.complete) == (SCHEMA, False)
    assert not (START.ceilings.all or START.measurements or START.failures or START.caveats or START.levels)


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (ComputeMeasured(ceiling=compute(1e9)), {"ceilings": Ceilings(compute=(compute(1e9),))}),
        (MemoryMeasured(ceiling=memory(1e9)), {"ceilings": Ceilings(memory=(memory(1e9),))}),
        (LevelsFound(levels=(LEVEL,), sweep=(SWEPT,)), {"levels": (LEVEL,), "sweep": (SWEPT,)}),
        (KernelMeasured(measurement=POINT), {"measurements": (POINT,)}),
        (PointFailed(failure=FAILURE), {"failures": (FAILURE,)}),
        (CaveatFound(caveat=CAVEAT), {"caveats": (CAVEAT,)}),
        (LibrariesFound(llvm="9", target_cpu="z", blas=(BLAS,)), {"environment": LOADED}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_record_goes_where_it_belongs_and_nowhere_else(record, fields) -> None:  # type: ignore[no-untyped-def]
    before = replace(START)
    assert START.with_record(record) == replace(START, **fields)
    assert before == START


def test_records_are_kept_in_order() -> None:
    other = replace(POINT, kernel="c.d")
    run = START.with_record(KernelMeasured(measurement=POINT)).with_record(KernelMeasured(measurement=other))
    assert run.measurements == (POINT, other)


def test_later_levels_replace_earlier_ones() -> None:
    run = START.with_record(LevelsFound(levels=(LEVEL,), sweep=(SWEPT,)))
    assert run.with_record(LevelsFound(levels=(), sweep=())) == START


def test_a_run_derives_with_its_own_ceilings() -> None:
    run = START.with_record(ComputeMeasured(ceiling=compute(1e9)))
    assert run.derived(POINT) == derive(POINT, run.ceilings) != derive(POINT, Ceilings())
