"""What happens to a side costs its point, and a signal costs nothing that was measured."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sides import SHORT, Sides, found

from roofline.model.trial import Trial

A, B = (f"{kernel} n=100 f64 ×1" for kernel in "ab")
SAME, SLOWER = (f"control: {kind} code (control n=100 f64 ×1)" for kind in ("same", "slower"))
STOPS_WITHIN_S = 2.0


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """Two kernels on both sides."""
    return Sides(tmp_path, "a", "b")


def only_failure(trial: Trial) -> tuple[str, str, str, str]:
    (failure,) = trial.failures
    return failure.point, failure.side, failure.kind, failure.message


def others_are_whole(trial: Trial) -> bool:
    """Return whether everything but the first kernel was timed as often as planned."""
    return trial.complete and {len(trial.accepted(name, 1)) for name in (B, SAME, SLOWER)} == {SHORT.screen_pairs}


@pytest.mark.parametrize("moment", ["rehearse", "ready", "time", "time twice"])
@pytest.mark.parametrize(
    ("side", "act", "words"),
    [
        ("base", ["die", "SIGSEGV"], "died of SIGSEGV"),
        ("head", ["exit", 3], "exited with 3: the last line of the side"),
    ],
)
def test_a_side_that_dies_costs_its_point_and_is_named(
    side: str, act: list[Any], words: str, moment: str, sides: Sides
) -> None:
    sides.acts[f"{side} {moment} a"] = act
    trial = sides.duel().fought()
    point, at, how, message = only_failure(trial)
    assert (point, at, how) == (A, side, "crashed")
    assert words in message
    assert others_are_whole(trial)
    assert len(trial.accepted(A, 1)) == (moment == "time twice")
    assert sides.left() == []


@pytest.mark.parametrize("moment", ["rehearse", "ready", "time"])
def test_a_side_that_hangs_is_given_up(moment: str, sides: Sides) -> None:
    sides.acts[f"head {moment} a"] = ["sleep", 600]
    trial = sides.duel(patience_s=0.25).fought()
    point, at, how, message = only_failure(trial)
    assert (point, at, how) == (A, "head", "hung")
    assert "said nothing for" in message
    assert others_are_whole(trial)
    assert sides.left() == []


def test_what_a_side_says_of_itself_is_kept(sides: Sides) -> None:
    failure = {"kind": "wrong", "point": A, "message": "largest error 0.3, expected at most 1e-12"}
    sides.kernels["a"] = found("a", head={"failure": failure})
    assert only_failure(sides.duel().fought()) == (A, "head", "wrong", failure["message"])


TIMED = {"record": "timed", "timed": {"samples_s": [1.0], "roof_samples": [], "clock_samples_hz": []}}
NONSENSE: list[Any] = [
    ["write", "no message\n"],
    ["write", '{"record": "timed"}\n'],
    ["write", '{"record": "timed", "timed": {"samples_s": [NaN]}}\n'],
    ["say", {"record": "timed", "timed": {"samples_s": []}}],
    ["say", {"record": "timed", "timed": {"samples_s": [0.0]}}],
    ["say", {"record": "timed", "timed": {"samples_s": [-1.0]}}],
    ["say", {"record": "timed", "timed": {"samples_s": [1.0], "roof_samples": [0.0, 1e9]}}],
    ["say", {"record": "timed", "timed": {"samples_s": [1.0]}, "asked": "1 30 3"}],
    ["forge", {"record": "timed", "timed": {"samples_s": [1.0]}}],
    ["say", {"record": "finished"}],
    ["say", {"record": "rehearsed", "rehearsed": {"kernel": "a", "n": 5}}],
]


@pytest.mark.parametrize("act", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_instead_of_a_time_costs_the_point(act: list[Any], sides: Sides) -> None:
    sides.acts["base time a"] = act
    trial = sides.duel().fought()
    point, at, how, message = only_failure(trial)
    assert (point, at, how) == (A, "base", "crashed")
    assert "said what is no" in message
    assert others_are_whole(trial)


@pytest.mark.parametrize(
    "act",
    [
        ["say", TIMED],
        ["say", {"record": "began", "index": 99}],
        ["say", {"record": "began", "index": -1}],
        ["say", {"record": "ready"}],
        ["forge", {"record": "ready"}],
        ["write", "x" * 5000 + "\n"],
    ],
    ids=["a time", "a place beyond", "a place before", "ready too early", "no seal", "no message"],
)
def test_nonsense_while_getting_ready_costs_the_point(act: list[Any], sides: Sides) -> None:
    sides.acts["head ready a"] = act
    trial = sides.duel().fought()
    assert only_failure(trial)[:3] == (A, "head", "crashed")
    assert others_are_whole(trial)


@pytest.mark.parametrize(
    "act",
    [
        ["say", {"record": "rehearsed", "rehearsed": {"kernel": "b", "n": 100, "repeats": 1}}],
        ["say", {"record": "rehearsed", "rehearsed": {"kernel": "a", "n": 7, "repeats": 1}}],
        ["forge", {"record": "rehearsed", "rehearsed": {"kernel": "a", "n": 100, "repeats": 1}}],
        ["say", {"record": "ready"}],
        ["say", TIMED],
        ["write", "\0\n"],
    ],
    ids=["another kernel", "another size", "no seal", "ready", "a time", "no message"],
)
def test_nonsense_while_rehearsing_costs_the_point(act: list[Any], sides: Sides) -> None:
    sides.acts["base rehearse a"] = act
    trial = sides.duel().fought()
    assert only_failure(trial)[:3] == (A, "base", "crashed")
    assert others_are_whole(trial)


def test_a_trial_whose_last_kernel_has_failed_does_not_go_on_with_controls(tmp_path: Path) -> None:
    sides = Sides(tmp_path, "a")
    sides.acts["head time a"] = ["exit", 1]
    trial = sides.duel(choose=lambda grown: ()).fought()
    assert only_failure(trial)[:3] == (A, "head", "crashed")
    assert {pair.launch for pair in trial.pairs} <= {1}
    assert trial.complete


def test_a_kernel_and_the_controls_may_all_fail(tmp_path: Path) -> None:
    sides = Sides(tmp_path, "a")
    sides.acts.update({"head time a": ["exit", 1], "base time control": ["exit", 1]})
    trial = sides.duel().fought()
    assert A in {failure.point for failure in trial.failures}
    assert trial.pairs == ()
    assert sides.left() == []


LAUNCHER = """
import json, sys
from pathlib import Path
from sides import Sides

