"""Where a call stands under the roof, and what may be asserted of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from roofline.errors import UsageError
from roofline.model.ceilings import Ceilings, ComputeCeiling
from roofline.model.claim import Claim
from roofline.model.guard import GUARDS
from roofline.model.judging import Circumstances, verdict_of
from roofline.model.measurement import Derived, Measurement, block_ratios, derive
from roofline.model.outcome import Outcome
from roofline.model.statistics import interval_of_median, median
from roofline.units import byte_rate, flop_rate

DISABLED = "disabled"
"""Status of a point in a session that measures nothing."""
UNFIT = ("THROTTLE", "STEAL", "BUSY", "OVERSUB", "UNPINNED", "CLOCKBACK")
"""Codes of what the machine does to a number: the code under test cannot help it."""
MOST_CPUS = 1.3
"""A call that uses more CPUs than its threads, times this, runs on more threads than it says."""
ON_INCONCLUSIVE = ("skip", "fail", "pass")

_REFUSED = "above the roof: what cannot be true is refused; check flops and bytes"
_OF_CAUSE = {
    "COUNTED_TWICE": "more bytes are declared than the arrays have",
    "OTHER_CLOCK": "the clock was higher than beside the roof; measure again",
    "NEARER_LEVEL": "some of its data stays in a nearer level; name it with level=, or use data four times as large as "
    "the last cache",
    "ROOF_TOO_LOW": "or the roof was disturbed when it was measured",
    "DCE": "no core does so much",
}


@dataclass(frozen=True)
class Policy:
    """What becomes of a test whose number tells nothing."""

    on_inconclusive: str = "skip"
    """One of ON_INCONCLUSIVE: where the interval straddles the limit."""
    strict: bool = False
    """Fail where a machine that is unfit would skip."""


@dataclass(frozen=True)
class Point:
    """What one callable reached. Numbers are None where nothing was measured (`--roofline-disable`)."""

    name: str
    test: str
    """Node id of the test."""
    dtype: str
    threads: int
    status: str
    """`ok`, `degraded`, `invalid`, `above_roof` or `disabled`."""
    codes: tuple[str, ...] = ()
    """Of the guards behind the status; see the page `guards`."""
    level: str = ""
    """Memory level that holds its data; empty when no bytes were declared."""
    percent_of_roof: float | None = None
    """Median over blocks of its rate over the rate of the roof in the same block."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval of `percent_of_roof`; None below 6 samples."""
    flop_per_s: float | None = None
    byte_per_s: float | None = None
    """Read plus written."""
    flop_per_byte: float | None = None
    """0 where no flops or no bytes were declared."""
    median_s: float | None = None
    """Seconds per call."""
    bound: str | None = None
    """Name of the ceiling that binds: `DRAM triad avx2 ×1`."""
    roof_per_s: float | None = None
    """Its rate, in flop/s or B/s."""
    unfit: tuple[str, ...] = ()
    """What makes this machine unfit for an assertion now."""
    unsound: tuple[str, ...] = ()
    """What makes the number wrong, and its test can help."""
    notes: tuple[str, ...] = ()
    """What else a reader must know."""
    measurement: Measurement | None = field(default=None, repr=False, compare=False)
    """The raw samples."""
    policy: Policy = field(default=Policy(), repr=False, compare=False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the number is doubted or refused, in words; empty for `ok`."""
        return (*self.unsound, *self.unfit, *self.notes)

    @property
    def gflops(self) -> float | None:
        """`flop_per_s` in units of 1e9, as pytest-benchmark's `extra_info` has it."""
        return None if self.flop_per_s is None else self.flop_per_s / 1e9

    @property
    def gbs(self) -> float | None:
        """`byte_per_s` in units of 1e9."""
        return None if self.byte_per_s is None else self.byte_per_s / 1e9

    def assert_at_least(self, percent_of_roof: float) -> None:
        """Demand so many percent of the roof, above 0 and at most 100.

        Raises AssertionError when the whole 95 % interval is below, or the number cannot be true. Skips the test where
        the interval straddles the limit (`roofline_on_inconclusive`) or this machine is unfit now (fails with
        `--roofline-strict`). Raises UsageError for a limit that is none.
        """
        __tracebackhide__ = True
        from roofline.testing.verdict_on import enforce  # loads pytest: a point is of use without it

        enforce(self, percent_of_roof)


def outcome_of(point: Point, limit: float) -> Outcome:
    """Return how `percent_of_roof >= limit` ends for a point that was measured."""
    result, message = _decided(point, limit)
    return Outcome(
        rule=f"percent_of_roof >= {limit:g}",
        kernel=point.name,
        point=f"{point.name} {point.dtype} ×{point.threads}",
        result=result,
        found=point.percent_of_roof,
        limit=limit,
        unit="%",
        interval=point.interval,
        median_s=point.median_s,
        message=message,
    )


def check_limit(limit: object) -> float:
    """Return a limit in percent. Raises UsageError when no point could be held against it."""
    number = float(limit) if isinstance(limit, int | float) and not isinstance(limit, bool) else -1.0
    if not 0 < number <= 100:
        raise UsageError(f"{limit!r} is no percentage of a roof, expected more than 0 and at most 100")
    return number


def _decided(point: Point, limit: float) -> tuple[str, str]:
    found = _found(point)
    if point.status == "above_roof" and "NOISY" in point.codes:
        return "inconclusive", f"{found}: above the roof by less than its samples vary; measure on a quiet machine"
    if point.status == "above_roof" or "DCE" in point.codes:
        causes = "; ".join(_OF_CAUSE.get(code, code) for code in point.codes)
        return "failed", f"{found}: {_REFUSED} ({causes})"
    if point.unsound:
        return "failed", f"{found}: no sound number: {'; '.join(point.unsound)}"
    expected = f"expected at least {limit:g} %"
    if point.interval is None or point.percent_of_roof is None:
        return "inconclusive", f"{found}, {expected}: too few samples for an interval; use a smaller size"
    low, high = point.interval
    if low >= limit:
        return "passed", f"{found}, {expected}"
    if high < limit:
        to_do = "come nearer to that roof, or expect less"
        return "failed", f"{found}, {expected}; bound by {_bound(point)}: {to_do}"
    return "inconclusive", f"{found}, {expected}: the interval straddles it; measure on a quieter machine"


def _found(point: Point) -> str:
    if point.percent_of_roof is None:
        return f"{point.name}: no percentage of a roof"
    interval = "" if point.interval is None else f" (95 %: {point.interval[0]:.1f} to {point.interval[1]:.1f} %)"
    return f"{point.name}: found {point.percent_of_roof:.1f} % of the roof{interval}"


def _bound(point: Point) -> str:
    if point.roof_per_s is None or point.flop_per_s is None or point.byte_per_s is None:
        return point.bound or "an unknown roof"
    of_bytes = point.level and (point.bound or "").startswith(f"{point.level} ")
    rate, reached = (byte_rate, point.byte_per_s) if of_bytes else (flop_rate, point.flop_per_s)
    return f"{point.bound} ({rate(reached)} of {rate(point.roof_per_s)})"


def point_of(
    measurement: Measurement,
    ceilings: Ceilings,
    *,
    test: str,
    claim: Claim,
    cpus_used: float = 0.0,
    unfit: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    policy: Policy = Policy(),
) -> Point:
    """Return the point of a measured call; `unfit` and `notes` are what is known beside it."""
    derived = derive(measurement, ceilings)
    assert derived is not None  # the yardstick takes samples, or raises
    own = ceilings.named(measurement.ceiling)
    bound = ceilings.named(derived.bound) if derived.bound else None
    count = len(measurement.samples_s)
    verdict = verdict_of(measurement.evidence, Circumstances(samples=count, threads=measurement.threads))
    seen = dict.fromkeys((*measurement.status_codes, *verdict.invalid, *verdict.degraded))
    invalid = measurement.status_codes if measurement.status == "invalid" else ()
    of_machine = tuple(code for code in seen if code in UNFIT)
    wrong = tuple(code for code in invalid if code not in UNFIT)
    doubts = (*measurement.status_codes, *(own.caveats if own is not None else ()))
    noted = tuple(code for code in dict.fromkeys(doubts) if code not in (*of_machine, *wrong))
    unsound = tuple(map(_worded, wrong))
    if cpus_used > MOST_CPUS * measurement.threads:
        unsound += (
            f"the call used {cpus_used:.1f} CPUs, expected {measurement.threads}: declare its threads=, or hold it to "
            "them",
        )
    return Point(
        name=measurement.kernel,
        test=test,
        dtype=measurement.dtype,
        threads=measurement.threads,
        status=measurement.status,
        codes=measurement.status_codes,
        level=measurement.level,
        percent_of_roof=derived.percent_of_roof,
        interval=percent_interval(measurement, derived, ceilings),
        flop_per_s=derived.flop_per_s,
        byte_per_s=claim.bytes / derived.median_s,
        flop_per_byte=derived.flop_per_byte,
        median_s=derived.median_s,
        bound=derived.bound,
        roof_per_s=None if bound is None else bound.attainable_flop_per_s(1.0),
        unfit=(*unfit, *map(_worded, of_machine)),
        unsound=unsound,
        notes=(*notes, *map(_worded, noted)),
        measurement=measurement,
        policy=policy,
    )


def percent_interval(measurement: Measurement, derived: Derived, ceilings: Ceilings) -> tuple[float, float] | None:
    """Return the 95 % interval of the percentage of the roof, from the blocks; None below 6 samples, or unpaired."""
    own = ceilings.named(measurement.ceiling)
    work = measurement.work
    amount = float(work.flops if isinstance(own, ComputeCeiling) else work.bytes)
    ratios = block_ratios(measurement, amount) if own is not None else []
    interval = interval_of_median(ratios)
    if interval is None or derived.percent_of_roof is None:
        return None
    scale = derived.percent_of_roof / median(ratios)
    return interval[0] * scale, interval[1] * scale


def _worded(code: str) -> str:
    guard = GUARDS.get(code)
    return code if guard is None else f"{code}: {guard.catches}; {guard.remedy}"
