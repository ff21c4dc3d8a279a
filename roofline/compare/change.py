"""How much faster a kernel became between two archived runs, and whether the runs can tell.

Speed-up s = time before / time after, estimated by the ratio of medians. Its interval has two parts.

**Inside a run.** Where both sides were timed in alternation with the ceiling of one name, the values are the blocks'
ratios r = 1 / (sample_s * roof), with `roof` the geometric mean of the roof's rates around the sample: s is the ratio
of their medians, and the clock and the neighbours, which slow both, cancel (Bulej et al., "Duet benchmarking", 2020).
Else the values are the raw times. With X = [x1, x2] the exact order-statistic interval of the median before and
Y = [y1, y2] that after, each at confidence sqrt(0.95), both cover with probability 0.95 at least, and then the ratio
lies in [y1 / x2, y2 / x1]. (Neighbouring blocks share one roof sample, so that their values are not quite independent.)
Six samples reach 96.9 % on a side instead of 97.5 %: two such sides cover 93.8 %, which `confidence` says.

**Between runs.** Each kernel was timed in one process. Where its memory and code lay, and how the host was then, is the
same for all samples inside, so these cannot tell it, and whoever takes them for repetitions of the whole raises false
alarms (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013; Mytkowicz et al., "Producing wrong data
without doing anything obviously wrong!", 2009). With ln time = ln true time + e, e of variance sigma^2 by launch, the
difference of two launches has 2 sigma^2. An estimate of sigma is what the same code did in several launches: the
kernel's own ceiling in each of its launches, and once more in the roof's blocks beside the kernel, whose distance from
the archived ceiling thereby counts. Of each such group the median rates' logarithms give a sum of squares around their
mean and one degree of freedom less than values; pooled over both sides, sigma^2 = squares / freedom, and

    h = t(freedom, 0.975) * sqrt(errors) * sigma

is the half-width for launches, by Student's quantile because sigma itself comes from few. Raw times have the clock in
them: rates per second, both runs around one mean, and two errors, one for each launch of the kernel. Paired values are
free of the clock: for arithmetic and for caches that a core has to itself the rates are per cycle, each run around its
own mean, and what is left is how each code lay: four errors, since the roof beside the kernel has its own. Levels that
cores share are slowed by neighbours, who slow kernel and roof alike: rates per second, each run around its own mean,
which is more than what is left of it in the ratio, and two errors. Without any two launches of one code sigma is
ASSUMED.

**Together**, distances from the estimate are added as independent ones are, sqrt(inside^2 + h^2), on the logarithmic
scale and for each end by itself (Zou and Donner, "Construction of confidence limits about effect measures", 2008).

**Verdict.** `faster` and `slower` need an interval beyond MARGIN: how code happens to lie in memory moves times by as
much without any improvement. `same` needs it within `within`. Anything else is `inconclusive`, and `smallest_effect`
says what these runs would have shown. A stored run is no control measured beside: verdicts are about these two runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, hypot, log, sqrt

from roofline.compare.launch_noise import half_width
from roofline.compare.match import point_name
from roofline.errors import NotComparable
from roofline.model.measurement import Measurement, block_ratios
from roofline.model.run import Run
from roofline.model.statistics import interval_of_median, median
from roofline.model.struct import Value

MARGIN = 0.01
"""No difference within this is called an improvement or a regression."""
WITHIN = 0.05
"""What counts as the same, unless asked otherwise."""
CONFIDENCE = 0.95
FEWEST = 6
"""Samples on each side without which nothing is concluded."""
VERDICTS = ("faster", "slower", "same", "inconclusive")
PAIRED, TIME = "percent of roof", "time"
"""What a verdict can follow from."""
SAME_CODE = "same code: any difference is noise"


class Ratio(Value, frozen=True, kw_only=True):
    """One estimate of the speed-up."""

    speedup: float
    inside: tuple[float, float] | None
    """Its interval by the samples alone; None below FEWEST samples on a side."""
    interval: tuple[float, float] | None
    """The same widened by what launches differ by."""
    confidence: float | None
    """What `inside` covers at least."""
    launch_noise: float
    """By how much launches may differ (0.03 is 3 %), at 95 % confidence."""


class Change(Value, frozen=True, kw_only=True):
    """What became of one point."""

    speedup: float | None
    """By what `basis` says; above 1 is faster. None where there is nothing to divide."""
    interval: tuple[float, float] | None
    """95 % interval of the speed-up; None where there are too few samples."""
    verdict: str
    """One of VERDICTS."""
    smallest_effect: float | None
    """The least change (0.12 is 12 %) that these two runs would have shown; None without an interval."""
    basis: str
    """`percent of roof`: kernel and roof timed in alternation; or `time`."""
    reason: str = ""
    """Why nothing can be concluded, where it is not for the interval's width."""
    within: float = WITHIN
    """What counted as the same."""
    paired: Ratio | None = None
    """By percent of roof; None where the sides were not timed beside one and the same ceiling."""
    time: Ratio | None = None
    """By raw times; None where they must not be compared."""
    source: str = ""
    """`same source`, `code changed`, or empty where a run does not say."""
    same_code: bool | None = None
    """Whether the machine code is the same, with the same tile sizes; None where a run does not say."""


