"""Signals, full disks and folders that go away: nothing that was measured is lost."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer import Ask
from measured import Measured, only_file
from msgspec.structs import replace
from sample_run import sample_run

from bench.cli.measuring import what_is_missing
from bench.cli.session import Session
from roofline.archive.document import decode
from roofline.archive.journal import Journal
from roofline.archive.store import load
from roofline.measurement.plan import Plan
from roofline.model.run import ComputeMeasured, Level, Record, Run, SweepPoint

Keep = Callable[[Record], None]


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


@pytest.mark.parametrize(("reason", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_run_is_saved(ask: Ask, tmp_path: Path, few: dict[str, Any], reason: str, code: int) -> None:
    session = Session(launch=Measured(**few, complete=False, reason=reason))
    answer = ask("run", "gemm", "--results", str(tmp_path), session=session)
    assert answer.code == code
    assert f"incomplete: {reason}" in answer.err
    assert load(only_file(tmp_path, "*.json")).reason == reason


def test_only_a_run_that_can_be_resumed_is_said_to_be(run: Run) -> None:
    assert "python -m bench resume" in what_is_missing(run)
    own = what_is_missing(replace(run, plan={**run.plan, "files": ["kernels.py"]}))
    assert "from the start" in own and "bench resume" not in own


@pytest.mark.parametrize("second", [(), (signal.SIGTERM,)], ids=["one", "two"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_between_measuring_and_saving_wait_for_the_file(
    ask: Ask, tmp_path: Path, few: dict[str, Any], number: signal.Signals, code: int, second: tuple[signal.Signals, ...]
) -> None:
    answer = ask("all", "--results", str(tmp_path), session=Session(launch=Late(few, number, *second)))
    assert answer.code == code
    assert f"error: interrupted by {number.name}\n" in answer.err
    assert load(only_file(tmp_path, "*.json")).complete
    assert {path.suffix for path in tmp_path.glob("*/*")} == {".json"}


def test_a_third_signal_between_measuring_and_saving_leaves_the_journal_and_says_how_to_go_on(
    ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    session = Session(launch=Late(few, signal.SIGINT, signal.SIGINT, signal.SIGTERM))
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


def test_an_interrupt_when_only_the_memory_levels_are_known_keeps_them(ask: Ask, tmp_path: Path) -> None:
    levels = (Level(name="L1", effective_bytes=49152), Level(name="DRAM"))
    sweep = (SweepPoint(size_bytes=4096, byte_per_s=5e11),)
    session = Session(launch=Measured(levels=levels, sweep=sweep, complete=False, reason="SIGINT"))
    answer = ask("ceilings", "--results", str(tmp_path), session=session)
    assert (answer.code, "bench resume" in answer.err) == (130, True)
    kept = load(only_file(tmp_path, "*.json"))
    assert (kept.levels, kept.sweep) == (levels, sweep)


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
