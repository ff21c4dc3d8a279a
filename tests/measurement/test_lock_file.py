"""The lock lies in a folder that everybody may write: whatever somebody puts there, no run hangs or is deceived."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from roofline.errors import MachineBusy
from roofline.measurement.lock import FILE, Hold, machine_lock

pytest.importorskip("fcntl")
BESIDE = Path(FILE).with_suffix(".beside").name


def codes(hold: Hold) -> list[str]:
    return [caveat.code for caveat in hold.caveats()]


def link(path: Path) -> None:
    """Put a link to a file that must stay as it is."""
    victim = path.with_name("victim")
    victim.write_text("precious")
    path.symlink_to(victim)


OBSTACLES = [os.mkfifo, Path.mkdir, link, lambda path: path.symlink_to("/dev/zero")]
NAMES = ["pipe", "folder", "link", "device"]


@pytest.mark.parametrize("put", OBSTACLES, ids=NAMES)
def test_what_is_no_file_in_place_of_the_lock_locks_nothing_and_is_told_of(
    put: Callable[[Path], None], tmp_path: Path
) -> None:
    put(tmp_path / FILE)
    with machine_lock(tmp_path, "one") as hold:
        assert codes(hold) == ["NO_LOCK"]
    assert not (tmp_path / "victim").exists() or (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize("put", OBSTACLES, ids=NAMES)
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_is_no_file_where_runs_beside_sign_hangs_nobody_and_is_told_of(
    when: str, put: Callable[[Path], None], tmp_path: Path
) -> None:
    if when == "before":
        put(tmp_path / BESIDE)
    with machine_lock(tmp_path, "first") as first:
        if when == "meanwhile":
            put(tmp_path / BESIDE)
        with machine_lock(tmp_path, "second", concurrent=True) as second:
            assert codes(second) == ["BUSY"]
        stays = when == "meanwhile" or put is Path.mkdir  # anything but a folder is removed when a hold begins
        assert codes(first) == (["NO_LOCK"] if stays else ["BUSY"])
    assert not (tmp_path / "victim").exists() or (tmp_path / "victim").read_text() == "precious"


def test_a_hold_whose_file_was_removed_says_so_at_its_end(tmp_path: Path) -> None:
    with machine_lock(tmp_path, "one") as hold:
        (tmp_path / FILE).unlink()
        assert codes(hold) == ["NO_LOCK"]
        assert "was removed or replaced while this run held it" in hold.caveats()[0].message


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a file that was removed")
def test_a_run_whose_file_was_removed_still_keeps_others_off(tmp_path: Path) -> None:
    with machine_lock(tmp_path, "first"):
        (tmp_path / FILE).unlink()
        with pytest.raises(MachineBusy, match=f"process {os.getpid()}"), machine_lock(tmp_path, "second"):
            pass
        with machine_lock(tmp_path, "third", concurrent=True) as third:
            assert codes(third) == ["BUSY"]
    with machine_lock(tmp_path, "fourth") as fourth:
        assert codes(fourth) == []


def test_who_has_locked_another_file_meanwhile_learns_it_from_the_one_that_ends(tmp_path: Path) -> None:
    first = machine_lock(tmp_path, "first")
    first.__enter__()
    (tmp_path / FILE).rename(tmp_path / "elsewhere")  # nobody can tell that this was the lock
    with machine_lock(tmp_path, "second") as second:
        assert codes(second) == []
        first.__exit__(None, None, None)
        assert codes(second) == ["BUSY"]
        assert "first" in second.caveats()[0].message


def test_who_waits_locks_the_file_that_lies_there_in_the_end(tmp_path: Path) -> None:
    other = machine_lock(tmp_path, "other")
    other.__enter__()
    naps = count(1)

    def sleep(_: float) -> None:
        if next(naps) == 2:
            (tmp_path / FILE).unlink()
            other.__exit__(None, None, None)

    patient = machine_lock(tmp_path, "patient", wait_s=60.0, clock=lambda: 0.0, sleep=sleep)
    with patient, pytest.raises(MachineBusy, match="patient"), machine_lock(tmp_path, "next"):
        pass
