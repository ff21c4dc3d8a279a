"""What launches of the same code differ by, as two runs show it: see `change` for the derivation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, sqrt

from roofline.model.ceilings import Ceiling, ComputeCeiling
from roofline.model.launch import Launch, sound
from roofline.model.measurement import Measurement
from roofline.model.run import Run, private_levels
from roofline.model.statistics import median

ASSUMED = 0.03
"""Standard deviation between launches where none was seen twice: that of a disturbed host."""
QUANTILE = 0.975
ONE_CODE, TWO_CODES = 2, 4
"""Independent errors of launches in a ratio of two sides: of the kernel alone, or of the kernel and of its roof."""
Group = list[float]
"""Logarithms of rates of one code, one for each launch."""


def half_width(
    before: Measurement, after: Measurement, before_run: Run, after_run: Run, paired: bool, across: bool = False
) -> float:
    """Return the half-width of the 95 % interval, on the logarithmic scale, of the difference of two launches.

    `paired` values are free of the clock. `across`, percent of the machine's roof is compared: then the ceilings that
    bind there count too.
    """
    sides = ((before, before_run), (after, after_run))
    names = [_names(measurement, run, across) for measurement, run in sides]
    if not paired:
        both = dict.fromkeys((*names[0], *names[1]))
        return width_of([_group(name, sides, False) for name in both], ONE_CODE)
    rests = [(side, name) for side, of in zip(sides, names, strict=True) for name in of]
    free = [_is_free_of_clock(side, name) for side, name in rests]
    groups = [_group(name, [side], per_cycle) for (side, name), per_cycle in zip(rests, free, strict=True)]
    return width_of(groups, TWO_CODES if free and all(free) else ONE_CODE)


def width_of(groups: Sequence[Group], errors: int) -> float:
    """Return t(freedom, QUANTILE) * sqrt(errors) * sigma, sigma pooled over groups, each around its own mean."""
    from scipy.special import ndtri, stdtrit  # loaded only when something is compared

    squares, freedom = 0.0, 0
    for group in groups:
        if len(group) > 1:
            mean = sum(group) / len(group)
            squares += sum((value - mean) ** 2 for value in group)
            freedom += len(group) - 1
    if not freedom:
        return float(ndtri(QUANTILE)) * sqrt(errors) * ASSUMED
    return float(stdtrit(freedom, QUANTILE)) * sqrt(errors * squares / freedom)


def _names(measurement: Measurement, run: Run, across: bool) -> tuple[str, ...]:
    """Return the names of the ceilings that the number rests on, without repetition."""
    names = [measurement.ceiling]
    derived = run.derived(measurement) if across else None
    if derived is not None:
        names.append(derived.bound or "")
    return tuple(dict.fromkeys(filter(None, names)))


def _group(name: str, sides: Sequence[tuple[Measurement, Run]], per_cycle: bool) -> Group:
    """Return one value for each launch of this ceiling in the runs, and for each kernel that it was timed beside."""
    rates = []
    for measurement, run in sides:
        ceiling = run.ceilings.named(name)
        if ceiling is not None:
            rates += list(_of_launches(ceiling, per_cycle))
        if measurement.ceiling == name and measurement.roof_samples:
            rates.append(_middle(measurement.roof_samples, measurement.roof_clock_samples_hz, per_cycle))
    return [log(rate) for rate in rates if rate > 0]


def _of_launches(ceiling: Ceiling, per_cycle: bool) -> Iterator[float]:
    launches: Sequence[Launch] = ceiling.launches[-1:] if ceiling.raised_by else sound(ceiling.launches)
    for launch in launches:
        if launch.samples_s:
            yield _middle(launch.rates_per_s, launch.clock_samples_hz, per_cycle)


def _middle(rates: Sequence[float], clocks_hz: Sequence[float], per_cycle: bool) -> float:
    """Return the median rate, per second or per cycle of the clock held beside it."""
    return median([rate / hz for rate, hz in zip(rates, clocks_hz, strict=True)] if per_cycle else rates)


def _is_free_of_clock(side: tuple[Measurement, Run], name: str) -> bool:
    """Return whether a rate per cycle means something: nothing is shared with other cores, and all clocks are known."""
    measurement, run = side
    ceiling = run.ceilings.named(name)
    if ceiling is None:
        return False
    if not isinstance(ceiling, ComputeCeiling) and ceiling.level not in private_levels(run.levels):
        return False
    known = [(launch.samples_s, launch.clock_samples_hz) for launch in ceiling.launches]
    if measurement.ceiling == name:
        known.append((measurement.roof_samples, measurement.roof_clock_samples_hz))
    return all(len(values) == len(clocks) and all(clocks) for values, clocks in known)
