"""One pinned thread per used core. Each runs compiled code that releases the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")


def pin_to(cpu: int) -> bool:
    """Pin the calling thread to one logical CPU. Return False where the system cannot or will not."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


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
