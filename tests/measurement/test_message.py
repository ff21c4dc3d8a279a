"""What launcher and worker tell each other survives the wire."""

from __future__ import annotations

import msgspec
import pytest
from ceilings_of import compute, memory
from sample_host import sample_levels, sample_machine
from sample_run import sample_run

from roofline.measurement.message import Began, Finished, Request, message_from, request_from, to_line
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints
from roofline.model.ceilings import Ceilings
from roofline.model.machine import Blas
from roofline.model.run import (
    Caveat,
    CaveatFound,
    ComputeMeasured,
    Failure,
    KernelMeasured,
    LevelsFound,
    LibrariesFound,
    MemoryMeasured,
    PointFailed,
    SweepPoint,
)

PLAN = Plan(
    mode="all",
    budget_s=46.0,
    threads=(1, 2),
    cpus=(0, 1),
    dtypes=("f64",),
    isas=("scalar", "avx2"),
    points=(
        SweepPoints(sizes=24),
        ComputePoint(isa="avx2", dtype="f64", op="fma", threads=1),
        MemoryPoint(level="L1", pattern="load", isa="avx2", threads=2),
        KernelPoint(kernel="gemm.naive", dtype="f64", threads=1, n=384),
        KernelPoint(kernel="stream.triad", dtype="f64", threads=2, level="L2"),
    ),
    memory_budget_bytes=2**30,
)
MESSAGES = (
    ComputeMeasured(ceiling=compute(1e11)),
    MemoryMeasured(ceiling=memory(1e10)),
    LevelsFound(levels=sample_levels(), sweep=(SweepPoint(size_bytes=4096, byte_per_s=1e11),)),
    KernelMeasured(measurement=sample_run().measurements[0]),
    PointFailed(failure=Failure(kind="wrong", point="gemm.naïve ×2", message='quotes " and\nnew lines')),
    CaveatFound(caveat=Caveat(code="THROTTLE", message="the clock fell")),
    LibrariesFound(llvm="20.1.8", target_cpu="znver4", blas=(Blas(name="openblas", threads=2),)),
    Began(index=3),
    Finished(),
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_message_comes_back_from_one_line(message: object) -> None:
    line = to_line(message)  # type: ignore[arg-type]
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert message_from(line) == message


def test_a_request_comes_back_with_all_kinds_of_points() -> None:
    request = Request(
        plan=PLAN,
        machine=sample_machine(),
        first=2,
        spent_s=1.5,
        ceilings=Ceilings(compute=(compute(1e11),)),
        levels=sample_levels(),
        compile_only=("sweep",),
    )
    line = to_line(request)
    assert line.count(b"\n") == 1
    assert request_from(line) == request


@pytest.mark.parametrize("line", [b"", b"\n", b"hello\n", b'{"record": "unknown"}\n', b'{"index": 1}\n', b"\xff\n"])
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        message_from(line)
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        request_from(line)
