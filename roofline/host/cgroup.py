"""Limits of the process's control groups, version 1 and 2, from its own group up to the root that it can see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from roofline.host.tree import Tree, fields, whole_number


def cpu_quota(tree: Tree) -> float | None:
    """Return the tightest quota of all ancestors in CPUs (quota / period); None when there is none.

    Every ancestor counts: a group's own file does not show what its parents impose.
    """
    quotas = []
    for folder in _folders(tree, "cpu"):
        words = (tree.text(f"{folder}/cpu.max") or "").split()
        quota_us, period_us = (whole_number(words[0]), whole_number(words[1])) if len(words) == 2 else (None, None)
        if quota_us is None:
            quota_us = tree.number(f"{folder}/cpu.cfs_quota_us")  # -1 means none
            period_us = tree.number(f"{folder}/cpu.cfs_period_us")
        if quota_us is not None and period_us is not None and quota_us > 0 and period_us > 0:
            quotas.append(quota_us / period_us)
    return min(quotas, default=None)


def throttle_files(tree: Tree) -> tuple[str, ...]:
    """Return the files that count how long a quota has kept the process stopped, of all ancestors.

    A group's `cpu.stat` counts only what its own quota did; `cpu.stat.local`, where there is one, what it suffered.
    """
    names = ("cpu.stat", "cpu.stat.local")
    paths = (f"{folder}/{name}" for folder in _folders(tree, "cpu") for name in names)
    return tuple(path for path in paths if throttled_s(tree, path) is not None)


def throttled_s(tree: Tree, path: str) -> float | None:
    """Return the seconds of throttling that one of these files counts; None when it counts none."""
    counted = fields((tree.text(path) or "").splitlines(), separator=" ")
    for name, per_s in (("throttled_usec", 1e6), ("throttled_time", 1e9)):
        number = whole_number(counted.get(name))
        if number is not None and number >= 0:
            return number / per_s
    return None


def oom_kills(tree: Tree) -> int:
    """Return how many processes were killed for want of memory, by the system or by a group of ours; 0 when unknown.

    `oom_kill` of a group counts its own processes; `memory.events` counts those of its descendants too.
    """
    counted = [fields((tree.text("proc/vmstat") or "").splitlines(), separator=" ")]
    for folder in _folders(tree, "memory"):
        for name in ("memory.events", "memory.oom_control"):
            counted.append(fields((tree.text(f"{folder}/{name}") or "").splitlines(), separator=" "))
    numbers = (whole_number(count.get("oom_kill")) for count in counted)
    return max((number for number in numbers if number is not None and number >= 0), default=0)


def memory_limit_bytes(tree: Tree) -> int | None:
    """Return the tightest memory limit of all ancestors; None when there is none."""
    return min((limit for _, limit in _memory_limits(tree)), default=None)


def memory_room_bytes(tree: Tree) -> int | None:
    """Return the least of (limit - use) over all ancestors; None when there is no limit.

    File cache that the kernel drops on demand (`inactive_file`) does not count as use, as in MemAvailable.
    """
    return min((max(0, limit - _use_bytes(tree, folder)) for folder, limit in _memory_limits(tree)), default=None)


def _memory_limits(tree: Tree) -> Iterator[tuple[str, int]]:
    for folder in _folders(tree, "memory"):
        limits = [  # `max`, and the 2^63 that version 1 writes for none, are refused as numbers
            tree.number(f"{folder}/memory.max"),
            tree.number(f"{folder}/memory.high"),  # above it the kernel stalls the process, which is no measurement
            tree.number(f"{folder}/memory.limit_in_bytes"),
            whole_number(_statistics(tree, folder).get("hierarchical_memory_limit")),  # knows of ancestors out of sight
        ]
        yield from ((folder, limit) for limit in limits if limit is not None and limit > 0)


def _use_bytes(tree: Tree, folder: str) -> int:
    used = tree.number(f"{folder}/memory.current")
    if used is None:
        used = tree.number(f"{folder}/memory.usage_in_bytes")
    statistics = _statistics(tree, folder)
    inactive = whole_number(statistics.get("total_inactive_file", statistics.get("inactive_file")))
    return max(0, (used or 0) - max(0, inactive or 0))


def _statistics(tree: Tree, folder: str) -> dict[str, str]:
    return fields((tree.text(f"{folder}/memory.stat") or "").splitlines(), separator=" ")


def _folders(tree: Tree, controller: str) -> Iterator[str]:
    """Yield the folders of the process's group and of its ancestors, innermost first, of both versions."""
    groups = _groups(tree)
    for mount_point, mount_root, controllers in _mounts(tree):
        key = "" if controllers is None else controller
        if key in groups and (controllers is None or controller in controllers):
            yield from _ancestry(mount_point, mount_root, groups[key])


def _groups(tree: Tree) -> dict[str, str]:
    """Return the process's group by controller; that of version 2 under the empty name."""
    groups = {}
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3:
            groups.update(dict.fromkeys(parts[1].split(","), parts[2]))
    return groups


def _mounts(tree: Tree) -> Iterator[tuple[str, str, frozenset[str] | None]]:
    """Yield (mount point, the group mounted there, controllers or None for version 2). See proc(5), mountinfo."""
    for line in (tree.text("proc/self/mountinfo") or "").splitlines():
        mount, _, file_system = line.partition(" - ")
        mount_fields, kind = mount.split(), file_system.split()
        if len(mount_fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        controllers = None if kind[0] == "cgroup2" else frozenset(kind[2].split(","))
        yield _unescaped(mount_fields[4]), _unescaped(mount_fields[3]), controllers


def _unescaped(path: str) -> str:
    """Return the path with the octal escapes of mountinfo (`\\040` for a blank) undone."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda octal: chr(int(octal[1], 8)), path)


def _ancestry(mount_point: str, mount_root: str, group: str) -> Iterator[str]:
    """Yield the group's folder and its parents up to the mount point, without the leading slash.

    A container sees its own group as the root of the mount. Where the group's path is not below what is mounted
    (it names a place outside the container), the mount point is the nearest ancestor that can be read; OpenJDK's
    container support decides alike.
    """
    top = PurePosixPath("/") / mount_point
    try:
        inside = PurePosixPath(group).relative_to(mount_root)
    except ValueError:
        inside = PurePosixPath()
    if ".." in inside.parts:
        inside = PurePosixPath()
    folder = top / inside
    yield from (str(ancestor).lstrip("/") for ancestor in (folder, *folder.parents) if ancestor.is_relative_to(top))
