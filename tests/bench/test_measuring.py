from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answer import Ask
from msgspec.structs import replace
from sample_run import sample_run

from bench.cli.session import Session
from roofline.archive.document import decode
from roofline.archive.journal import Journal
from roofline.archive.store import find, load
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.measurement.plan import Plan
from roofline.model.ceilings import Ceilings
from roofline.model.run import ComputeMeasured, Failure, KernelMeasured, Record, Run

Keep = Callable[[Record], None]


class Measured:
    """A launcher that measures nothing: it grows the run by given fields, and remembers the plan."""

    def __init__(self, **fields: Any) -> None:
        self.fields = {"complete": True, **fields}
        self.plan: Plan | None = None

    def __call__(self, plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        self.plan = plan
        progress(SimpleNamespace(point="gemm.naive", done=0.5, remaining_s=3.0))
        return replace(run, **self.fields)


@pytest.fixture
def few(run: Run) -> dict[str, Any]:
    """What a small run measures: quick to draw."""
    gemm = next(m for m in run.measurements if m.kernel == "gemm.naive")
    return {"ceilings": Ceilings(compute=run.ceilings.compute), "measurements": (gemm,)}


def failed(kind: str) -> tuple[Failure, ...]:
    return (Failure(kind=kind, point="gemm.naive n=384 f64 ×1", message="as planned"),)


def only_file(results: Path, pattern: str) -> Path:
    (path,) = results.glob(f"*/{pattern}")
    return path


def test_all_saves_draws_and_prints(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    answer = ask("all", "--quick", "--results", str(tmp_path), session=Session(launch=Measured(**few)))
    assert answer.code == 0
    path = only_file(tmp_path, "*.json")
    assert answer.out.splitlines()[-3:] == [str(path.with_suffix(suffix)) for suffix in (".json", ".svg", ".png")]
    assert "gemm.naive" in answer.out
    assert list(tmp_path.glob("*/*.part")) == []


def test_ceilings_and_run_draw_nothing(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    for words in (["ceilings"], ["run", "gemm.naive"]):
        assert ask(*words, "--results", str(tmp_path), session=Session(launch=Measured(**few))).code == 0
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".json"}


def test_json_is_the_saved_document_and_alone_on_stdout(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    session = Session(launch=Measured(**few))
    answer = ask("run", "gemm.naive", "--json", "--results", str(tmp_path), session=session)
    assert decode(answer.out.encode(), "stdout") == load(only_file(tmp_path, "*.json"))
    assert "saved" in answer.err


def test_quiet_says_nothing_on_stderr(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    answer = ask("run", "gemm.naive", "-q", "--results", str(tmp_path), session=Session(launch=Measured(**few)))
    assert answer.err == ""
    assert "gemm.naive" in answer.out


def test_the_archive_tells_what_was_asked_for(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    launch = Measured(**few)
    words = ["run", "gemm.naive", "--dtype", "f32", "--threads", "1", "--label", "my change", "--budget", "7"]
    ask(*words, "--results", str(tmp_path), session=Session(launch=launch))
    run = load(find("my change", tmp_path))
    assert run.argv[: len(words)] == tuple(words)
    assert run.plan["kernels"] == ["gemm.naive"]
    assert run.plan["dtypes"] == ["f32"]
    assert launch.plan is not None
    assert (launch.plan.threads, launch.plan.dtypes, launch.plan.budget_s) == ((1,), ("f32",), 7.0)


@pytest.mark.parametrize(
    ("kind", "code"), [("wrong", 6), ("crashed", 6), ("hung", 6), ("raised", 6), ("codegen", 6), ("skipped", 0)]
)
def test_a_failed_kernel_is_exit_code_6_and_the_rest_is_saved(
    ask: Ask, tmp_path: Path, few: dict[str, Any], kind: str, code: int
) -> None:
    session = Session(launch=Measured(**few, failures=failed(kind)))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == code
    assert "as planned" in answer.out
    assert len(load(only_file(tmp_path, "*.json")).measurements) == 1


@pytest.mark.parametrize(("reason", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_run_is_saved(ask: Ask, tmp_path: Path, few: dict[str, Any], reason: str, code: int) -> None:
    session = Session(launch=Measured(**few, complete=False, reason=reason))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == code
    assert f"incomplete: {reason}" in answer.err
    assert load(only_file(tmp_path, "*.json")).reason == reason


def come(number: signal.Signals) -> None:
    """Do what the system does when the signal comes."""
    handler = signal.getsignal(number)
    assert callable(handler)
    handler(number, None)


class Late:
    """A launcher that keeps a ceiling and ends well; then, before the run is saved, the signals come."""

    def __init__(self, few: dict[str, Any], *numbers: signal.Signals) -> None:
        self.few = few
        self.numbers = numbers

    def __call__(self, plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        keep(ComputeMeasured(ceiling=self.few["ceilings"].compute[0]))
        for number in self.numbers:
            come(number)
        return replace(run, complete=True, **self.few)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_between_measuring_and_saving_waits_for_the_file(
    ask: Ask, tmp_path: Path, few: dict[str, Any], number: signal.Signals, code: int
) -> None:
    answer = ask("all", "--results", str(tmp_path), session=Session(launch=Late(few, number)))
    assert answer.code == code
    assert f"error: interrupted by {number.name}\n" in answer.err
    assert load(only_file(tmp_path, "*.json")).complete
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".json"}


def test_a_second_signal_between_measuring_and_saving_leaves_the_journal_and_says_how_to_go_on(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    session = Session(launch=Late(few, signal.SIGINT, signal.SIGTERM))
    answer = ask("ceilings", "--results", str(tmp_path), session=session)
    assert answer.code == 143
    journal = only_file(tmp_path, "*.part")
    assert f"interrupted by SIGTERM before the run was saved; what was measured is in {journal}" in answer.err
    assert "bench resume" in answer.err
    assert len(load(journal).ceilings.compute) == 1
    assert list(tmp_path.glob("*/*.json")) == []


def test_a_signal_while_a_run_is_planned_leaves_nothing_behind(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.cli.measuring.planned", lambda asked: come(signal.SIGTERM))
    answer = ask("ceilings", "--results", str(tmp_path), session=Session(launch=Measured()))
    assert (answer.code, answer.err) == (143, "error: interrupted by SIGTERM\n")
    assert list(tmp_path.glob("*")) == []


def test_an_interrupted_run_is_not_drawn_for_that_takes_longer_than_who_interrupts_waits(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    session = Session(launch=Measured(**few, complete=False, reason="SIGINT"))
    answer = ask("all", "--results", str(tmp_path), session=session)
    assert answer.code == 130
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".json"}
    assert "bench resume" in answer.err and "bench plot last" in answer.err


def test_an_interrupt_before_the_first_number_leaves_nothing_behind(ask: Ask, tmp_path: Path) -> None:
    session = Session(launch=Measured(complete=False, reason="SIGINT"))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == 130
    assert list(tmp_path.glob("*/*")) == []


def test_nothing_measured_is_exit_code_5_and_leaves_nothing_behind(ask: Ask, tmp_path: Path) -> None:
    answer = ask("run", "gemm", "--results", str(tmp_path), session=Session(launch=Measured()))
    assert answer.code == 5
    assert "nothing was measured" in answer.err
    assert list(tmp_path.glob("*/*")) == []


def test_a_run_of_failures_only_is_exit_code_5_and_kept_as_evidence(ask: Ask, tmp_path: Path) -> None:
    session = Session(launch=Measured(failures=failed("crashed")))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == 5
    assert "as planned" in answer.err
    assert load(only_file(tmp_path, "*.json")).failures == failed("crashed")


def test_named_kernels_that_were_all_skipped_are_exit_code_5_and_the_ceilings_are_kept(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    session = Session(launch=Measured(ceilings=few["ceilings"], failures=failed("skipped")))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == 5
    assert "none of the kernels asked for could be measured: as planned" in answer.err
    assert load(only_file(tmp_path, "*.json")).ceilings == few["ceilings"]


def test_a_budget_that_no_run_can_keep_is_remarked_on(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    for budget, told in (("0.5", True), ("500", False)):
        session = Session(launch=Measured(**few))
        answer = ask("run", "gemm", "--budget", budget, "--results", str(tmp_path), session=session)
        assert ("the run takes longer" in answer.err) == told


def test_what_was_kept_survives_a_launcher_that_dies(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    (gemm,) = few["measurements"]

    def dies(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        keep(KernelMeasured(measurement=gemm))
        raise RuntimeError("half way")

    answer = ask("run", "gemm", "--results", str(tmp_path), session=Session(launch=dies))
    assert answer.code == 70
    assert load(only_file(tmp_path, "*.part")).measurements == (gemm,)


def test_a_run_that_cannot_be_drawn_is_still_saved_and_shown(ask: Ask, run: Run, tmp_path: Path) -> None:
    copy = next(m for m in run.measurements if m.work.flops == 0)
    session = Session(launch=Measured(measurements=(copy,)))
    answer = ask("all", "--results", str(tmp_path), session=session)
    assert answer.code == 0
    assert "no picture" in answer.err
    assert json.loads(only_file(tmp_path, "*.json").read_text())["measurements"]


def test_a_run_on_a_machine_that_another_one_holds_exits_with_75_before_anything_is_measured(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    launch = Measured(**few)
    with machine_lock(lock_folder(), "roofline all"):
        refused = ask("ceilings", "--results", str(tmp_path), session=Session(launch=launch))
        assert refused.code == 75
        assert refused.err.startswith("error: another run measures on this machine: process ")
        assert launch.plan is None
        assert list(tmp_path.glob("*/*")) == []
        beside = ask("ceilings", "--allow-concurrent", "--results", str(tmp_path), session=Session(launch=launch))
    assert beside.code == 0
    assert "BUSY" in [caveat.code for caveat in load(find("last", tmp_path)).caveats]


def full_disk(after: int) -> Callable[..., Run]:
    """Return a launcher whose journal meets a full disk after so many records."""

    def launch(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        journal = keep.__closure__ and next(
            cell.cell_contents for cell in keep.__closure__ if isinstance(cell.cell_contents, Journal)
        )
        assert isinstance(journal, Journal)
        for number, ceiling in enumerate(sample_run().ceilings.compute[:6]):
            if number == after:
                journal._file.close()
                journal._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115
            keep(ComputeMeasured(ceiling=ceiling))
        raise AssertionError("the disk took everything")

    return launch


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_disk_that_fills_up_ends_the_run_and_loses_nothing_that_was_measured(ask: Ask, tmp_path: Path) -> None:
    answer = ask("ceilings", "--json", "--results", str(tmp_path), session=Session(launch=full_disk(3)))
    assert answer.code == 73
    told = decode(answer.out.encode(), "stdout")
    assert len(told.ceilings.compute) == 4  # three on the disk, and the one that it refused
    assert told.complete is False
    (journal,) = tmp_path.glob("*/*.part")
    assert len(load(journal).ceilings.compute) == 3
    assert "what the journal" in answer.err and "resume" in answer.err


def test_a_folder_that_goes_away_in_mid_run_costs_the_file_and_not_what_is_shown(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    def gone(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        shutil.rmtree(tmp_path / "results")
        (tmp_path / "results").write_text("a file now")
        return replace(run, complete=True, **few)

    answer = ask("ceilings", "--results", str(tmp_path / "results"), session=Session(launch=gone))
    assert answer.code == 73
    assert "Roof: compute" in answer.out
    assert "the journal is gone too" in answer.err


def test_a_folder_that_was_only_removed_in_mid_run_costs_nothing(ask: Ask, tmp_path: Path, few: dict[str, Any]) -> None:
    def removed(plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        shutil.rmtree(tmp_path / "results")
        return replace(run, complete=True, **few)

    answer = ask("ceilings", "--results", str(tmp_path / "results"), session=Session(launch=removed))
    assert answer.code == 0
    assert load(only_file(tmp_path / "results", "*.json")).ceilings == few["ceilings"]
