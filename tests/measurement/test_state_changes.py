"""Everything that a kernel may leave behind in the process, one by one, and what loading its file does."""

from __future__ import annotations

import ctypes
import hashlib
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.host import read_machine
from roofline.measurement.message import Began, Request, Restart
from roofline.measurement.plan import KernelPoint, Plan
from roofline.measurement.state import changes, process_state, rounding
from roofline.measurement.team import Team
from roofline.measurement.witness import Witness
from roofline.measurement.worker import Worker, loaded
from roofline.model.run import CaveatFound

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the calls are Linux's")
LIBC = ctypes.CDLL(None)
_PR_SET_THP_DISABLE = 41
X86 = os.uname().machine == "x86_64"
UP, DOWN, TOWARD_ZERO = (0x800, 0x400, 0xC00) if X86 else (0x400000, 0x800000, 0xC00000)
"""Rounding modes as fenv.h numbers them."""


def lowered_limit() -> Callable[[], Any]:
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (max(0, soft - 1) if soft >= 0 else 2**40, hard))
    return lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))


def left_thread() -> Callable[[], Any]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    return lambda: (stop.set(), thread.join())


def computing_thread() -> Callable[[], Any]:
    """Start a thread that computes in native code, as those of a library do."""
    thread = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 500_000))
    thread.start()
    time.sleep(0.02)  # it is in there now
    return thread.join


def left_variable() -> Callable[[], Any]:
    os.environ["NUMBA_OPT"] = "1"
    return lambda: os.environ.pop("NUMBA_OPT")


def done(change: Any, undo: Callable[[], Any]) -> Callable[[], Any]:
    """Return what undoes a change that was just made."""
    return undo


CHANGES: dict[str, tuple[Callable[[], Callable[[], Any]], tuple[str, ...]]] = {
    "timer": (
        lambda: done(signal.setitimer(signal.ITIMER_REAL, 1000), lambda: signal.setitimer(signal.ITIMER_REAL, 0)),
        ("timers",),
    ),
    "scheduler": (
        lambda: done(
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
            lambda: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)),
        ),
        ("scheduler",),
    ),
    "huge pages": (
        lambda: done(LIBC.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0), lambda: LIBC.prctl(_PR_SET_THP_DISABLE, 0, 0, 0, 0)),
        ("huge_pages",),
    ),
    "rounding": (lambda: done(LIBC.fesetround(UP), lambda: LIBC.fesetround(0)), ("rounding",)),
    "NumPy's errors": (
        lambda: (before := np.seterr(under="warn")) and (lambda: np.seterr(**before)),
        ("numpy_errors",),
    ),
    "signal mask": (
        lambda: done(
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1}),
            lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1}),
        ),
        ("blocked",),
    ),
    "switch interval": (
        lambda: done(sys.setswitchinterval(0.5), lambda: sys.setswitchinterval(0.005)),
        ("switching",),
    ),
    "profile": (lambda: done(sys.setprofile(lambda *_: None), lambda: sys.setprofile(None)), ("tracing",)),
    "variable": (left_variable, ("variables",)),
    "limit": (lowered_limit, ("limits",)),
    "thread": (left_thread, ("threads",)),
    "computing thread": (computing_thread, ("threads", "running")),
}


@pytest.mark.canary("STATE")
@pytest.mark.parametrize(("change", "names"), CHANGES.values(), ids=CHANGES)
def test_what_a_kernel_leaves_behind_is_seen(change: Callable[[], Callable[[], Any]], names: tuple[str, ...]) -> None:
    with Team((), 1) as team:
        before = process_state(team)
        undo = change()
        try:
            assert changes(before, process_state(team)) == names
        finally:
            undo()
        assert changes(before, process_state(team)) == ()


@pytest.mark.skipif(not hasattr(LIBC, "feenableexcept"), reason="this C library has no traps")
def test_traps_of_a_thread_of_the_team_are_seen() -> None:
    with Team((), 2) as team:
        before = process_state(team)
        team.each(lambda rank: rank and LIBC.feenableexcept(1))
        after = process_state(team)
        assert changes(before, after) == ("traps",)
        assert after.traps == (0, 0, 1)


@pytest.mark.parametrize(("mode", "name"), [(UP, "up"), (DOWN, "down"), (TOWARD_ZERO, "toward zero"), (0, "nearest")])
def test_rounding_is_told_by_arithmetic_on_each_thread(mode: int, name: str) -> None:
    with Team((), 2) as team:
        team.each(lambda rank: rank and LIBC.fesetround(mode))
        assert team.each(lambda _: rounding()) == ["nearest", name]


FILE = """
import numpy as np
from roofline.kernels.kernel import kernel
from roofline.model.work import Work

np.seterr(under="warn")


@kernel(family="state_test", work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size),
        arguments=lambda n, dtype, rng: (np.zeros(n, dtype), rng.random(n)), reference=lambda out, x: x + x)
def of_import(out, x):
    \"""2 x\"""
    for i in range(out.size):
        out[i] = x[i] + x[i]
"""


@pytest.mark.canary("STATE")
def test_what_loading_a_file_changes_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.kernels.registry.add_modules", lambda modules: None)
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "quiet.py").write_text(FILE.replace("np.seterr(under=", "dict(under="))
    with np.errstate():
        assert loaded([str(tmp_path / "quiet.py")]) == ()
        assert loaded([str(tmp_path / "mine.py")]) == ("numpy_errors",)


def test_what_loading_a_file_has_changed_marks_all_that_is_measured_and_starts_no_other_worker() -> None:
    point = KernelPoint(kernel="no.such", dtype="f64", threads=1, n=8)
    plan = Plan(
        mode="run", budget_s=0.1, threads=(1,), cpus=(), dtypes=("f64",), isas=("scalar",), points=(point, point)
    )
    said: list[object] = []
    with Team((), 1) as team:
        worker = Worker(Request(plan=plan, machine=read_machine()), team, imported=("rounding",))
        assert worker.run(said.append)
        with worker.stage.witness.watch() as note:
            pass
    assert note.evidence().changed == ("rounding",)
    assert note.evidence().with_changed(("folder", "rounding")).changed == ("rounding", "folder")
    assert [message for message in said if isinstance(message, Began)] == [Began(index=0), Began(index=1)]
    assert Restart() not in said
    assert not any(isinstance(message, CaveatFound) for message in said)


def test_a_process_that_loads_no_file_is_not_accused() -> None:
    with Team((), 1) as team:
        assert Witness(team).changed == loaded([]) == ()
