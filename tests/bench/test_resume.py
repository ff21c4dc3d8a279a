"""`resume`: what is left of an interrupted run, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer import Ask
from ceilings_of import launch
from msgspec.structs import replace

from bench.cli.resume import is_done
from bench.cli.session import Session
from roofline.archive.document import encode
from roofline.archive.journal import Journal
from roofline.archive.store import find, load
from roofline.kernels.registry import kernel_named
from roofline.measurement.plan import ComputePoint, KernelPoint, MemoryPoint, Plan, SweepPoints
from roofline.model.ceilings import ComputeCeiling
from roofline.model.measurement import Measurement
from roofline.model.run import (
    ComputeMeasured,
    Failure,
    KernelMeasured,
    Level,
    LevelsFound,
    PointFailed,
    Record,
    Run,
    SweepPoint,
)
from roofline.model.work import Work

Keep = Callable[[Record], None]
WORDS = ("run", "stream.triad", "--threads", "1", "--dtype", "f64")
LEVELS = LevelsFound(
    levels=(Level(name="L1"), Level(name="DRAM")), sweep=(SweepPoint(size_bytes=4096, byte_per_s=1.0),)
)


class Interrupted:
    """A launcher that measures the first points of a plan and is then interrupted, or goes on to the end."""

    def __init__(self, points: int | None) -> None:
        self.points = points
        self.plan: Plan | None = None

    def __call__(self, plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        self.plan = plan
        for point in plan.points[: self.points]:
            record = record_of(point, run)
            keep(record)
            run = run.with_record(record)
        return replace(run, complete=self.points is None, reason=None if self.points is None else "SIGINT")


def record_of(point: Any, run: Run) -> Record:
    if isinstance(point, SweepPoints):
        return LEVELS
    if isinstance(point, ComputePoint):
        ceiling = ComputeCeiling(
            isa=point.isa, dtype=point.dtype, op=point.op, threads=point.threads, flop_per_s=0.0, flop_per_cycle=0.0,
            clock_hz=0.0, chains=8, audited=True, launches=(launch(1e9),),
        )  # fmt: skip
        grown = run.ceilings.with_launch(ceiling).named(ceiling.name)
        assert isinstance(grown, ComputeCeiling)
        return ComputeMeasured(ceiling=grown)
    if isinstance(point, KernelPoint) and point.level == "L1":
        return KernelMeasured(
            measurement=Measurement(
                kernel=point.kernel,
                n=640,
                dtype=point.dtype,
                threads=point.threads,
                digest=kernel_named(point.kernel).digest,
                work=Work(flops=1280, read_bytes=10240, write_bytes=5120),
                level="L1",
                repeats=1,
                samples_s=(0.1,),
            )
        )
    return PointFailed(failure=Failure(kind="skipped", point=point.name, message="not here"))


def begun(ask: Ask, results: Path, points: int | None) -> Interrupted:
    launcher = Interrupted(points)
    ask(*WORDS, "--results", str(results), session=Session(launch=launcher))
    return launcher


def finished_in(results: Path) -> Run:
    """Return the only complete run: two ids of one second have no order."""
    (finished,) = [run for run in map(load, results.glob("*/*.json")) if run.complete]
    return finished


def test_only_what_is_left_is_measured_and_the_finished_run_has_everything(ask: Ask, tmp_path: Path) -> None:
    first = begun(ask, tmp_path, 3)
    assert first.plan is not None
    interrupted = load(find("last", tmp_path))
    rest = Interrupted(None)
    answer = ask("resume", "--results", str(tmp_path), session=Session(launch=rest))
    assert answer.code == 0
    assert rest.plan is not None
    refused = {failure.point for failure in interrupted.failures}  # once is enough, whatever the launch
    assert rest.plan.points == tuple(point for point in first.plan.points[3:] if point.name not in refused)
    assert 0 < rest.plan.budget_s < first.plan.budget_s
    finished = finished_in(tmp_path)
    assert finished.resumed_from == interrupted.id != finished.id
    assert [m.kernel for m in finished.measurements] == ["stream.triad"]
    whole = tmp_path / "whole"
    begun(ask, whole, None)
    uninterrupted = load(find("last", whole))
    assert finished.ceilings == uninterrupted.ceilings
    assert set(finished.failures) == set(uninterrupted.failures)  # each run has an order of its own


def test_a_journal_that_was_never_saved_is_resumed_and_then_consumed(ask: Ask, tmp_path: Path) -> None:
    begun(ask, tmp_path, 4)
    saved = find("last", tmp_path)
    run = load(saved)
    saved.unlink()
    with Journal(replace(run, reason=None), tmp_path) as journal:
        pass
    rest = Interrupted(None)
    assert ask("resume", "--results", str(tmp_path), session=Session(launch=rest)).code == 0
    assert rest.plan is not None
    assert not journal.path.exists()
    assert finished_in(tmp_path).resumed_from == run.id


def test_what_was_finished_is_not_resumed_again(ask: Ask, tmp_path: Path) -> None:
    begun(ask, tmp_path, 3)
    assert ask("resume", "--results", str(tmp_path), session=Session(launch=Interrupted(None))).code == 0
    answer = ask("resume", "--results", str(tmp_path))
    assert answer.code == 2
    assert "nothing to resume" in answer.err
    answer = ask("resume", finished_in(tmp_path).id, "--results", str(tmp_path))
    assert (answer.code, "is complete" in answer.err) == (2, True)


def test_without_any_run_there_is_nothing_to_resume(ask: Ask, tmp_path: Path) -> None:
    answer = ask("resume", "--results", str(tmp_path))
    assert (answer.code, "nothing to resume" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda tree: tree["machine"].update(cpu_model="Other"), "HOSTSWAP: run .* machine.cpu_model: Other and"),
        (lambda tree: tree["environment"].update(numba="0.1"), "HOSTSWAP: .*environment.numba: 0.1 and"),
        (lambda tree: tree.update(suite_digest="0" * 16), "another version of this suite .0{16}, this is"),
        (lambda tree: tree.pop("suite_digest"), "another version of this suite .unknown, this is"),
        (lambda tree: tree["plan"].update(points=["x"]), "planned by another version"),
        (lambda tree: tree["plan"].update(mode="evil"), "planned in a way that this version does not know"),
        (lambda tree: tree["plan"].update(threads="all"), "does not say how it was planned"),
        (lambda tree: tree.update(plan={}), "does not say how it was planned"),
    ],
    ids=["machine", "numba", "suite", "older suite", "points", "mode", "types", "nothing"],
)
def test_another_machine_version_or_plan_is_refused_with_the_reason(
    ask: Ask, tmp_path: Path, edit: Callable[[Any], None], words: str
) -> None:
    begun(ask, tmp_path, 3)
    path = find("last", tmp_path)
    tree = json.loads(path.read_bytes())
    edit(tree)
    path.write_text(json.dumps(tree))
    answer = ask("resume", str(path), "--results", str(tmp_path), session=Session(launch=Interrupted(None)))
    assert answer.code == 4
    assert pytest.importorskip("re").search(words, answer.err), answer.err


def test_other_code_of_a_measured_kernel_is_refused(ask: Ask, tmp_path: Path) -> None:
    launcher = begun(ask, tmp_path, None)
    assert launcher.plan is not None
    path = find("last", tmp_path)
    run = load(path)
    other = tuple(replace(m, digest="0123456789abcdef") for m in run.measurements)
    path.write_bytes(encode(replace(run, measurements=other, complete=False, reason="SIGINT")))
    answer = ask("resume", "--results", str(tmp_path), session=Session(launch=Interrupted(None)))
    assert answer.code == 4
    assert "measured other code of stream.triad" in answer.err


def test_points_that_crashed_are_tried_again_only_when_asked_for(ask: Ask, tmp_path: Path) -> None:
    begun(ask, tmp_path, None)
    path = find("last", tmp_path)
    run = load(path)
    name = "stream.triad in L1 f64 ×1"
    crashed = Failure(kind="crashed", point=name, message="died")
    path.write_bytes(encode(replace(run, measurements=(), failures=(*run.failures, crashed))))
    assert ask("resume", "last", "--results", str(tmp_path)).code == 2
    again = Interrupted(None)
    answer = ask("resume", "last", "--retry-failed", "--results", str(tmp_path), session=Session(launch=again))
    assert answer.code == 0
    assert again.plan is not None
    assert [point.name for point in again.plan.points] == [name]
    assert [load(p).measurements[0].kernel for p in tmp_path.glob("*/*.json") if p != path] == ["stream.triad"]


def test_a_ceiling_is_done_once_it_has_the_launch_of_its_point() -> None:
    point = ComputePoint(isa="avx2", dtype="f64", op="fma", threads=1, launch=2)
    run = Interrupted(1)(  # one launch of the ceiling
        Plan(mode="run", budget_s=1.0, threads=(1,), cpus=(), dtypes=("f64",), isas=("avx2",), points=(point,)),
        load(Path(__file__).parents[1] / "data" / "archives" / "schema-2.json"),
        keep=lambda _: None,
        progress=lambda _: None,
    )
    launches = len(run.ceilings.named(point.name).launches)  # type: ignore[union-attr]
    assert is_done(replace(point, launch=launches), run)
    assert not is_done(replace(point, launch=launches + 1), run)
    assert not is_done(MemoryPoint(level="L7", pattern="load", isa="avx2", threads=1), run)
