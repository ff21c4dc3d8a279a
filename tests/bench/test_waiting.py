"""What a run says of its conditions is true of its own time: read after `--wait`, and kept when it is resumed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from answer import Ask
from measured import Measured, only_file

from bench.cli.session import Session
from roofline.archive.store import load
from roofline.measurement.lock import lock_folder, machine_lock
from roofline.measurement.plan import Plan
from roofline.model.run import ComputeMeasured, Record, Run

Keep = Callable[[Record], None]
VARIABLE = "NUMBA_SLP_VECTORIZE"
"""One that environment and caveats tell of."""


@contextmanager
def busy_until_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold the machine until this thread waits for it; conditions change in that moment."""
    waiter = threading.get_ident()

    def waits() -> bool:
        frame: Any = sys._current_frames().get(waiter)
        while frame is not None and frame.f_code.co_name != "_held":
            frame = frame.f_back
        return frame is not None and frame.f_locals.get("other") is not None

    def release() -> None:
        deadline = time.monotonic() + 60
        while not waits() and time.monotonic() < deadline:
            time.sleep(0.01)
        monkeypatch.setenv(VARIABLE, "1")
        monkeypatch.setattr("bench.cli.measuring.memory_budget_bytes", lambda: 12345)
        held.close()

    with ExitStack() as held:
        held.enter_context(machine_lock(lock_folder(), "the other"))
        thread = threading.Thread(target=release)
        thread.start()
        try:
            yield
        finally:
            thread.join()


@pytest.mark.skipif("sys.platform == 'win32'", reason="there is no lock")
def test_conditions_are_those_after_the_wait(
    ask: Ask, tmp_path: Path, few: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = Measured(**few)
    with busy_until_somebody_waits(monkeypatch):
        answer = ask("ceilings", "--wait", "60", "--results", str(tmp_path), session=Session(launch=launch))
    assert answer.code == 0
    run = load(only_file(tmp_path, "*.json"))
    assert launch.plan is not None
    assert launch.plan.memory_budget_bytes == 12345
    assert run.environment.variables[VARIABLE] == "1"
    assert any(VARIABLE in caveat.message for caveat in run.caveats)
    assert not any("the other" in caveat.message for caveat in run.caveats)


def test_a_run_is_resumed_under_the_conditions_after_the_wait(
    ask: Ask, tmp_path: Path, few: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = Measured(ceilings=few["ceilings"], complete=False, reason="SIGINT")
    ask("ceilings", "--results", str(tmp_path), session=Session(launch=launch))
    with busy_until_somebody_waits(monkeypatch):
        answer = ask("resume", "--wait", "60", "--results", str(tmp_path), session=Session(launch=Measured(**few)))
    assert answer.code == 4
    assert "environment.variables" in answer.err


class Killed:
    """A launcher that keeps a ceiling and is then ended by something that no program survives."""

    def __init__(self, few: dict[str, Any]) -> None:
        self.few = few

    def __call__(self, plan: Plan, run: Run, *, keep: Keep, progress: Callable[[Any], None]) -> Run:
        keep(ComputeMeasured(ceiling=self.few["ceilings"].compute[0]))
        raise RuntimeError


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_who_ran_beside_a_run_is_known_when_it_has_been_resumed(
    how: str, ask: Ask, tmp_path: Path, few: dict[str, Any]
) -> None:
    launch = Killed(few) if how == "killed" else Measured(ceilings=few["ceilings"], complete=False, reason="SIGINT")
    with machine_lock(lock_folder(), "the other"):
        ask("ceilings", "--allow-concurrent", "--results", str(tmp_path), session=Session(launch=launch))
    answer = ask("resume", "--results", str(tmp_path), session=Session(launch=Measured()))
    assert answer.code == 0
    (finished,) = [run for run in map(load, tmp_path.glob("*/*.json")) if run.complete]
    beside = [caveat for caveat in finished.caveats if "the other" in caveat.message]
    assert [caveat.code for caveat in beside] == ["BUSY"]
