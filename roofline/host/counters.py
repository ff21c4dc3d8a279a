"""What the system counts while samples are taken: time that others got, time that a quota took, time asleep."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from roofline.host.cgroup import oom_kills, throttle_files, throttled_s
from roofline.host.tree import Tree, whole_number

USER_HZ = 100
"""Ticks of /proc/stat in a second: the same on every Linux, whatever the kernel's own rate."""
_BUSY = (0, 1, 2, 5, 6)
"""Columns of the `cpu` line: user, nice, system, irq, softirq. Guest time is part of user time; see proc(5)."""
_STEAL = 7


@dataclass(frozen=True)
class Counters:
    """Readings that only grow, in seconds since some moment; unknown is None."""

    stolen_s: float | None = None
    """CPU time that the hypervisor gave to others, of all CPUs together."""
    busy_s: float | None = None
    """CPU time that all processes used."""
    own_s: float | None = None
    """CPU time that this process used."""
    throttled_s: float | None = None
    """Time that quotas of the process's control groups, ancestors too, kept it stopped."""
    asleep_s: float | None = None
    """Time that the system was suspended."""


@dataclass(frozen=True)
class Passed:
    """What two readings differ by."""

    stolen_s: float | None = None
    others_s: float | None = None
    """CPU time that other processes used."""
    throttled_s: float | None = None
    suspended_s: float | None = None


class CounterReader:
    """Reads the counters below a root; finds once which there are, so that a reading takes some 50 us."""

    def __init__(self, root: Path = Path("/")) -> None:
        """Look which counters there are."""
        self._tree = Tree(root)
        self._throttle_files = throttle_files(self._tree)
        lines = (self._tree.text("proc/stat") or "").splitlines()
        self.cpus = sum(bool(re.match(r"cpu\d", line)) for line in lines) or None
        """Logical CPUs that the system runs threads on; None where it does not tell."""

    def read(self) -> Counters:
        """Return what they say now. Never raises."""
        ticks = _ticks(self._tree)
        throttled = [throttled_s(self._tree, path) for path in self._throttle_files]
        known = [seconds for seconds in throttled if seconds is not None]
        live = self._tree.is_live
        return Counters(
            stolen_s=ticks[_STEAL] / USER_HZ if ticks else None,
            busy_s=sum(ticks[column] for column in _BUSY) / USER_HZ if ticks else None,
            own_s=sum(os.times()[:2]) if live else None,
            throttled_s=sum(known) if known else None,
            asleep_s=_asleep_s() if live else None,
        )

    def oom_kills(self) -> int:
        """Return how many processes were killed for want of memory so far."""
        return oom_kills(self._tree)

    def runnable(self) -> int | None:
        """Return how many threads of the whole system want to run, the reading one among them."""
        words = (self._tree.text("proc/loadavg") or "").split()
        number = whole_number(words[3].partition("/")[0]) if len(words) > 3 else None
        return number if number is not None and number >= 0 else None


def between(before: Counters, after: Counters) -> Passed:
    """Return what passed between two readings; what was unknown at either, or went back, is unknown."""
    busy_s, own_s = _grown(before.busy_s, after.busy_s), _grown(before.own_s, after.own_s)
    return Passed(
        stolen_s=_grown(before.stolen_s, after.stolen_s),
        others_s=None if busy_s is None or own_s is None else max(0.0, busy_s - own_s),
        throttled_s=_grown(before.throttled_s, after.throttled_s),
        suspended_s=_grown(before.asleep_s, after.asleep_s),
    )


def _grown(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or after < before else after - before


def _ticks(tree: Tree) -> tuple[int, ...] | None:
    """Return the first eight numbers of the `cpu` line of /proc/stat; None when there is no such line."""
    lines = (line.split() for line in (tree.text("proc/stat") or "").splitlines())
    words = next((line[1:9] for line in lines if line and line[0] == "cpu"), [])
    numbers = [number for word in words if (number := whole_number(word)) is not None and number >= 0]
    return tuple(numbers) if len(numbers) == 8 else None


def _asleep_s() -> float | None:
    """Return what CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC: only the former goes on while the system sleeps."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - before
