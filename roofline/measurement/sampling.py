"""How many turns, and how many samples: rules that see only numbers, so that tests need no time to pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roofline.model.statistics import interval_of_median, median

MOST_GROWTH = 10.0
"""A calibration step never multiplies the count by more: an early reading may be a fluke."""
HELD_UP = 30.0
"""A reading of so many times the target is the code's own: no neighbour holds a thread up for so long."""


def calibrate(interval_s: Callable[[int], float], target_s: float, first: int = 1, most: int = 2**40) -> int:
    """Return the count for which `interval_s(count)` lasts at least `target_s`.

    Grows the count by what the last interval was short of, at most MOST_GROWTH at a time.
    """
    count = first
    while count < most:
        took_s = interval_s(count)
        if took_s >= target_s:
            break
        growth = min(MOST_GROWTH, 1.2 * target_s / took_s) if took_s > 0 else MOST_GROWTH
        count = min(most, max(count + 1, int(count * growth)))
    return count


def confirmed(interval_s: Callable[[int], float], target_s: float) -> Callable[[int], float]:
    """Return `interval_s` for `calibrate`, with a reading that reaches the target taken twice: the shorter one counts.

    One that a neighbour held up would end the calibration with far too few calls for a sample. Readings of HELD_UP
    times the target and more are believed at once.
    """

    def reading_s(count: int) -> float:
        took_s = interval_s(count)
        return min(took_s, interval_s(count)) if target_s <= took_s < HELD_UP * target_s else took_s

    return reading_s


def is_precise(samples: Sequence[float], within: float = 0.01) -> bool:
    """Return whether the 95 % interval of the median is within +- `within` of the median."""
    interval = interval_of_median(samples)
    return interval is not None and (interval[1] - interval[0]) / 2 <= within * median(samples)
