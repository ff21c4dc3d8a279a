"""A trial: two versions of the same kernels, measured beside each other in pairs of fresh processes."""

from __future__ import annotations

from math import inf, log, sqrt

from roofline.model.ceilings import Ceilings
from roofline.model.machine import Environment, Machine
from roofline.model.run import Caveat, Level
from roofline.model.struct import Value

SCHEMA = 1
"""Version of the archived document.

1  2026-12  first version
"""
SIDES = ("base", "head")
CONTROLS = ("same", "slower")
"""What a control is: the same code on both sides, or the same with 21/20 of the calls on the head's."""
STRETCH = (21, 20)
"""Calls made, for so many counted, where code is slowed down on purpose."""
PROBE_APART = 0.05
"""Rates of a roof's probes that differ by more than this share: the machine was not the same for both."""
CLOCK_APART = 0.03
"""Clocks held before and after a kernel that differ by more."""


class Profile(Value, frozen=True, kw_only=True):
    """How many pairs a trial takes, and what it promises: fixed before the first sample."""

    name: str
    screen_pairs: int
    """Pairs of every point in the first stage."""
    confirm_pairs: int
    """Fresh pairs of what the first stage flagged."""
    most_noise: float
    """Standard deviation of a point's pairs (as ln of a ratio) beyond which nothing is said of it."""
    screen_alpha: float = 0.05
    confirm_alpha: float = 0.01
    """Of one kernel at most; with more than twenty, FAMILY_ALPHA shared between them."""
    margin: float = 0.01
    """A change below this share is never confirmed: where code lies in memory can cost as much."""
    same_within: float = 0.05
    """What counts as no change."""
    rejected_per_accepted: int = 2
    """Launches that a disturbed machine may cost for each pair that counts."""


FAMILY_ALPHA = 0.2
"""Divided by the number of kernels it is the second stage's level: times that of the first, 1 % for the whole trial."""
PROFILES = {
    "full": Profile(name="full", screen_pairs=18, confirm_pairs=44, most_noise=0.05),
    "quick": Profile(name="quick", screen_pairs=12, confirm_pairs=24, most_noise=0.04),
}


class Side(Value, frozen=True, kw_only=True):
    """One of the two versions."""

    name: str
    """As it was asked for: a revision or a file."""
    revision: str | None = None
    """Full hash of the commit; None for files."""
    files: tuple[str, ...] = ()
    """The user's files of kernels, as they were named."""
    own_suite: bool = False
    """True where the revision brings its own version of this suite, which was then run."""


class SideOfPoint(Value, frozen=True, kw_only=True):
    """What one version of a kernel is."""

    digest: str = ""
    """Hash of its source."""
    vector_register: str | None = None
    assembly_digest: str = ""
    """Hash of its machine code."""
    error: float | None = None
    tolerance: float | None = None


class TrialPoint(Value, frozen=True, kw_only=True):
    """One kernel at one size, dtype and thread count, on both sides."""

    name: str
    """In words; the name of a control says what it is."""
    kernel: str
    n: int
    dtype: str
    threads: int
    level: str = ""
    control: str = ""
    """One of CONTROLS; empty for what was asked for."""
    stretched: bool = False
    """True where the head's calls were slowed down on purpose, for a control or a study."""
    ceiling: str = ""
    """Name of the roof whose probes stand before and after each kernel."""
    repeats: int
    """Calls that a sample counts."""
    base: SideOfPoint = SideOfPoint()
    head: SideOfPoint = SideOfPoint()


class Timed(Value, frozen=True, kw_only=True):
    """One kernel in one process, between two probes of its roof."""

    samples_s: tuple[float, ...]
    """Seconds per call that was counted."""
    roof_samples: tuple[float, ...] = ()
    """Rates of the probes before and after (flop/s or B/s), each the best of three."""
    clock_samples_hz: tuple[float, ...] = ()
    """Clock held beside these."""

    @property
    def best_s(self) -> float:
        """The shortest sample: what interrupts add is not the code's."""
        return min(self.samples_s)

    @property
    def roof_per_s(self) -> float | None:
        """Geometric mean of the probes' rates; None without a roof."""
        return sqrt(self.roof_samples[0] * self.roof_samples[1]) if len(self.roof_samples) == 2 else None

    @property
    def told_by_a_clock(self) -> bool:
        """True when there are samples, and all times and rates are above 0 and finite."""
        numbers = (*self.samples_s, *self.roof_samples, *self.clock_samples_hz)
        return bool(self.samples_s) and all(0 < number < inf for number in numbers)

    @property
    def steady(self) -> bool:
        """True when roof and clock were the same before and after."""
        return _alike(self.roof_samples, PROBE_APART) and _alike(self.clock_samples_hz, CLOCK_APART)


class Pair(Value, frozen=True, kw_only=True):
    """One point in two fresh processes, one right after the other, in the order of a fair coin."""

    point: str
    """Its name."""
    stage: int
    """1 screens, 2 confirms."""
    launch: int
    """Number of the pair of processes, from 1."""
    base_first: bool
    base: Timed
    head: Timed

    @property
    def accepted(self) -> bool:
        """True when the machine was the same for both sides: judged by the probes alone, never by the kernel."""
        roofs = (self.base.roof_per_s, self.head.roof_per_s)
        alike = None in roofs or _alike(tuple(roof for roof in roofs if roof), PROBE_APART)
        return self.base.steady and self.head.steady and alike

    @property
    def log_time(self) -> float:
        """Natural logarithm of the head's time over the base's."""
        return log(self.head.best_s / self.base.best_s)

    @property
    def log_roof(self) -> float | None:
        """Natural logarithm of the base's share of its roof over the head's; None without a roof."""
        base, head = self.base.roof_per_s, self.head.roof_per_s
        return None if base is None or head is None else self.log_time + log(head / base)


class TrialFailure(Value, frozen=True, kw_only=True):
    """A point that could not be compared, and why."""

    point: str
    side: str
    """One of SIDES, or empty for both."""
    kind: str
    """As of a Failure in a run."""
    message: str


class Trial(Value, frozen=True, kw_only=True):
    """Two versions measured against each other in one job."""

    schema: int = SCHEMA
    id: str
    started_utc: str
    argv: tuple[str, ...] = ()
    machine: Machine
    environment: Environment
    caveats: tuple[Caveat, ...] = ()
    base: Side
    head: Side
    profile: Profile
    seed: int = 0
    """Of the coin and of the order of the points."""
    ceilings: Ceilings = Ceilings()
    levels: tuple[Level, ...] = ()
    points: tuple[TrialPoint, ...] = ()
    pairs: tuple[Pair, ...] = ()
    failures: tuple[TrialFailure, ...] = ()
    elapsed_s: float | None = None
    complete: bool = False
    reason: str | None = None
    """Why it is not complete: a signal, or its time limit."""

    def accepted(self, point: str, stage: int) -> tuple[Pair, ...]:
        """Return the pairs of a point that count in a stage: the first ones accepted, as many as were planned."""
        planned = self.profile.screen_pairs if stage == 1 else self.profile.confirm_pairs
        found = (pair for pair in self.pairs if (pair.point, pair.stage) == (point, stage) and pair.accepted)
        return tuple(pair for _, pair in zip(range(planned), found, strict=False))


def _alike(values: tuple[float, ...], within: float) -> bool:
    return len(values) < 2 or (min(values) > 0 and log(max(values) / min(values)) <= within)