def change_of(
    before: Measurement,
    after: Measurement,
    before_run: Run,
    after_run: Run,
    across: bool = False,
    within: float = WITHIN,
) -> Change:
    """Return what became of a point, with a verdict; see the top of this file.

    `across` is for runs of different machines or conditions: percent of the machine's roof alone is judged. Raises
    NotComparable when the declared work differs and it is not given; whether the runs are of one kind is not looked at
    here (`match.refuse_unlike` does).
    """
    if before.work.flops != after.work.flops and not across:
        flops = f"{before.work.flops} flops before and {after.work.flops} after"
        raise NotComparable(
            f"{point_name(before)}: its declared work is {flops}; "
            "choose other kernels with --kernel, or compare percent of roof alone with --across"
        )
    paired, time = _ratios(before, after, before_run, after_run, across)
    chosen = paired or time
    same_code = _same_code(before, after)
    reason = _reason(before, after, chosen)
    verdict, effect = "inconclusive", None
    if chosen is not None and chosen.interval is not None and not reason:
        verdict = verdict_of(chosen.interval, within)
        effect = _smallest_effect(chosen.speedup, chosen.interval)
        if same_code and not across and verdict in ("faster", "slower"):
            verdict, reason = "inconclusive", SAME_CODE
    return Change(
        speedup=chosen.speedup if chosen else None,
        interval=chosen.interval if chosen else None,
        verdict=verdict,
        smallest_effect=effect,
        basis=PAIRED if paired is not None or across else TIME,
        reason=reason,
        within=within,
        paired=paired,
        time=time,
        source=_source(before, after),
        same_code=same_code,
    )


def verdict_of(interval: tuple[float, float], within: float = WITHIN) -> str:
    """Return what an interval of the speed-up says."""
    low, high = interval
    if low > 1 + MARGIN:
        return "faster"
    if high < 1 / (1 + MARGIN):
        return "slower"
    return "same" if low >= 1 / (1 + within) and high <= 1 + within else "inconclusive"


def ratio_of(before: Sequence[float], after: Sequence[float], launches: float) -> Ratio:
    """Return median(after) / median(before) with its interval, widened by `launches`, a half-width of its logarithm."""
    speedup = median(after) / median(before)
    sides = [_interval(values) for values in (before, after)]
    inside = widened = confidence = None
    if sides[0] is not None and sides[1] is not None:
        inside = sides[1][0] / sides[0][1], sides[1][1] / sides[0][0]
        low, high = hypot(log(speedup / inside[0]), launches), hypot(log(inside[1] / speedup), launches)
        widened = speedup * exp(-low), speedup * exp(high)
        confidence = _confidence(len(before)) * _confidence(len(after))
    noise = exp(launches) - 1
    return Ratio(speedup=speedup, inside=inside, interval=widened, confidence=confidence, launch_noise=noise)


def _ratios(
    before: Measurement, after: Measurement, before_run: Run, after_run: Run, across: bool
) -> tuple[Ratio | None, Ratio | None]:
    """Return the ratio by percent of roof and by raw time, as far as each may be told."""
    if not before.samples_s or not after.samples_s:
        return None, None
    ours, theirs = (
        (_percents(before, before_run), _percents(after, after_run)) if across else (_blocks(before), _blocks(after))
    )
    alike = across or (before.ceiling == after.ceiling != "")
    paired = time = None
    if alike and ours and theirs:
        paired = ratio_of(ours, theirs, half_width(before, after, before_run, after_run, True, across))
    if not across:
        launches = half_width(before, after, before_run, after_run, False)
        time = ratio_of(after.samples_s, before.samples_s, launches)  # the other way round: times, no rates
    return paired, time


def _blocks(measurement: Measurement) -> list[float]:
    """Return calls per second over the roof's rate, of each block; empty when it was not paired."""
    return block_ratios(measurement, 1.0)


def _percents(measurement: Measurement, run: Run) -> list[float]:
    """Return the percent of the machine's roof of each block, or of each sample when it was not paired."""
    derived = run.derived(measurement)
    if derived is None or derived.percent_of_roof is None:
        return []
    values = _blocks(measurement) or [1 / sample_s for sample_s in measurement.samples_s]
    middle = median(values)
    return [derived.percent_of_roof * value / middle for value in values]


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    return interval_of_median(values, _confidence(len(values))) if len(values) >= FEWEST else None


def _confidence(count: int) -> float:
    """Return sqrt(CONFIDENCE), or what the whole range of so few values covers."""
    return min(sqrt(CONFIDENCE), 1 - 2.0 ** (1 - count))


def _smallest_effect(speedup: float, interval: tuple[float, float]) -> float:
    apart = max(speedup / interval[0], interval[1] / speedup)
    return apart * (1 + MARGIN) - 1


def _reason(before: Measurement, after: Measurement, chosen: Ratio | None) -> str:
    """Return what keeps a point from any verdict, or nothing."""
    for side, measurement in (("before", before), ("after", after)):
        if not measurement.drawable:
            codes = " ".join(measurement.status_codes)
            return f"{side}: {measurement.status}{f' ({codes})' if codes else ''}"
    if chosen is None:
        return "no roof to compare with"
    counts = [len(measurement.samples_s) for measurement in (before, after)]
    if min(counts) < FEWEST:
        return f"{counts[0]} and {counts[1]} samples, {FEWEST} needed"
    return ""


def _source(before: Measurement, after: Measurement) -> str:
    if not before.digest or not after.digest:
        return ""
    return "same source" if before.digest == after.digest else "code changed"


def _same_code(before: Measurement, after: Measurement) -> bool | None:
    if not before.assembly_digest or not after.assembly_digest:
        return None
    return before.assembly_digest == after.assembly_digest and before.tiles == after.tiles
