"""Whatever stands in /proc and /sys, or does not, reading the host never raises and never guesses."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from roofline.host import host_caveats, memory_budget_bytes, read_environment, read_machine, usable_cpus
from roofline.host.tree import Tree, cpu_list, decimal_number, whole_number
from roofline.model.machine import Environment, Machine

Plant = Callable[..., Path]

GARBAGE = (
    b"",
    b"\0",
    b"\n\r\n",
    b"-1",
    b"nan",
    b"9" * 5000,
    b"0-8191",
    b"max max",
    b"0 0",
    bytes(range(256)),
    "\N{ARABIC-INDIC DIGIT ONE}\N{SUPERSCRIPT TWO}".encode(),
    b"a:b:c:d - cgroup2 e f\n" * 3,
    b"35 25 0:30 \\000 \\000 rw - cgroup2 cgroup2 rw\n",
    b"processor : 0\nprocessor : -7\nmodel name : \x1b[31m\n",
)


def read_all(root: Path) -> tuple[Machine, Environment]:
    """Read everything, and prove that it can be archived."""
    machine, environment = read_machine(root), read_environment(root, variables={})
    msgspec.json.encode((machine, environment, host_caveats(machine, environment), memory_budget_bytes(root)))
    assert machine.key
    assert all(isinstance(cpu, int) for cpu in usable_cpus(root))
    return machine, environment


def test_a_tree_of_garbage_yields_only_what_is_sound_in_it(hosts: Path) -> None:
    machine, environment = read_all(hosts / "garbage")
    assert machine.cpu_model == "unknown"
    assert (machine.arch, machine.isas) == ("x86_64", ("scalar", "sse2", "avx"))  # flags that survive a NUL and CRLF
    assert (machine.hardware_threads, machine.cores, machine.sockets) == (1, None, None)
    assert [(cache.name, cache.size_bytes, cache.line_bytes) for cache in machine.caches] == [("L1", 32768, None)]
    assert (environment.load_1min, environment.steal_share, environment.affinity) == (None, None, None)
    assert (environment.cgroup_cpus, environment.memory_limit_bytes) == (None, None)
    assert (machine.memory_bytes, environment.memory_available_bytes) == (None, None)
    assert environment.cpus_used == (0,)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("host", ["alder_lake_hybrid", "container_cgroup_v1", "container_cgroup_v2"])
def test_random_damage_never_raises(host: str, seed: int, plant: Plant) -> None:
    root, rng = plant({}, host), random.Random(seed)
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        if rng.random() < 0.3:
            file.unlink()
            if rng.random() < 0.7:
                file.write_bytes(rng.choice(GARBAGE))
            elif rng.random() < 0.5:
                file.mkdir()
    read_all(root)


@pytest.mark.parametrize("content", GARBAGE)
def test_the_same_garbage_everywhere_never_raises(content: bytes, plant: Plant) -> None:
    root = plant({}, "container_cgroup_v2")
    for file in [path for path in root.rglob("*") if path.is_file()]:
        file.write_bytes(content)
    read_all(root)


def test_a_root_that_is_not_there_is_empty(tmp_path: Path) -> None:
    machine, _ = read_all(tmp_path / "missing")
    assert machine.hardware_threads is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_unknown(plant: Plant) -> None:
    root = plant({"proc/meminfo": "MemTotal: 1 kB\n"})
    (root / "proc" / "meminfo").chmod(0)
    assert Tree(root).text("proc/meminfo") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in the file system")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "online")
    assert Tree(tmp_path).text("online") is None


def test_a_folder_in_place_of_a_file_and_the_reverse_are_unknown(plant: Plant) -> None:
    root = plant({"file": "1", "folder/file": "1"})
    assert Tree(root).text("folder") is None
    assert Tree(root).text("file/below") is None
    assert Tree(root).names("file") == ()
    assert Tree(root).text("with\0nul") is None


def test_only_whole_numbers_number_an_entry(plant: Plant) -> None:
    names = ("cpu10", "cpu2", "cpufreq", "cpu", "cpu²", "cpu-1")
    root = plant({f"cpus/{name}/online": "1" for name in names})
    assert Tree(root).numbered("cpus", "cpu") == (2, 10)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0\n", (0,)),
        ("0-3,8\r\n", (0, 1, 2, 3, 8)),
        ("8,0-1", (0, 1, 8)),
        ("", None),
        (None, None),
        ("3-1", None),
        ("-1", None),
        ("0,", None),
        ("a-b", None),
        ("0-99999999", None),
    ],
)
def test_a_cpu_list_is_read_or_refused(text: str | None, cpus: tuple[int, ...] | None) -> None:
    assert cpu_list(text) == cpus


def test_numbers_that_no_machine_has_are_refused() -> None:
    assert [whole_number(text) for text in ("12", "-1", "9" * 20, "1.5", "x", "", None)] == [12, -1] + [None] * 5
    assert [decimal_number(text) for text in ("1.5", "nan", "inf", "1e999", "x", None)] == [1.5] + [None] * 5
