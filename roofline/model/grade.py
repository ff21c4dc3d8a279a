"""How far the numbers of a run can be trusted, in one letter with its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roofline.model.ceilings import Ceiling, MemoryCeiling
from roofline.model.run import Run, private_levels
from roofline.model.struct import Value

MEANINGS = {
    "A": "steady: differences of a few percent can be told apart",
    "B": "sound, with conditions that this run could not control",
    "C": "disturbed: trust ratios within the run, not small differences between runs",
    "D": "not fit for comparison",
}
"""What each letter means, best first."""
STEADY_COMPUTE = 0.02
"""Launches whose compute ceilings lie further apart, in all, had no steady core ..."""
STEADY_CACHE = 0.03
"""... or, for the caches of one core, no steady cache."""
UNSTEADY = 0.10
"""Twice and more of that is no disturbance but another machine."""
STEADY_SHARED = 0.05
"""The same for what is shared with neighbours: the last cache and DRAM."""
FEW_SPOILED, MANY_SPOILED = 0.05, 0.25
"""Shares of kernels without a usable number that cost one and two grades."""
MANY_DEGRADED = 0.25
"""Share of kernels that carry a doubt that costs a grade."""
NAMED = 3
_GRAVEST = 2
"""Reasons that fit a line which is about something else."""

_UNFIT = ("THROTTLE", "UNPINNED", "OVERSUB", "CODEGEN", "CLOCKBACK")
_DISTURBED = ("BUSY", "STEAL", "TURBO", "SMT", "CACHE-BAD", "FIRSTTOUCH")
_UNCONTROLLED = ("VM", "GOVERNOR", "NOCPUFREQ", "LEVELS", "LLC", "THP", "HYBRID", "CPUCOUNT", "TURBO_ON", "NO_LOCK")


class Grade(Value, frozen=True, kw_only=True):
    """A letter from A (best) to D, and what costs the grades above it."""

    letter: str
    reasons: tuple[str, ...] = ()
    """What was found, in words, gravest first; empty for A."""

    @property
    def meaning(self) -> str:
        """What the letter means."""
        return MEANINGS[self.letter]

    @property
    def gravest(self) -> str:
        """The first reasons, for one line of text that is not the grade's own, and how many more there are."""
        more = len(self.reasons) - _GRAVEST
        return "; ".join(self.reasons[:_GRAVEST]) + (f"; and {more} more" if more > 0 else "")


def grade_of(run: Run) -> Grade:
    """Return the grade of a run: the worst letter that anything found in it asks for, with all of the reasons."""
    everything = [*_of_conditions(run), *_of_ceilings(run), *_of_kernels(run)]
    found = sorted(everything, key=lambda pair: pair[0], reverse=True)
    return Grade(letter=found[0][0] if found else "A", reasons=tuple(dict.fromkeys(reason for _, reason in found)))


def _of_conditions(run: Run) -> Iterator[tuple[str, str]]:
    codes = dict.fromkeys(caveat.code for caveat in run.caveats)
    for letter, listed in (("D", _UNFIT), ("C", _DISTURBED), ("B", _UNCONTROLLED)):
        named = [code for code in codes if code in listed]
        if named:
            yield letter, f"caveat{'s' if len(named) > 1 else ''} {', '.join(named)}"
    if not run.complete:
        yield "C", f"the run is incomplete ({run.reason or 'reason unknown'})"


def _of_ceilings(run: Run) -> Iterator[tuple[str, str]]:
    private = private_levels(run.levels)
    ceilings: list[Ceiling] = [ceiling for ceiling in run.ceilings.all if ceiling.launches]
    if not ceilings:
        yield "D", "there is no ceiling"
        return
    if max(len(ceiling.launches) for ceiling in ceilings) == 1:
        yield "B", "one launch: how far ceilings differ between launches is not known"
    compute = [c for c in ceilings if not isinstance(c, MemoryCeiling)]
    caches = [c for c in ceilings if _in(c, private)]
    kinds = (("compute ceilings", compute, STEADY_COMPUTE), ("ceilings of private caches", caches, STEADY_CACHE))
    for what, of_kind, steady in kinds:
        worst = _worst(of_kind, steady)
        if worst:
            letter = "D" if worst[0].spread > UNSTEADY else "C"
            yield letter, f"launches of {what} differ by more than {100 * steady:.0f} %: {_named(worst)}"
    shared = [c for c in ceilings if isinstance(c, MemoryCeiling) and not _in(c, private)]
    if worst := _worst(shared, STEADY_SHARED):
        yield (
            "C" if worst[0].spread > 4 * UNSTEADY else "B",
            f"launches of shared memory differ by more than {100 * STEADY_SHARED:.0f} %: {_named(worst)}",
        )
    if doubted := [ceiling.name for ceiling in run.ceilings.all if "MONO" in ceiling.caveats]:
        yield "C", f"{len(doubted)} ceilings contradict others (MONO)"
    if worthless := [ceiling.name for ceiling in run.ceilings.all if ceiling.invalid]:
        yield "C", f"{len(worthless)} ceilings are invalid"


def _of_kernels(run: Run) -> Iterator[tuple[str, str]]:
    crashed = [failure for failure in run.failures if failure.kind != "skipped"]
    count = len(run.measurements) + len(crashed)
    if not count:
        return
    spoiled = sum(not measurement.drawable for measurement in run.measurements) + len(crashed)
    share = spoiled / count
    if share > FEW_SPOILED:
        yield (
            "D" if share > MANY_SPOILED else "C",
            f"{spoiled} of {count} measurements of kernels have no usable number",
        )
    elif spoiled:
        yield "B", f"{spoiled} of {count} measurements of kernels {'has' if spoiled == 1 else 'have'} no usable number"
    degraded = [measurement for measurement in run.measurements if measurement.status == "degraded"]
    if len(degraded) > MANY_DEGRADED * count:
        codes = dict.fromkeys(code for measurement in degraded for code in measurement.status_codes)
        yield "C", f"{len(degraded)} of {count} measurements of kernels are degraded ({', '.join(codes)})"


def _in(ceiling: Ceiling, private: tuple[str, ...]) -> bool:
    return isinstance(ceiling, MemoryCeiling) and ceiling.level in private


def _worst(ceilings: Sequence[Ceiling], steady: float) -> list[Ceiling]:
    apart = [ceiling for ceiling in ceilings if ceiling.spread > steady and not ceiling.raised_by]
    return sorted(apart, key=lambda ceiling: -ceiling.spread)


def _named(ceilings: Sequence[Ceiling]) -> str:
    named = ", ".join(f"{ceiling.name} {100 * ceiling.spread:.0f} %" for ceiling in ceilings[:NAMED])
    return named + (f" and {len(ceilings) - NAMED} more" if len(ceilings) > NAMED else "")
