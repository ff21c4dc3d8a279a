"""The launcher: starts workers, collects what they find, and survives whatever happens to them.

No kernel ever runs in this process. A worker that crashes, hangs or is killed costs the point that it was at; the
next one goes on behind it. SIGINT and SIGTERM stop the worker at once and keep what was measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from roofline.errors import ArchiveError, MeasurementError
from roofline.host.counters import CounterReader
from roofline.measurement.ahead import compiled_ahead
from roofline.measurement.code_cache import CodeCache, code_cache, folders_of_code, scratch_for
from roofline.measurement.conversation import Conversation
from roofline.measurement.interruption import Interruption, catch_signals
from roofline.measurement.message import Began, Finished, Request, Restart
from roofline.measurement.plan import KernelPoint, Plan
from roofline.measurement.process import WORKER, Died, Silent, WorkerProcess
from roofline.measurement.progress import Progress
from roofline.measurement.strays import adopting
from roofline.measurement.team import pool_variables
from roofline.model.final import rejudged
from roofline.model.machine import Machine
from roofline.model.run import Caveat, CaveatFound, Failure, PointFailed, Record, Run
from roofline.units import memory_size

_PACE_FROM = 0.8
"""Of the weight that is left, from where on the pace so far tells how long the rest takes."""
PATIENCE_S = 60.0
"""A worker that says nothing for so long (or ten times its point's share of the budget) hangs."""


def launch(
    plan: Plan,
    run: Run,
    *,
    keep: Callable[[Record], None],
    progress: Callable[[Progress], None],
    command: Sequence[str] = WORKER,
    patience_s: float = PATIENCE_S,
    clock: Callable[[], float] = time.monotonic,
    root: Path = Path("/"),
) -> Run:
    """Measure `plan` and return `run` grown by all that was found.

    `keep` is given every record as it comes, `progress` every point as it begins. `command` starts a worker. A run
    that a signal ends comes back with `complete` False and the signal's name as its `reason`. Raises
    MeasurementError when a worker dies before it begins with anything.
    """
    started_s = clock()
    reader = CounterReader(root)
    with scratch_for(plan.files) as scratch, adopting(), catch_signals() as interruption:
        session = _Session(plan, run, keep, progress, command, patience_s, clock, interruption, reader, scratch)
        try:
            session.compile()
            session.measure()
            complete, reason = True, None
        except Interruption as stop:
            complete, reason = False, stop.signal_name
    elapsed_s = (run.elapsed_s or 0.0) + clock() - started_s  # a run that is resumed has taken some already
    return replace(session.found, elapsed_s=elapsed_s, complete=complete, reason=reason)


class _Session:
    """One launch: the run as it grows, and what it takes to start the next worker."""

    def __init__(
        self,
        plan: Plan,
        run: Run,
        keep: Callable[[Record], None],
        progress: Callable[[Progress], None],
        command: Sequence[str],
        patience_s: float,
        clock: Callable[[], float],
        interruption: int,
        reader: CounterReader,
        scratch: Path | None,
    ) -> None:
        self.plan = plan
        self.run = run
        self.keep = keep
        self.progress = progress
        self.command = command
        self.patience_s = patience_s
        self.clock = clock
        self.interruption = interruption
        self.at = "starting"
        self.killed_early = False
        self.reader = reader
        self.scratch = scratch
        self.oom_kills = reader.oom_kills()
        self.cache = self._cache(run.machine)
        self.hung: Mapping[str, Silent] = {}
        """What hung when it was compiled, by its code (`Point.code`): it is not waited for again."""

    def add(self, record: Record) -> None:
        """Keep one record and grow the run by it; one that cannot be true is kept as a failure instead."""
        try:
            self.keep(record)
        except ArchiveError as refused:
            failure = Failure(kind="invalid", point=self.at, message=f"a record was refused: {refused}")
            record = PointFailed(failure=failure)
            self.keep(record)
        self.run = self.run.with_record(record)

    @property
    def found(self) -> Run:
        """The run so far, judged as a whole."""
        return rejudged(self.run)

    def compile(self) -> None:
        """Compile what the cache lacks, before anything is timed, and remember which kernels hang already then."""
        if self.cache is not None:
            self.hung = compiled_ahead(
                self.plan, self.run.machine, self.cache, self._start, self.progress, self.patience_s, self.clock
            )

    def measure(self) -> None:
        """Start workers until every point has been tried."""
        started_s = self.clock()
        first = 0
        while first < len(self.plan.points):
            if (silent := self.hung.get(self.plan.points[first].code)) is not None:
                self._report(first, started_s)
                self.add(PointFailed(failure=self._failure(silent)))
                first += 1
                continue
            end = self._end(first)
            request = Request(
                plan=self.plan,
                machine=self.run.machine,
                first=first,
                end=end,
                spent_s=self.clock() - started_s,
                ceilings=self.run.ceilings,
                levels=self.run.levels,
            )
            worker = self._start(request)
            try:
                first = self._attend(worker, first, end, started_s)
            finally:
                worker.stop()

    def _end(self, first: int) -> int:
        """Return the index behind the last of the points from `first` on that one worker shall measure."""
        end = self.plan.launch_end(first)
        return next((k for k in range(first, end) if self.plan.points[k].code in self.hung), end)

    def _attend(self, worker: WorkerProcess, first: int, end: int, started_s: float) -> int:
        """Collect what one worker says and return the index of the next point to measure."""
        talk = Conversation(self.plan, first, end)
        reported: int | None = None
        patience_s = max(self.patience_s, 10 * self.plan.budget_s / max(1, len(self.plan.points)))
        while True:
            message = worker.hear(patience_s)
            if objection := talk.objection(message, self.run.ceilings):
                # A kernel may speak through the worker's pipe: what it says there must not cost other points.
                message = Died("said what is not true", f"{objection}; kernels write to no pipe")
            match message:
                case Began(index=index):
                    if index != reported:
                        self._report(index, started_s)
                    reported = index
                case Finished():
                    return end
                case Restart() if talk.at is not None:
                    return talk.at + 1
                case Silent() | Died():
                    if talk.at is None:
                        return self._begin_again(message, first)
                    self.add(PointFailed(failure=self._failure(message)))
                    return talk.at + 1
                case _:
                    self.add(message)

    def _failure(self, end: Silent | Died) -> Failure:
        """Return why the point that was being measured has no number."""
        killed = self.reader.oom_kills()
        text = f"the worker {end.what}: {end.detail}"
        if end.what == "died of SIGKILL" and killed > self.oom_kills:
            self.oom_kills = killed
            limit = self.run.environment.memory_limit_bytes
            within = "" if limit is None else f" within the limit of {memory_size(limit)}"
            text = (
                f"the system killed the worker for want of memory{within}; measure a smaller size, or raise the limit"
            )
            return Failure(kind="oom", point=self.at, message=text)
        if end.what == "died of SIGILL":
            text += "; was it compiled for another CPU? See NUMBA_CPU_NAME and NUMBA_CPU_FEATURES"
        return Failure(kind="hung" if isinstance(end, Silent) else "crashed", point=self.at, message=text)

    def _begin_again(self, end: Silent | Died, first: int) -> int:
        """Return `first`, to try once more without the code cache: a damaged one kills a worker before it begins.

        A worker that somebody killed says nothing about the cache: its first successor gets it too. Raises
        MeasurementError when all has been tried.
        """
        if end.what == "died of SIGKILL" and not self.killed_early:
            self.killed_early = True
            return first
        if self.cache is None:
            raise MeasurementError(f"the worker {end.what} before it began: {end.detail}")
        self.cache.remove()
        self.cache = None
        message = f"the worker {end.what} before it began ({end.detail}); the code cache was removed and not used"
        self.add(CaveatFound(caveat=Caveat(code="CACHE-BAD", message=message)))
        return first

    def _report(self, index: int, started_s: float) -> None:
        whole, left = self.plan.weight(), self.plan.weight(index)
        spent_s = self.clock() - started_s
        remaining_s = max(0.0, self.plan.budget_s - spent_s)
        if index:
            pace_s = spent_s * left / (whole - left)
            # Early on the pace is a guess; later it knows what starting and checking take beside the budget.
            remaining_s = max(remaining_s, pace_s) if left < _PACE_FROM * whole else remaining_s
        point = self.plan.points[index]
        self.at = point.name
        several = point.launch > 1 and not isinstance(point, KernelPoint)
        again = f" (launch {point.launch} of {self.plan.launches})" if several else ""
        self.progress(Progress(point=self.at + again, done=1 - left / whole, remaining_s=remaining_s))

    def _start(self, request: Request) -> WorkerProcess:
        return WorkerProcess(self.command, request, self._environment(request), self.interruption)

    def _environment(self, request: Request) -> dict[str, str]:
        """Return the worker's environment: this one's, with thread pools as large as the plan and our code cache."""
        # Workers that only compile run side by side: bound to the plan's CPUs, all would share the first.
        cpus = self.plan.cpus if request.compile_only is None else ()
        ours = pool_variables(max(self.plan.threads), cpus)
        ours |= folders_of_code(self.cache, self.scratch)
        kept = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        return {**kept, **ours}

    def _cache(self, machine: Machine) -> CodeCache | None:
        try:
            cache = code_cache(machine)
            cache.prune()
        except OSError as refused:
            message = f"compiled code cannot be kept ({refused}): every run compiles again; set XDG_CACHE_HOME"
            self.add(CaveatFound(caveat=Caveat(code="NO_CODE_CACHE", message=message)))
            return None
        return cache