sides = Sides(Path(sys.argv[1]), "a", "b")
sides.acts = json.loads(sys.argv[2])
trial = sides.duel(keep=lambda grown: print("kept", flush=True)).fought()
print(json.dumps([trial.complete, trial.reason, len(trial.pairs), len(trial.failures)]), flush=True)
"""


@pytest.mark.parametrize(
    ("moment", "after", "pairs"),
    [("time twice", "kept", 4), ("rehearse", "", 0)],
    ids=["while timing", "while rehearsing"],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_back_the_pairs_at_once_and_leaves_no_process(
    number: signal.Signals, moment: str, after: str, pairs: int, tmp_path: Path
) -> None:
    acts = {f"head {moment} {kernel}": ["sleep", 600] for kernel in ("a", "b")}
    acts["base rehearse a"] = acts["base ready a"] = ["fork", None]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(tmp_path), json.dumps(acts)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert launcher.stdout is not None
    try:
        if after:
            assert launcher.stdout.readline().strip() == after
        else:
            while not (tmp_path / "log").exists() or len((tmp_path / "log").read_text().splitlines()) < 2:
                time.sleep(0.01)
        time.sleep(0.1)
        launcher.send_signal(number)
        sent_s = time.monotonic()
        output, _ = launcher.communicate(timeout=60)
        took_s = time.monotonic() - sent_s
    finally:
        launcher.kill()
        launcher.wait()
    complete, reason, taken, failures = json.loads(output.splitlines()[-1])
    assert (complete, reason, failures) == (False, number.name, 0)
    assert pairs <= taken < pairs + 4
    assert took_s < STOPS_WITHIN_S
    assert Sides(tmp_path).left() == []
