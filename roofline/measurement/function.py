"""A user's function, timed as Python calls it, with its own arguments, in the process that it lives in."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from inspect import isasyncgen, isawaitable, isgenerator
from typing import Any, TypeVar

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from roofline.errors import UsageError
from roofline.measurement.aftermath import fingerprint
from roofline.measurement.blocks import CHAIN_TURNS, chain_block, intervals_of
from roofline.measurement.data_evidence import data_evidence
from roofline.measurement.team import Team
from roofline.model.evidence import DataEvidence
from roofline.model.statistics import median

Result = TypeVar("Result")

_IDLE_STEP_S = 0.5e-3
_MOST_IDLE_S = 0.3
"""OpenBLAS's idle threads spin for 2^28 ticks of the clock, some 0.1 s, unless they are told otherwise."""
_IDLE_SHARE = 0.2
"""Of one CPU: a process that uses less of it is idle."""
_LEAST_TOLD_S = 0.5e-3
"""Shorter intervals say nothing of how many CPUs were used."""


class Function:
    """A function that has been called once, ready to be timed on the first thread of a team, or on all cores.

    One thread: it runs on the team's first, pinned thread, and libraries are held to one thread. More: it runs on the
    calling thread with as many threads of its libraries.
    """

    is_compiled = False

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any], threads: int
    ) -> None:
        """Call the function once, here: what it raises comes out, and what it compiles or starts is there.

        Raises UsageError for a call that computes nothing by itself: a coroutine, a generator.
        """
        self.threads = threads
        self.team: Team | None = None
        """Lend it the team before it is timed."""
        self._call = partial(function, *arguments, **named)
        self._cpus_used: list[float] = []
        arrays = list(_arrays([*arguments, *named.values()]))
        before = [fingerprint(array) for array in arrays]
        with threadpool_limits(limits=threads):
            result = self._call()
        if isgenerator(result) or isawaitable(result) or isasyncgen(result):
            if hasattr(result, "close"):
                result.close()
            raise UsageError(
                f"the call returns a {type(result).__name__}, which has computed nothing yet; give a function that "
                "runs it to its end"
            )
        changed = [fingerprint(array) != crc for array, crc in zip(arrays, before, strict=True)]
        self._inputs = [array for array, differs in zip(arrays, changed, strict=True) if not differs]
        self._outputs = [array for array, differs in zip(arrays, changed, strict=True) if differs]
        fresh = [one for one in _arrays([result]) if not any(np.may_share_memory(one, array) for array in arrays)]
        self._fresh_bytes = sum(array.nbytes for array in fresh)

    @property
    def array_bytes(self) -> int | None:
        """Size of the arrays that it was given, and of those that it returns; None where it was given none."""
        arrays = [*self._inputs, *self._outputs]
        return sum(array.nbytes for array in arrays) + self._fresh_bytes if arrays else None

    @property
    def cpus_used(self) -> float:
        """CPU time of the process over wall time, median over the intervals; 0 when none was long enough."""
        return median(self._cpus_used or [0.0])

    def take(self, repeats: int) -> tuple[float, float]:
        """Return (seconds of one clock interval around `repeats` calls, clock held right after in Hz)."""
        out = np.zeros((1, 3), np.int64)
        cpu_s = self._on_its_thread(lambda: self._block(repeats, out[0]))
        intervals = intervals_of([out], CHAIN_TURNS)
        if intervals.samples_s[0] >= _LEAST_TOLD_S:
            self._cpus_used.append(cpu_s / intervals.samples_s[0])
        return intervals.samples_s[0], intervals.clock_hz[0]

    def settle(self) -> None:
        """Wait until the process uses no CPU: idle threads of libraries spin on, on the cores of the roof."""
        if self.threads == 1:
            return
        deadline = time.perf_counter() + _MOST_IDLE_S
        while time.perf_counter() < deadline:
            started_s, cpu_s = time.perf_counter(), time.process_time()
            time.sleep(_IDLE_STEP_S)
            if time.process_time() - cpu_s < _IDLE_SHARE * (time.perf_counter() - started_s):
                break

    def data(self, nodes: Sequence[int] = ()) -> DataEvidence | None:
        """Look at the arrays that it was given; None when there are none. `nodes` are those of the team's CPUs."""
        if not (self._inputs or self._outputs):
            return None
        seen = data_evidence(self._inputs, self._outputs, thread_nodes=nodes[: self.threads])
        return seen

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Hold the thread pools that libraries have started to as many threads, seen from where it is called."""
        with ExitStack() as limited:
            earlier = self._on_its_thread(lambda: self._limit(limited))
            try:
                yield
            finally:
                self._on_its_thread(lambda: self._unlimit(limited, earlier))

    def _limit(self, limited: ExitStack) -> int | None:
        limited.enter_context(threadpool_limits(limits=self.threads))
        if not _has_numba_threads():
            return None
        earlier = numba.get_num_threads()
        numba.set_num_threads(min(self.threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        return int(earlier)

    def _unlimit(self, limited: ExitStack, earlier: int | None) -> None:
        limited.close()
        if earlier is not None:
            numba.set_num_threads(earlier)

    def _on_its_thread(self, work: Callable[[], Result]) -> Result:
        if self.threads > 1 or self.team is None:
            return work()
        return self.team.each(lambda _: work(), 1)[0]

    def _block(self, repeats: int, out: np.ndarray) -> float:
        """Time the calls as a kernel's block does, and return the CPU time of the process meanwhile.

        A tracer (coverage, a debugger) rests: it would be timed with every line.
        """
        call, tracer = self._call, sys.gettrace()
        sys.settrace(None)
        try:
            cpu_s = time.process_time()
            out[0] = time.perf_counter_ns()
            for _ in range(repeats):
                call()
            out[1] = time.perf_counter_ns()
            cpu_s = time.process_time() - cpu_s
            chain_block(CHAIN_TURNS, out)
        finally:
            sys.settrace(tracer)
        return cpu_s


def _has_numba_threads() -> bool:
    """Return whether Numba has started its threads. Starting them on a pinned thread would pin them all."""
    try:
        numba.threading_layer()  # type: ignore[attr-defined]
    except ValueError:
        return False
    return True


def _arrays(values: Iterable[Any]) -> Iterator[np.ndarray]:
    """Yield the arrays of numbers among values, and in lists and tuples of them, each once."""
    seen: set[int] = set()
    for value in values:
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, np.ndarray) and one.size and one.dtype.kind in "fiubc" and id(one) not in seen:
                seen.add(id(one))
                yield one
