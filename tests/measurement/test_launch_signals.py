"""A signal ends the run within moments, keeps what was measured and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import FakeWorkers, say

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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_back_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    stubborn = [["ignore", "SIGINT"], ["ignore", "SIGTERM"], ["fork", None], say(1), ["sleep", 600]]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(tmp_path), json.dumps(stubborn)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert launcher.stdout is not None
    try:
        for line in launcher.stdout:
            if line.strip() == "op1":
                break
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
