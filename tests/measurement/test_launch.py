"""Whatever a worker does, the run goes on and keeps what was measured. Workers here are fake."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from fakes import FakeWorkers, empty_run, measured, say
from launched import Launched
from msgspec.structs import replace

from roofline.errors import ArchiveError, MeasurementError
from roofline.measurement.interruption import Interruption, catch_signals
from roofline.measurement.launch import launch
from roofline.measurement.message import Request
from roofline.measurement.process import WorkerProcess
from roofline.model.run import PointFailed, Record

POINTS = 4


def test_a_plan_that_goes_well_comes_back_complete(workers: FakeWorkers) -> None:
    launched = Launched(workers)
    assert launched.run.complete
    assert launched.run.reason is None
    assert launched.run.elapsed_s is not None
    assert launched.measured == ["op0", "op1", "op2", "op3"]
    assert launched.failed == []
    assert launched.kept == [measured(number) for number in range(POINTS)]
    assert workers.left() == []


def test_progress_names_every_point_once_and_never_goes_back(workers: FakeWorkers) -> None:
    workers.acts[1] = [["die", "SIGKILL"]]
    workers.acts[2] = [["say", {"record": "began", "index": 2}], say(2), ["say", {"record": "began", "index": 2}]]
    progress = [step for step in Launched(workers).progress if "compiling" not in step.point]
    assert [step.point for step in progress] == [point.name for point in workers.plan.points]
    done = [step.done for step in progress]
    assert done == sorted(done)
    assert done[0] == 0.0
    assert done[-1] < 1.0
    assert all(0 <= step.remaining_s < 60 for step in progress)  # a loaded machine is slower than the plan


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (["die", "SIGSEGV"], "the worker died of SIGSEGV: it left no message"),
        (["die", "SIGKILL"], "the worker died of SIGKILL: it left no message"),
        (["exit", 3], "the worker exited with 3: one line | the last line of the worker"),
        (["exit", 0], "the worker exited with 0: one line | the last line of the worker"),
        (["write", "Segmentation fault\n"], "the worker said what is no message: "),
        (["write", '{"record": "nonsense"}\n'], "the worker said what is no message: "),
    ],
    ids=["segmentation-fault", "killed", "exit-3", "exit-0", "garbage", "unknown-record"],
)
@pytest.mark.parametrize("point", [0, 1, POINTS - 1])
def test_a_crash_costs_one_point_and_the_next_worker_goes_on_behind_it(
    workers: FakeWorkers, act: list[object], words: str, point: int
) -> None:
    workers.acts[point] = [act]
    launched = Launched(workers)
    assert launched.run.complete
    assert launched.measured == [f"op{number}" for number in range(POINTS) if number != point]
    assert launched.failed == [("crashed", f"scalar op{point} f64 ×1")]
    assert launched.run.failures[0].message.startswith(words)
    assert len(launched.kept) == POINTS
    assert isinstance(launched.kept[point], PointFailed)
    assert workers.left() == []


def test_crashes_at_every_point_leave_a_run_of_failures(workers: FakeWorkers) -> None:
    workers.acts = {number: [["die", "SIGABRT"]] for number in range(POINTS)}
    launched = Launched(workers)
    assert launched.run.complete
    assert launched.measured == []
    assert [kind for kind, _ in launched.failed] == ["crashed"] * POINTS


def test_a_record_longer_than_a_pipe_holds_arrives_whole(workers: FakeWorkers) -> None:
    failure = {"kind": "wrong", "point": "scalar op2 f64 ×1", "message": "é" * 300_000}
    workers.acts[2] = [["say", {"record": "failure", "failure": failure}]]
    launched = Launched(workers)
    assert launched.run.failures[0].message == "é" * 300_000
    assert launched.measured == ["op0", "op1", "op3"]


@pytest.mark.parametrize(
    ("act", "patience_s", "words"),
    [
        (["exit", 3], 60.0, r"the worker exited with 3 before it began: one line \| the last line of the worker"),
        (["die", "SIGSEGV"], 60.0, "the worker died of SIGSEGV before it began"),
        (["sleep", 600], 0.1, "the worker said nothing for .* before it began"),
    ],
    ids=["exits", "crashes", "hangs"],
)
def test_a_worker_that_never_begins_is_an_error_that_says_why(
    workers: FakeWorkers, act: list[object], patience_s: float, words: str
) -> None:
    workers.startup = [act]
    with pytest.raises(MeasurementError, match=words):
        Launched(workers, patience_s)
    assert workers.left() == []


def test_a_worker_that_does_not_read_its_request_does_not_hold_its_launcher_up(tmp_path: Path) -> None:
    workers = FakeWorkers(tmp_path, 1)
    workers.plan = replace(workers.plan, points=workers.plan.points * 5000)  # more than a pipe holds
    workers.startup = [["sleep", 5]]
    request = Request(plan=workers.plan, machine=empty_run().machine)
    with catch_signals() as interruption:
        worker = WorkerProcess(workers.command, request, os.environ, interruption)
        try:
            signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)  # type: ignore[operator, misc]
            with pytest.raises(Interruption, match="SIGTERM"):
                worker.hear(patience_s=4.0)
        finally:
            worker.stop()
    assert workers.pids() == [] or workers.left() == []


def test_a_command_that_is_not_there_is_the_systems_error(workers: FakeWorkers) -> None:
    keep: list[Record] = []
    with pytest.raises(FileNotFoundError):
        launch(workers.plan, empty_run(), keep=keep.append, progress=lambda _: None, command=("/no/such/program",))


def test_code_is_compiled_once_and_not_again_in_the_next_run(workers: FakeWorkers) -> None:
    first, second = Launched(workers), Launched(workers)
    compiling = [step.point for step in first.progress if "compiling" in step.point]
    assert compiling[0] == "compiling: 0 of 4 kernels and ceilings done"
    assert compiling[-1] == "compiling: 4 of 4 kernels and ceilings done"
    assert [step.point for step in second.progress if "compiling" in step.point] == []
    assert first.measured == second.measured


def test_only_workers_that_measure_bind_their_threads_for_those_that_compile_would_share_a_cpu(
    workers: FakeWorkers,
) -> None:
    workers.plan = replace(workers.plan, cpus=(0, 1), threads=(1, 2))
    Launched(workers)
    places = Path(workers.files["places"]).read_text().splitlines()
    assert sorted(set(places)) == ["compiles None", "measures {0},{1}"]


@pytest.mark.parametrize("files", [(), ("mine.py",)])
def test_a_users_code_lies_in_a_folder_that_ends_with_the_run_and_the_suites_does_not(
    files: tuple[str, ...], workers: FakeWorkers, tmp_path: Path
) -> None:
    workers.plan = replace(workers.plan, files=files)
    workers.startup = [["note variables", [str(tmp_path / "noted"), ["NUMBA_CACHE_DIR", "ROOFLINE_CODE_FOLDER"]]]]
    for _ in range(2):
        Launched(workers)
    noted = [json.loads(line) for line in (tmp_path / "noted").read_text().splitlines()]
    assert {Path(lasting).is_dir() for _, lasting in noted} == {True}
    assert len({lasting for _, lasting in noted}) == 1
    if files:
        scratch = {where for where, _ in noted}
        assert len(scratch) == 2  # one of each run, shared by its workers
        assert not any(Path(where).exists() for where in scratch)
    else:
        assert all(where == lasting for where, lasting in noted)


def test_a_cache_that_cannot_be_made_is_a_caveat_and_no_failure(
    workers: FakeWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    launched = Launched(workers)
    assert [caveat.code for caveat in launched.run.caveats] == ["NO_CODE_CACHE"]
    assert launched.measured == ["op0", "op1", "op2", "op3"]


def test_signal_handlers_are_put_back(workers: FakeWorkers) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    Launched(workers)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_record_that_cannot_be_true_costs_its_point_and_not_the_run(workers: FakeWorkers) -> None:
    kept: list[Record] = []

    def keep(record: Record) -> None:
        if record == measured(1):
            raise ArchiveError("clock_hz is -1 (expected at least 1)")
        kept.append(record)

    run = launch(workers.plan, empty_run(), keep=keep, progress=lambda _: None, command=workers.command)
    assert [ceiling.op for ceiling in run.ceilings.compute] == ["op0", "op2", "op3"]
    (failure,) = run.failures
    assert (failure.kind, failure.point) == ("invalid", workers.plan.points[1].name)
    assert "clock_hz is -1" in failure.message
    assert kept[1] == PointFailed(failure=failure)
    assert run.complete
