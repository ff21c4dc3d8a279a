"""One run at a time: who holds the machine, who waits, who goes on beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from roofline.errors import MachineBusy
from roofline.measurement.lock import FILE, lock_folder, machine_lock

pytest.importorskip("fcntl")


def codes(hold: object) -> list[str]:
    return [caveat.code for caveat in hold.caveats()]  # type: ignore[attr-defined]


def test_a_second_run_is_refused_and_told_who_holds_the_machine(tmp_path: Path) -> None:
    with machine_lock(tmp_path, "roofline all") as hold:
        with pytest.raises(MachineBusy) as refused, machine_lock(tmp_path, "roofline run gemm"):
            pass
        assert codes(hold) == []
    message = str(refused.value)
    assert f"process {os.getpid()}, since 20" in message
    assert "roofline all" in message
    assert "--allow-concurrent" in message
    assert "--wait" in message


def test_a_lock_that_was_given_back_is_free(tmp_path: Path) -> None:
    for _ in range(2):
        with machine_lock(tmp_path, "one"):
            assert (tmp_path / FILE).stat().st_size > 0
    assert (tmp_path / FILE).stat().st_size == 0


def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), machine_lock(tmp_path, "one"):
        raise RuntimeError
    with machine_lock(tmp_path, "two") as hold:
        assert codes(hold) == []


@pytest.mark.canary("BUSY")
def test_a_run_beside_another_marks_both(tmp_path: Path) -> None:
    with machine_lock(tmp_path, "first") as first:
        with machine_lock(tmp_path, "second", concurrent=True) as second:
            assert codes(second) == ["BUSY"]
            assert "first" in second.caveats()[0].message
        assert codes(first) == ["BUSY"]
        assert "second" in first.caveats()[0].message
    with machine_lock(tmp_path, "third", concurrent=True) as third:  # alone: what was signed is over
        assert codes(third) == []


@pytest.mark.twin("BUSY")
def test_one_run_after_the_other_is_not_busy(tmp_path: Path) -> None:
    for command in ("first", "second"):
        with machine_lock(tmp_path, command, concurrent=True) as hold:
            pass
        assert codes(hold) == []


def test_waiting_ends_when_the_other_run_does(tmp_path: Path) -> None:
    other = machine_lock(tmp_path, "other")
    other.__enter__()
    naps = count(1)

    def sleep(_: float) -> None:
        if next(naps) == 3:
            other.__exit__(None, None, None)

    with machine_lock(tmp_path, "patient", wait_s=60.0, clock=lambda: 0.0, sleep=sleep) as hold:
        assert codes(hold) == []


def test_waiting_ends_when_the_time_is_up(tmp_path: Path) -> None:
    now = count(0.0, 1.0)
    with machine_lock(tmp_path, "other"):
        waiting = machine_lock(tmp_path, "patient", wait_s=5.0, clock=lambda: next(now), sleep=lambda _: None)
        with pytest.raises(MachineBusy, match=r"waited 5 s"), waiting:
            pass


def test_a_lock_whose_holder_was_killed_is_free(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from roofline.measurement.lock import machine_lock\n"
        "with machine_lock(Path(sys.argv[1]), 'doomed'):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env=environment
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(MachineBusy, match=f"process {child.pid}"), machine_lock(tmp_path, "next"):
            pass
        child.kill()
        child.wait()
    started = time.monotonic()
    with machine_lock(tmp_path, "next") as hold:
        assert codes(hold) == []
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    "said", [b"", b"{", b"[1]", b'{"pid": "x", "command": "\\u001b[2J", "since_utc": 3}', b"\xff" * 9000]
)
def test_whatever_stands_in_the_file_of_a_held_lock_is_no_danger(tmp_path: Path, said: bytes) -> None:
    with machine_lock(tmp_path, "other"):
        (tmp_path / FILE).write_bytes(said)
        with pytest.raises(MachineBusy) as refused, machine_lock(tmp_path, "next"):
            pass
    assert "another process" in str(refused.value)
    assert str(refused.value).isprintable()


def test_without_a_folder_to_lock_in_the_run_goes_on_and_says_so(tmp_path: Path) -> None:
    with machine_lock(tmp_path / "none", "one") as hold:
        assert codes(hold) == ["NO_LOCK"]


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / FILE).symlink_to(victim)
    with machine_lock(tmp_path, "one") as hold:
        assert codes(hold) == ["NO_LOCK"]
    assert victim.read_text() == "precious"


def test_the_lock_lies_where_all_users_of_the_machine_share_a_folder(tmp_path: Path) -> None:
    assert lock_folder({"ROOFLINE_LOCK_FOLDER": str(tmp_path)}) == tmp_path
    assert lock_folder({}).is_dir()
