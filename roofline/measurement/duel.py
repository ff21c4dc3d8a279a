"""The launcher of a trial: pairs of fresh processes, one of each side, that time the same points in turns.

Both processes of a pair are made ready side by side, so that their turns lie only moments apart: what the machine does
meanwhile, it does to both. Which of them times a point first is a coin's choice, anew for every point of every pair.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from msgspec.structs import replace

from roofline.errors import NotComparable
from roofline.measurement.agreement import Agreed, agreed, disagreement
from roofline.measurement.code_cache import share_code
from roofline.measurement.interruption import Interruption, catch_signals
from roofline.measurement.launch import PATIENCE_S
from roofline.measurement.message import Began, KernelTimed, Rehearsed, SideReady, SideRequest
from roofline.measurement.plan import KernelPoint, Plan
from roofline.measurement.process import Died, Silent, WorkerProcess
from roofline.measurement.progress import Progress
from roofline.measurement.rehearsal import Rehearsal, failure_of, said
from roofline.measurement.strays import adopting
from roofline.model.trial import (
    CONTROLS,
    SIDES,
    STRETCH,
    Pair,
    Timed,
    Trial,
    TrialFailure,
)

TIME_LIMIT = "time limit"
"""The reason of a trial that took longer than it was allowed to."""
_TRIES = 3
"""Pairs of a point that one launch may take until one is accepted: a moment's disturbance costs no new processes."""
_REHEARSAL_SHARE = 0.1
"""Of the bar that shows how far a trial has come."""

Choose = Callable[[Trial], Sequence[str]]
Keep = Callable[[Trial], object]
Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Program:
    """How the processes of one side are started."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: tuple[str, ...] = ()
    """The user's files of kernels, as they lie on this side."""
    folder: Path | None = None


