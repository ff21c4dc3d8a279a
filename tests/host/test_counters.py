"""What the system counts, on recorded files."""

from __future__ import annotations

from pathlib import Path

import pytest

from roofline.host.counters import CounterReader, Counters, between
from roofline.model.evidence import Evidence
from roofline.model.judging import Circumstances, verdict_of

FACTS = Circumstances(samples=1, threads=2)


def host(root: Path, stat: str, throttled: dict[str, str] | None = None) -> CounterReader:
    """Write a host with nested control groups of version 2 and return a reader of it."""
    proc = root / "proc"
    (proc / "self").mkdir(parents=True, exist_ok=True)
    (proc / "stat").write_text(stat)
    (proc / "loadavg").write_text("0.50 0.40 0.30 3/120 999\n")
    (proc / "self/cgroup").write_text("0::/outer/inner\n")
    (proc / "self/mountinfo").write_text("30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    for path, text in (throttled or {}).items():
        file = root / "sys/fs/cgroup" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return CounterReader(root)


def judged(before: Counters, after: Counters, interval_s: float = 1.0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the codes (invalid, degraded) that these readings give."""
    passed = between(before, after)
    evidence = Evidence(
        interval_s=interval_s,
        stolen_s=passed.stolen_s,
        others_s=passed.others_s,
        throttled_s=passed.throttled_s,
        suspended_s=passed.suspended_s,
    )
    verdict = verdict_of(evidence, FACTS)
    return verdict.invalid, verdict.degraded


QUIET = "cpu 1000 10 500 90000 5 1 1 20 0 0\ncpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 8\n"


@pytest.mark.twin("NOPMU")
def test_busy_and_stolen_time_are_read_in_seconds(tmp_path: Path) -> None:
    reader = host(tmp_path, QUIET)
    counters = reader.read()
    assert counters.busy_s == pytest.approx(15.12)
    assert counters.stolen_s == pytest.approx(0.2)
    assert (reader.cpus, reader.runnable()) == (2, 3)
    assert (counters.throttled_s, counters.own_s, counters.asleep_s) == (None, None, None)


@pytest.mark.canary("STEAL")
@pytest.mark.twin("STEAL")
@pytest.mark.parametrize(("stolen", "codes"), [(20, ()), (22, ()), (45, ("STEAL",))])
def test_time_that_the_hypervisor_took_is_told_of(tmp_path: Path, stolen: int, codes: tuple[str, ...]) -> None:
    before = host(tmp_path, QUIET).read()
    after = host(tmp_path, QUIET.replace("1 1 20 0 0", f"1 1 {stolen} 0 0")).read()
    assert judged(before, after) == ((), codes)


@pytest.mark.canary("BUSY")
@pytest.mark.twin("BUSY")
@pytest.mark.parametrize(("others_s", "codes"), [(0.0, ()), (0.05, ()), (0.5, ("BUSY",))])
def test_what_others_used_is_what_all_used_less_our_own(others_s: float, codes: tuple[str, ...]) -> None:
    before, after = Counters(busy_s=10.0, own_s=3.0), Counters(busy_s=12.0 + others_s, own_s=5.0)
    assert between(before, after).others_s == pytest.approx(others_s)
    assert judged(before, after) == ((), codes)


@pytest.mark.canary("THROTTLE")
@pytest.mark.parametrize("place", ["outer/cpu.stat", "outer/inner/cpu.stat", "cpu.stat", "outer/inner/cpu.stat.local"])
def test_a_quota_of_any_ancestor_that_stopped_the_process_is_seen(tmp_path: Path, place: str) -> None:
    before = host(tmp_path, QUIET, {place: "usage_usec 5\nnr_throttled 1\nthrottled_usec 1000\n"}).read()
    after = host(tmp_path, QUIET, {place: "usage_usec 9\nnr_throttled 2\nthrottled_usec 81000\n"}).read()
    assert between(before, after).throttled_s == pytest.approx(0.08)
    assert judged(before, after) == (("THROTTLE",), ())


@pytest.mark.twin("THROTTLE")
def test_a_quota_that_did_not_stop_the_process_accuses_nobody(tmp_path: Path) -> None:
    reader = host(tmp_path, QUIET, {"outer/cpu.stat": "throttled_usec 1000\n"})
    assert judged(reader.read(), reader.read()) == ((), ())


def test_version_1_counts_nanoseconds(tmp_path: Path) -> None:
    reader = host(tmp_path, QUIET, {"cpu.stat": "nr_periods 3\nthrottled_time 2000000000\n"})
    assert reader.read().throttled_s == pytest.approx(2.0)


@pytest.mark.canary("NOPMU")
def test_what_is_unknown_or_goes_back_stays_unknown(tmp_path: Path) -> None:
    nothing = CounterReader(tmp_path / "empty")
    assert nothing.read() == Counters()
    assert (nothing.cpus, nothing.runnable()) == (None, None)
    assert between(Counters(stolen_s=5.0), Counters(stolen_s=4.0)).stolen_s is None


@pytest.mark.parametrize("stat", ["", "cpu", "cpu x y z", "cpu 1 2 3", "cpu -1 2 3 4 5 6 7 8", "\0\0", "intr 5\r\n"])
def test_garbage_is_unknown(tmp_path: Path, stat: str) -> None:
    reader = host(tmp_path, stat, {"cpu.stat": "throttled_usec many\n"})
    assert reader.read() == Counters()


def test_the_running_system_can_be_read() -> None:
    reader = CounterReader()
    passed = between(reader.read(), reader.read())
    for seconds in (passed.stolen_s, passed.others_s, passed.throttled_s, passed.suspended_s):
        assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("path", "text", "kills"),
    [
        ("proc/vmstat", "nr_free 1\noom_kill 7\n", 7),
        ("sys/fs/cgroup/outer/memory.events", "low 0\noom 3\noom_kill 2\n", 2),
        ("sys/fs/cgroup/outer/inner/memory.events", "oom_kill 5\n", 5),
        ("sys/fs/cgroup/memory.events", "oom_kill many\n", 0),
        ("proc/vmstat", "", 0),
    ],
)
def test_processes_killed_for_want_of_memory_are_counted(tmp_path: Path, path: str, text: str, kills: int) -> None:
    reader = host(tmp_path, QUIET)
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    assert reader.oom_kills() == kills
