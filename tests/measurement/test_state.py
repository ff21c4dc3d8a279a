"""What user code may change in the process, and that it is noticed."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest

from roofline.measurement.state import changes, has_subnormals, process_state
from roofline.measurement.team import Team
from roofline.model.evidence import Evidence
from roofline.model.judging import Circumstances, verdict_of


@pytest.mark.twin("STATE")
def test_a_process_that_nobody_touches_stays_the_same() -> None:
    with Team((), 2) as team:
        before = process_state(team)
        sum(range(1000))
        assert changes(before, process_state(team)) == ()
    assert verdict_of(Evidence(changed=()), Circumstances(samples=1, threads=1)).degraded == ()


@pytest.mark.canary("STATE")
def test_what_was_changed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Team((), 1) as team:
        before = process_state(team)
        monkeypatch.chdir(tmp_path)
        handler = signal.signal(signal.SIGALRM, signal.SIG_IGN)
        umask = os.umask(0o077)
        gc.disable()
        try:
            assert changes(before, process_state(team)) == ("folder", "signals", "collector", "umask")
        finally:
            gc.enable()
            os.umask(umask)
            signal.signal(signal.SIGALRM, handler)
    assert verdict_of(Evidence(changed=("folder",)), Circumstances(samples=1, threads=1)).degraded == ("STATE",)


@pytest.mark.canary("STATE")
def test_a_limit_of_the_process_that_was_lowered_is_named() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Team((), 1) as team:
        before = process_state(team)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[0] - 1, limits[1]))
        try:
            assert changes(before, process_state(team)) == ("limits",)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin threads")
def test_a_thread_of_the_team_that_was_pinned_elsewhere_is_seen() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU only: there is nowhere else")
    with Team((), 2) as team:
        before = process_state(team)
        team.each(lambda rank: os.sched_setaffinity(0, {cpus[rank]}))
        assert changes(before, process_state(team)) == ("affinity",)


def test_a_folder_that_is_gone_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with Team((), 1) as team:
        assert process_state(team).folder == ""
    monkeypatch.chdir(tmp_path)


def test_this_process_computes_with_subnormal_numbers() -> None:
    assert has_subnormals()