@dataclass
class Duel:
    """One trial as it is measured. Make it, then `rehearse` and `run`."""

    trial: Trial
    """As it has grown so far."""
    plan: Plan
    """What to compare: kernel points; its threads, CPUs and memory hold for both sides."""
    base: Program
    head: Program
    control: KernelPoint
    """What both controls time."""
    choose: Choose
    """Names of the points that the second stage measures, of a trial whose first one is done."""
    keep: Keep
    """Called with the trial whenever a pair has been added."""
    report: Report
    limit_s: float = math.inf
    stretched: frozenset[str] = frozenset()
    """Kernels that are slowed down on the head's side on purpose, for a study of what a trial finds."""
    patience_s: float = PATIENCE_S
    clock: Callable[[], float] = time.monotonic
    _agreed: dict[str, Agreed] = field(default_factory=dict)
    """By the names of the points: those that can be timed."""
    _interruption: int = -1
    _started_s: float = 0.0

    def fought(self) -> Trial:
        """Rehearse, screen, confirm, and return the trial; what a signal or the time limit ends is not complete.

        Raises NotComparable when no point, or not the control, can be timed on both sides.
        """
        self._started_s = self.clock()
        with adopting(), catch_signals() as self._interruption:
            try:
                self._rehearse()
                ended = self._stage(1, [point.name for point in self.trial.points])
                again = self.choose(self.trial) if ended else ()
                if again:
                    ended = self._stage(2, list(again))
                self.trial = replace(self.trial, complete=ended, reason=None if ended else TIME_LIMIT)
            except Interruption as stop:
                self.trial = replace(self.trial, complete=False, reason=stop.signal_name)
        self.trial = replace(self.trial, elapsed_s=self.clock() - self._started_s)
        return self.trial

    def _rehearse(self) -> None:
        """Let each side try every point, and agree on sizes, roofs and calls."""
        points = [*self._asked(), self.control]
        found = {}
        programs = dict(zip(SIDES, (self.base, self.head), strict=True))
        if share_code(self.base.environment, self.head.environment):
            # Two processes that compile into one cache would lose entries of its index.
            found = {side: self._rehearsed_by({side: programs[side]}, points)[side] for side in SIDES}
        else:
            found = self._rehearsed_by(programs, points)
        *asked, control = zip(points, found["base"], found["head"], strict=True)
        for point, base, head in asked:
            self._agree(point.name, point, base, head)
        if not self._agreed:
            failures = sorted({f"{failure.point}: {failure.message}" for failure in self.trial.failures})
            raise NotComparable(f"no kernel can be timed on both sides: {'; '.join(failures)}")
        if refusals := disagreement(control[0].name, *control[1:]):
            reasons = "; ".join(f"{refusal.side or 'both'}: {refusal.message}" for refusal in refusals)
            raise NotComparable(f"the control, {control[0].name}, cannot be timed on both sides: {reasons}")
        if control[1].digest != control[2].digest:
            raise NotComparable(
                f"the control, {control[0].name}, is not the same code on both sides, so that nothing would tell what "
                "the machine adds; compare revisions between which it did not change, or two files: ab OLD.py NEW.py"
            )
        for kind in CONTROLS:
            self._agree(f"control: {kind} code ({control[0].name})", *control, control=kind)

    def _asked(self) -> list[KernelPoint]:
        return [point for point in self.plan.points if isinstance(point, KernelPoint)]

    def _agree(self, name: str, point: KernelPoint, base: Rehearsed, head: Rehearsed, control: str = "") -> None:
        """Add a point that both sides can time, or the reason why they cannot."""
        if failures := disagreement(name, base, head):
            self.trial = replace(self.trial, failures=(*self.trial.failures, *failures))
            return
        stretched = control == "slower" or (not control and point.kernel in self.stretched)
        self._agreed[name] = agreed(name, point, base, head, control, stretched)
        self.trial = replace(self.trial, points=(*self.trial.points, self._agreed[name].described))

    def _rehearsed_by(
        self, programs: Mapping[str, Program], points: Sequence[KernelPoint]
    ) -> dict[str, tuple[Rehearsed, ...]]:
        """Return what each side says of each point, all at the same time."""

        def rehearsal(program: Program) -> Rehearsal:
            return Rehearsal(lambda left: self.start(program, self.request(left)), points, self.patience_s)

        with ExitStack() as stack:
            begun = {}
            for side, program in programs.items():
                begun[side] = rehearsal(program)
                stack.callback(begun[side].stop)
            return {side: one.result() for side, one in begun.items()}

    def start(self, program: Program, request: SideRequest) -> WorkerProcess:
        """Start a process of one side."""
        mine = replace(request, plan=replace(request.plan, files=program.files))
        return WorkerProcess(program.command, mine, program.environment, self._interruption, program.folder)

    def request(self, points: Sequence[KernelPoint], rehearsed: Sequence[Rehearsed] = ()) -> SideRequest:
        """Return the request to make these points ready."""
        return SideRequest(
            plan=replace(self.plan, points=tuple(points)),
            machine=self.trial.machine,
            ceilings=self.trial.ceilings,
            levels=self.trial.levels,
            rehearsed=tuple(rehearsed),
        )

    def _stage(self, stage: int, names: Sequence[str]) -> bool:
        """Take pairs until every point has as many accepted as planned, or has been refused too often, or has failed.

        Return False when the time is over before.
        """
        profile = self.trial.profile
        planned = profile.screen_pairs if stage == 1 else profile.confirm_pairs
        most = (1 + profile.rejected_per_accepted) * planned
        random = Random(f"{self.trial.seed} {stage}")
        began_s = self.clock()
        for launch in range(1, most + 1):
            left = [name for name in names if name in self._agreed and len(self.trial.accepted(name, stage)) < planned]
            if not left or all(one.described.control for one in self._agreed.values()):
                return True
            if self.clock() - self._started_s > self.limit_s:
                return False
            done = min(len(self.trial.accepted(name, stage)) for name in left)
            self._tell(stage, done, planned, began_s)
            for group in self._groups(left):
                self._pair(stage, launch, group, random)
            self.keep(self.trial)
        return True

    def _tell(self, stage: int, done: int, planned: int, began_s: float) -> None:
        what = "screening" if stage == 1 else "confirming what was flagged"
        share = _REHEARSAL_SHARE + (1 - _REHEARSAL_SHARE) * done / planned
        left_s = (self.clock() - began_s) * (planned - done) / done if done else math.inf
        self.report(Progress(point=f"{what}: {done} of {planned} pairs", done=share, remaining_s=left_s))

    def _groups(self, names: Sequence[str]) -> Iterator[list[str]]:
        """Yield the points in groups whose data, made once and placed once on both sides, fits the memory together."""
        budget_bytes = self.plan.memory_budget_bytes
        group: list[str] = []
        held = 0
        for name in names:
            needed = 4 * self._agreed[name].rehearsed.footprint_bytes
            if group and budget_bytes is not None and held + needed > budget_bytes:
                yield group
                group, held = [], 0
            group.append(name)
            held += needed
        yield group

    def _pair(self, stage: int, launch: int, names: Sequence[str], random: Random) -> None:
        """Start one process of each side, and let them time every point in turns."""
        points = [self._agreed[name] for name in names]
        request = self.request([one.point for one in points], [one.rehearsed for one in points])
        order = list(enumerate(names))
        random.shuffle(order)
        first = random.random() < 0.5
        with ExitStack() as stack:
            sides: dict[str, WorkerProcess] = {}
            for side in SIDES if first else SIDES[::-1]:
                sides[side] = self.start(self.base if side == "base" else self.head, request)
                stack.callback(sides[side].stop)
            for side, worker in sides.items():
                if (failed := self._until_ready(worker, len(names))) is not None:
                    self._fail(names[failed[0]], side, failed[1])
                    return
            for place, name in order:
                for _ in range(_TRIES):
                    pair = self._paired(sides, place, name, (stage, launch), base_first=random.random() < 0.5)
                    if pair is None:
                        return
                    self.trial = replace(self.trial, pairs=(*self.trial.pairs, pair))
                    if pair.accepted:  # which the probes say alone, whatever the kernel took
                        break

    def _paired(
        self, sides: Mapping[str, WorkerProcess], place: int, name: str, at: tuple[int, int], base_first: bool
    ) -> Pair | None:
        """Let both sides time one point, in this order; None when one of them fails."""
        timed: dict[str, Timed] = {}
        for side in SIDES if base_first else SIDES[::-1]:
            answer = self._timed(sides[side], place, name, side)
            if answer is None:
                return None
            timed[side] = answer
        return Pair(point=name, stage=at[0], launch=at[1], base_first=base_first, **timed)

    def _timed(self, worker: WorkerProcess, place: int, name: str, side: str) -> Timed | None:
        point = self._agreed[name].described
        counted = point.repeats
        made = counted * STRETCH[0] // STRETCH[1] if point.stretched and side == "head" else counted
        line = f"{place} {counted} {made}"
        worker.tell(line)
        answer = worker.hear(self.patience_s)
        if isinstance(answer, KernelTimed) and answer.timed.told_by_a_clock and answer.asked in (None, line):
            return answer.timed
        self._fail(name, side, answer)
        return None

    def _until_ready(self, worker: WorkerProcess, points: int) -> tuple[int, Died | Silent] | None:
        """Wait until a side is ready; return the place of the point that it died at, and how, when it does not."""
        at = 0
        begun: set[int] = set()
        while True:
            match worker.hear(self.patience_s):
                case Began(index=index) if 0 <= index < points:
                    at = index
                    begun.add(index)
                case SideReady() if len(begun) == points:
                    return None
                case Died() | Silent() as end:
                    return at, end
                case other:
                    return at, said(other)

    def _fail(self, name: str, side: str, answer: object) -> None:
        """Note that a point cannot be timed, and leave it out from now on."""
        failure = failure_of(name, answer if isinstance(answer, Died | Silent) else said(answer))
        noted = TrialFailure(point=name, side=side, kind=failure.kind, message=failure.message)
        self.trial = replace(self.trial, failures=(*self.trial.failures, noted))
        self._agreed.pop(name, None)
