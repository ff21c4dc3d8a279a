"""A record belongs to the point at hand, is of a kind that this point gives, and comes once."""

from __future__ import annotations

import pytest
from ceilings_of import compute, memory
from msgspec.structs import replace

from roofline.measurement.conversation import Conversation
from roofline.measurement.message import Began, Finished, Planned, Refused, Restart, SideReady
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints
from roofline.model.ceilings import Ceilings
from roofline.model.measurement import Measurement
from roofline.model.run import (
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
)
from roofline.model.work import Work

ROOF, STREAM = compute(1e11, isa="avx2"), memory(1e10, isa="avx2")
SWEEP, COMPUTE = SweepPoints(), ComputePoint(isa="avx2", dtype=ROOF.dtype, op=ROOF.op, threads=ROOF.threads)
MEMORY = MemoryPoint(level=STREAM.level, pattern=STREAM.pattern, isa="avx2", threads=STREAM.threads)
SIZED = KernelPoint(kernel="k.a", dtype="f64", threads=1, n=100)
PLACED = KernelPoint(kernel="k.a", dtype="f64", threads=1, level="L2")
POINTS = (SWEEP, COMPUTE, MEMORY, SIZED, PLACED)
PLAN = Plan(
    mode="run", budget_s=1.0, threads=(1,), cpus=(), dtypes=("f64",), isas=("avx2",), points=POINTS
)  # fmt: skip
KNOWN = Ceilings(compute=(ROOF,), memory=(STREAM,))
LEVELS = LevelsFound(levels=(Level(name="L1"),), sweep=())
LIBRARIES = LibrariesFound(llvm="20", target_cpu="x", blas=())
CAVEAT = CaveatFound(caveat=Caveat(code="LLC", message="m"))
NUMBER = Measurement(
    kernel="k.a", n=100, dtype="f64", threads=1, work=Work(flops=1, read_bytes=8, write_bytes=8), level="L2", repeats=1,
    samples_s=(1.0,),
)  # fmt: skip
FOREIGN = [Refused(message="m"), SideReady(), Planned(plan=PLAN)]


def number(**fields: object) -> KernelMeasured:
    return KernelMeasured(measurement=replace(NUMBER, **fields))


def failed(point: str) -> PointFailed:
    return PointFailed(failure=Failure(kind="wrong", point=point, message="m"))


def talk_at(index: int) -> Conversation:
    """Return a conversation in which the worker has begun with one point."""
    talk = Conversation(PLAN, index, len(POINTS))
    assert talk.objection(Began(index=index), KNOWN) == ""
    return talk


RIGHT = {0: LEVELS, 1: ComputeMeasured(ceiling=ROOF), 2: MemoryMeasured(ceiling=STREAM), 3: number(), 4: number(n=640)}


def test_a_worker_that_tells_the_truth_is_believed() -> None:
    talk = Conversation(PLAN, 0, len(POINTS))
    said = [LIBRARIES, CAVEAT]
    for index in range(len(POINTS)):
        said += [Began(index=index), Began(index=index), RIGHT[index], *([CAVEAT] if index == 0 else [])]
    for message in [*said, Finished()]:
        assert talk.objection(message, KNOWN) == ""


@pytest.mark.parametrize("index", RIGHT)
def test_a_failure_of_the_point_is_its_result(index: int) -> None:
    talk = talk_at(index)
    assert talk.objection(failed("another"), KNOWN)
    assert talk.objection(failed(POINTS[index].name), KNOWN) == ""


@pytest.mark.parametrize("index", RIGHT)
def test_a_result_counts_once_and_nothing_of_another_kind_is_believed(index: int) -> None:
    wrong = [*(record for place, record in RIGHT.items() if place not in (index, 4)), LIBRARIES, Restart(), Finished()]
    for message in [*wrong, *FOREIGN, *([] if index == 0 else [CAVEAT])]:
        if not (index == 4 and message == RIGHT[3]):  # the same kernel may have this size in this level
            assert talk_at(index).objection(message, KNOWN)
    talk = talk_at(index)
    assert talk.objection(RIGHT[index], KNOWN) == ""
    assert "once more" in talk.objection(RIGHT[index], KNOWN)
    assert "once more" in talk.objection(failed(POINTS[index].name), KNOWN)


@pytest.mark.parametrize(
    "fields", [{"kernel": "k.b"}, {"n": 101}, {"dtype": "f32"}, {"threads": 2}], ids=lambda fields: next(iter(fields))
)
def test_a_number_of_another_point_is_not_believed(fields: dict[str, object]) -> None:
    assert talk_at(3).objection(number(**fields), KNOWN)


def test_a_number_in_another_level_is_not_believed() -> None:
    assert talk_at(4).objection(number(level="L1"), KNOWN)


@pytest.mark.parametrize(
    "message",
    [*RIGHT.values(), Restart(), Finished(), failed(SWEEP.name), *FOREIGN],
    ids=lambda said: type(said).__name__,
)
def test_before_it_begins_a_worker_has_nothing_to_tell_of_points(message: object) -> None:
    assert "before it began" in Conversation(PLAN, 0, 2).objection(message, KNOWN)


def test_libraries_are_told_of_once() -> None:
    talk = Conversation(PLAN, 0, 2)
    assert talk.objection(LIBRARIES, KNOWN) == ""
    assert talk.objection(LIBRARIES, KNOWN)


def test_points_are_begun_in_their_order_and_only_when_the_one_before_has_its_result() -> None:
    talk = Conversation(PLAN, 1, 3)
    assert talk.objection(Began(index=2), KNOWN)
    assert talk.objection(Began(index=1), KNOWN) == ""
    assert talk.objection(Began(index=2), KNOWN)
    assert talk.objection(RIGHT[1], KNOWN) == ""
    assert talk.objection(Finished(), KNOWN)
    assert talk.objection(Began(index=0), KNOWN)
    assert talk.objection(Began(index=2), KNOWN) == ""
    assert talk.objection(RIGHT[2], KNOWN) == ""
    assert talk.objection(Began(index=3), KNOWN)
    assert talk.objection(Finished(), KNOWN) == ""


def test_a_kernel_raises_a_ceiling_once_and_never_lowers_one() -> None:
    raised = replace(ROOF, flop_per_s=2e11, raised_by="k.a")
    for forged in (
        replace(raised, flop_per_s=1.0),
        replace(raised, raised_by="k.b"),
        replace(raised, raised_by=""),
        replace(raised, op="unknown"),
        replace(raised, threads=2),
    ):
        assert talk_at(3).objection(ComputeMeasured(ceiling=forged), KNOWN)
    talk = talk_at(3)
    assert talk.objection(ComputeMeasured(ceiling=raised), KNOWN) == ""
    assert talk.objection(ComputeMeasured(ceiling=raised), KNOWN)
    assert talk.objection(number(), KNOWN) == ""
