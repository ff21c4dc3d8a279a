"""Whatever happens to a worker costs at most its point. Workers here are fake."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeWorkers, say
from launched import Launched
from msgspec.structs import replace

from roofline.errors import MeasurementError
from roofline.measurement.plan import KernelPoint

POINTS = 4


def test_what_was_said_before_a_crash_is_kept_even_in_half_a_line(workers: FakeWorkers) -> None:
    workers.acts[1] = [say(1), ["write", '{"record": "comp'], ["die", "SIGKILL"]]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op1", "op2", "op3"]
    assert launched.failed == [("crashed", "scalar op1 f64 ×1")]


def test_a_worker_that_hangs_is_killed_though_it_ignores_signals(workers: FakeWorkers) -> None:
    workers.acts[1] = [["ignore", "SIGTERM"], ["ignore", "SIGINT"], ["sleep", 600]]
    launched = Launched(workers, patience_s=0.5)
    assert launched.measured == ["op0", "op2", "op3"]
    assert launched.failed == [("hung", "scalar op1 f64 ×1")]
    assert launched.run.failures[0].message.startswith("the worker said nothing for ")
    assert workers.left() == []


def test_children_of_a_worker_do_not_outlive_it(workers: FakeWorkers) -> None:
    workers.acts[1] = [["fork", None], ["die", "SIGSEGV"]]
    workers.acts[2] = [["fork", None], say(2)]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op2", "op3"]
    assert len(workers.pids()) >= 4
    assert workers.left() == []


def test_a_kernel_that_hangs_when_it_is_compiled_is_waited_for_once(workers: FakeWorkers, tmp_path: Path) -> None:
    kernel = KernelPoint(kernel="k.hangs", dtype="f64", threads=1, n=100)
    points = workers.plan.points
    workers.plan = replace(workers.plan, points=(points[0], kernel, points[2], replace(kernel, n=200)))
    workers.acts["compiling"] = [["say", {"record": "began", "index": 1}], ["sleep", 600]]
    workers.acts[1] = workers.acts[3] = [["replace", [str(tmp_path / "tried"), "again"]], ["sleep", 600]]
    launched = Launched(workers, patience_s=0.5)
    assert launched.measured == ["op0", "op2"]
    assert launched.failed == [("hung", "k.hangs n=100 f64 ×1"), ("hung", "k.hangs n=200 f64 ×1")]
    assert "when its code was compiled and tried" in launched.run.failures[0].message
    assert not (tmp_path / "tried").exists()


@pytest.mark.parametrize("tells", [True, False], ids=["the system tells", "the system does not tell"])
def test_a_crash_is_noticed_at_once_though_a_child_keeps_the_pipe_open(
    workers: FakeWorkers, tells: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not tells:
        monkeypatch.setattr("roofline.measurement.process._watch_of", lambda pid: None)
    workers.acts[1] = [["fork", "with the pipe"], say(1), ["die", "SIGABRT"]]
    started_s = time.monotonic()
    launched = Launched(workers, patience_s=600.0)
    assert time.monotonic() - started_s < 60
    assert launched.measured == ["op0", "op1", "op2", "op3"]  # what it had said before is heard
    assert launched.failed == [("crashed", "scalar op1 f64 ×1")]
    assert "died of SIGABRT" in launched.run.failures[0].message
    assert workers.left() == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux lets a launcher adopt what is left")
@pytest.mark.parametrize("how", [None, "with nothing in its environment"])
def test_a_daemon_that_a_worker_has_started_does_not_outlive_it(workers: FakeWorkers, how: str | None) -> None:
    workers.acts[1] = [["daemon", how], say(1)]
    workers.acts[2] = [["daemon", how], ["die", "SIGSEGV"]]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op1", "op3"]
    assert len(workers.pids()) >= 4
    assert workers.left() == []


def test_a_child_that_the_launcher_has_had_before_is_no_stray(workers: FakeWorkers) -> None:
    workers.acts[1] = [["daemon", None], say(1)]
    with subprocess.Popen(["sleep", "600"]) as own:
        Launched(workers)
        assert own.poll() is None
        own.kill()


FORGED = [{"record": "finished"}, {"record": "restart"}, *({"record": "began", "index": k} for k in (10**8, -1, 0, 3))]


@pytest.mark.parametrize("said", [*FORGED, say(3)[1], {"record": "ready"}], ids=str)
def test_what_a_kernel_says_for_its_worker_costs_only_its_point(workers: FakeWorkers, said: dict[str, Any]) -> None:
    workers.acts[1] = [["say", said], ["sleep", 600]]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op2", "op3"]
    assert launched.failed == [("crashed", "scalar op1 f64 ×1")]
    assert "said what is not true" in launched.run.failures[0].message


@pytest.mark.parametrize("said", [say(1)[1], {"record": "finished"}], ids=["its own record", "the end"])
def test_what_a_kernel_writes_to_the_pipe_has_no_seal(workers: FakeWorkers, said: dict[str, Any]) -> None:
    workers.acts[1] = [["forge", said], ["sleep", 600]]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op2", "op3"]
    assert launched.failed == [("crashed", "scalar op1 f64 ×1")]
    assert "kernels write to no pipe" in launched.run.failures[0].message


@pytest.mark.parametrize("verb", ["say early", "forge early"])
def test_a_worker_that_asks_to_be_replaced_before_it_begins_is_not_replaced_for_ever(
    workers: FakeWorkers, verb: str
) -> None:
    workers.acts["early"] = [[verb.split()[0], {"record": "restart"}]]
    with pytest.raises(MeasurementError, match=r"said what is no.* before it began"):
        Launched(workers)
    assert len(workers.pids()) <= 1 + 2  # one that compiles, one with the cache, one without


def killed_for_memory(tmp_path: Path, before: int, after: int) -> tuple[list[list[object]], Path]:
    """Return the acts of a worker that is killed while the system counts so many, and the root of that system."""
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    vmstat = root / "proc/vmstat"
    vmstat.write_text(f"nr_free_pages 5\noom_kill {before}\n")
    return [["replace", [str(vmstat), f"oom_kill {after}\n"]], ["die", "SIGKILL"]], root


def test_a_worker_that_the_system_kills_for_want_of_memory_costs_its_point_and_says_so(
    workers: FakeWorkers, tmp_path: Path
) -> None:
    workers.acts[1], root = killed_for_memory(tmp_path, 3, 4)
    launched = Launched(workers, root=root)
    assert launched.failed == [("oom", "scalar op1 f64 ×1")]
    assert "for want of memory" in launched.run.failures[0].message
    assert launched.measured == ["op0", "op2", "op3"]


def test_a_worker_that_somebody_kills_has_crashed(workers: FakeWorkers, tmp_path: Path) -> None:
    workers.acts[1], root = killed_for_memory(tmp_path, 3, 3)
    assert [kind for kind, _ in Launched(workers, root=root).failed] == ["crashed"]


def test_a_worker_that_asks_to_be_replaced_costs_no_point(workers: FakeWorkers) -> None:
    workers.acts[1] = [say(1), ["say", {"record": "restart"}], ["sleep", 600]]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op1", "op2", "op3"]
    assert launched.failed == []
    assert workers.left() == []


def test_a_crash_is_told_with_the_place_in_the_users_file(workers: FakeWorkers) -> None:
    told = (
        'Fatal Python error: Segmentation fault\n\nThread 0x01 (most recent call first):\n  File "other.py", line 1\n'
        '\nCurrent thread 0x02 (most recent call first):\n  File "mine.py", line 7 in body\n  File "x.py", line 2\n'
        "\nExtension modules: numpy (total: 1)\n"
    )
    workers.acts[1] = [["tell", told], ["die", "SIGSEGV"]]
    (failure,) = Launched(workers).run.failures
    assert failure.message.startswith('the worker died of SIGSEGV: Segmentation fault | File "mine.py", line 7 in body')


def test_a_worker_that_floods_its_output_does_not_block(workers: FakeWorkers) -> None:
    workers.acts[1] = [["flood", 40], say(1)]
    launched = Launched(workers)
    assert launched.measured == ["op0", "op1", "op2", "op3"]
    assert launched.failed == []


def test_a_worker_that_somebody_kills_before_it_begins_is_started_again_with_its_cache(workers: FakeWorkers) -> None:
    workers.startup = [["once", ["die", "SIGKILL"]]]
    Launched(workers)
    (workers.folder / "once").unlink()
    launched = Launched(workers)
    assert launched.run.complete
    assert launched.run.caveats == ()
    assert launched.measured == ["op0", "op1", "op2", "op3"]


@pytest.mark.canary("CACHE-BAD")
def test_a_cache_that_kills_a_worker_before_it_begins_is_removed_and_told_of(
    workers: FakeWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    workers.startup = [["die with a cache", "SIGILL"]]
    launched = Launched(workers)
    assert launched.run.complete
    assert [caveat.code for caveat in launched.run.caveats] == ["CACHE-BAD"]
    assert launched.measured == ["op0", "op1", "op2", "op3"]


@pytest.mark.twin("CACHE-BAD")
def test_a_sound_cache_is_kept_and_not_told_of(workers: FakeWorkers) -> None:
    assert Launched(workers).run.caveats == Launched(workers).run.caveats == ()
