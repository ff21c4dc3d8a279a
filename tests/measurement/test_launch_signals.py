"""A signal ends the run within moments, keeps what was measured and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from fakes import Act, FakeWorkers, say, still_running

from roofline.measurement.guardian import left_by
from roofline.measurement.strays import adopting

LAUNCHER = """
import json, sys
import msgspec
from fakes import FakeWorkers, empty_run
from pathlib import Path
from roofline.measurement.launch import launch

workers = FakeWorkers(Path(sys.argv[1]), 3)
workers.acts[1] = json.loads(sys.argv[2])
run = launch(
    workers.plan,
    empty_run(),
    keep=lambda record: print(record.ceiling.op, flush=True),
    progress=lambda progress: None,
    command=workers.command,
)
print(json.dumps({"complete": run.complete, "reason": run.reason, "elapsed_s": run.elapsed_s,
                  "measured": [ceiling.op for ceiling in run.ceilings.compute],
                  "failures": len(run.failures)}), flush=True)
"""
ANSWERS_WITHIN_S = 60


def launcher_of(tmp_path: Path, acts: list[Act]) -> subprocess.Popen[str]:
    """Start a launcher whose worker does this at the second point, and wait until it has told of that one."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(tmp_path), json.dumps(acts)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        text=True,
    )
    assert launcher.stdout is not None
    for line in launcher.stdout:
        if line.strip() == "op1":
            break
    return launcher


STUBBORN: list[Act] = [["ignore", "SIGINT"], ["ignore", "SIGTERM"], ["fork", None]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_back_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    launcher = launcher_of(tmp_path, [*STUBBORN, say(1), ["sleep", 600]])
    try:
        launcher.send_signal(number)
        output, _ = launcher.communicate(timeout=ANSWERS_WITHIN_S)
    finally:
        launcher.kill()
        launcher.wait()
    assert launcher.returncode == 0
    answer = json.loads(output.splitlines()[-1])
    assert answer["complete"] is False
    assert answer["reason"] == number.name
    assert answer["measured"] == ["op0", "op1"]
    assert answer["failures"] == 0
    assert FakeWorkers(tmp_path, 3).left() == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes carry a mark")
def test_a_launcher_that_is_killed_leaves_nothing_that_its_workers_started_nor_its_guardian(
    tmp_path: Path,
) -> None:
    launcher = launcher_of(tmp_path, [*STUBBORN, ["fork", "with the pipe"], ["daemon", None], say(1), ["sleep", 600]])
    children = [child.pid for child in psutil.Process(launcher.pid).children(recursive=True)]
    launcher.kill()
    launcher.wait()
    assert len(children) >= 4  # worker, guardian, children; the daemon is adopted
    assert FakeWorkers(tmp_path, 3).left() == []
    assert still_running(children) == []


def test_the_guardian_ends_with_the_run() -> None:
    before = {child.pid for child in psutil.Process().children()}
    with adopting():
        (guardian,) = {child.pid for child in psutil.Process().children()} - before
    assert not psutil.pid_exists(guardian)


def test_the_guardian_kills_nobody_whose_worker_has_ended() -> None:
    told = ["begin a", "begin a 12", "begin b", "end a", "begin c 14", "nonsense", ""]
    assert left_by(f"{line}\n" for line in told) == {"b": 0, "c": 14}
