"""One pinned thread per used core. Each runs compiled code that releases the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")

_TASKS = Path("/proc/self/task")


def pin_to(cpu: int) -> bool:
    """Pin the calling thread to one logical CPU. Return False where the system cannot or will not."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


def pool_variables(threads: int, cpus: tuple[int, ...]) -> dict[str, str]:
    """Return the environment in which thread pools, of Numba and of libraries, get `threads` threads that stay put.

    Two rules: idle threads do not spin into the next sample, which is another's; and each keeps its own CPU, for a
    thread that wakes where another one runs halves a sample, or worse. Set them before the libraries are loaded.
    """
    count = str(threads)
    variables = {
        "NUMBA_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "GOMP_SPINCOUNT": "20000",
        "OPENBLAS_THREAD_TIMEOUT": "14",
    }
    if cpus:
        variables |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus[:threads])}
    return variables


def pin_library_threads(cpus: tuple[int, ...]) -> None:
    """Pin the threads that libraries have started at import, in the order they were made, to all CPUs but the first.

    The first belongs to the thread that calls the library. Left to the system, a thread that wakes may share its
    caller's CPU for a whole sample. Call it before any thread of our own starts; only Linux tells of such threads.
    """
    if len(cpus) < 2 or not _TASKS.is_dir():
        return
    others = sorted({int(task.name) for task in _TASKS.iterdir()} - {os.getpid()})
    for place, thread in enumerate(others):
        with suppress(OSError):
            os.sched_setaffinity(thread, {cpus[1 + place % (len(cpus) - 1)]})


class Team:
    """Threads that stay: rank r runs on `cpus[r]` (anywhere, when `cpus` is empty). Use it as a context manager."""

    def __init__(self, cpus: tuple[int, ...], threads: int) -> None:
        """Start `threads` threads."""
        self.threads = threads
        self.pinned = bool(cpus)
        self._counter = np.zeros(32, np.int64)  # alone on its cache lines
        self._executors = [ThreadPoolExecutor(1, thread_name_prefix=f"team-{rank}") for rank in range(threads)]
        if cpus:
            self.pinned = all(self.each(lambda rank: pin_to(cpus[rank])))

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

    @property
    def barrier_address(self) -> int:
        """Address of the counter that `codegen.intrinsics.wait_for_all` spins on."""
        return int(self._counter[16:].ctypes.data)

    def each(self, work: Callable[[int], Result], threads: int | None = None) -> list[Result]:
        """Run `work(rank)` on the first `threads` threads at once and return the results by rank."""
        self._counter[:] = 0
        count = self.threads if threads is None else threads
        futures = [self._executors[rank].submit(work, rank) for rank in range(count)]
        return [future.result() for future in futures]
