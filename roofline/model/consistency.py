"""Whether ceilings contradict each other: each alone may look sound."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from roofline.model.ceilings import AnyCeiling, Ceiling, Ceilings, ComputeCeiling, MemoryCeiling, level_order
from roofline.model.isa import register_bits
from roofline.model.statistics import median

LEAST_SCALING = 0.9
"""Share of (one core's rate x cores) that a private ceiling must reach to be believed at once."""
LEAST_WIDENING = 0.97
"""Share of a narrower register's rate that a wider one must reach."""
LEAST_NEARNESS = 0.95
"""Share of a further level's rate that a nearer one must reach."""
FEW_CLOCKS = 2
"""Fewer clocks tell nothing of another one."""
STEADY_CLOCK = 0.05
"""Ceilings of one ISA and thread count hold clocks within this share of their median."""
DOUBTS = ("MONO", "CLOCK")
"""The codes that `doubts` gives."""


def doubts(ceiling: Ceiling, ceilings: Ceilings, private_levels: Collection[str]) -> tuple[str, ...]:
    """Return the codes of what makes a ceiling hard to believe beside the others; empty when nothing does.

    MONO: what each core has to itself (arithmetic, and the caches in `private_levels`) should grow with the cores; a
    wider register should not be slower than a narrower one, nor a nearer level slower than one further away. CLOCK:
    one ISA on as many threads should hold one clock; else what is said per cycle is wrong.
    """
    others = [other for other in ceilings.all if other.name != ceiling.name]
    found = []
    if any(_is_below(ceiling, other, private_levels) for other in others):
        found.append("MONO")
    clocks_hz = [c.clock_hz for c in others if (c.isa, c.threads) == (ceiling.isa, ceiling.threads) and c.clock_hz]
    if len(clocks_hz) >= FEW_CLOCKS and abs(ceiling.clock_hz / median(clocks_hz) - 1) > STEADY_CLOCK:
        found.append("CLOCK")
    return tuple(found)


def doubted(ceilings: Ceilings, private_levels: Collection[str]) -> Ceilings:
    """Return the ceilings, each with the codes of what contradicts it beside all others."""

    def marked(ceiling: AnyCeiling) -> AnyCeiling:
        known: tuple[str, ...] = tuple(code for code in ceiling.caveats if code not in DOUBTS)
        return replace(ceiling, caveats=(*known, *doubts(ceiling, ceilings, private_levels)))

    return Ceilings(compute=tuple(map(marked, ceilings.compute)), memory=tuple(map(marked, ceilings.memory)))


STORE_SHARES = {"copy": 2 / 3, "triad": 3 / 4}
"""What plain stores reach of non-temporal ones when every line that is written is fetched first: bytes counted over
bytes moved."""
EVADES = 0.08
"""More than that by so much, and some lines are not fetched."""


def streamed_patterns(ceilings: Ceilings) -> tuple[str, ...]:
    """Return the DRAM ceilings whose plain stores seem to skip the fetch of what they overwrite, in words.

    Cores of ARM do so after some full lines (write streaming), Intel's from Ice Lake on when memory is loaded
    (SpecI2M). Then the bytes that a write-allocate cache moves are fewer than are counted for it.
    """
    found = []
    for ceiling in ceilings.memory:
        expected = STORE_SHARES.get(ceiling.pattern)
        passing = ceilings.named(ceiling.name.replace(f" {ceiling.pattern} ", f" nt_{ceiling.pattern} "))
        if expected is None or ceiling.level != "DRAM" or not isinstance(passing, MemoryCeiling):
            continue
        if {"LAUNCHES", "NO_FLAT_TOP"} & {*ceiling.own_caveats, *passing.own_caveats}:
            continue  # memory that varies so much tells nothing of its stores
        ratio = ceiling.byte_per_s / passing.byte_per_s
        if ratio >= expected + EVADES:
            found.append(f"{ceiling.name} reaches {ratio:.2f} of its nt_ form, expected at most {expected:.2f}")
    return tuple(found)


def _is_below(ceiling: Ceiling, other: Ceiling, private_levels: Collection[str]) -> bool:
    """Whether a ceiling is too low beside another one that it should reach."""
    rate, reached = ceiling.attainable_flop_per_s(1.0), other.attainable_flop_per_s(1.0)
    if isinstance(ceiling, MemoryCeiling) and isinstance(other, MemoryCeiling):
        if (ceiling.pattern, ceiling.isa, ceiling.threads) == (other.pattern, other.isa, other.threads):
            nearer = level_order(ceiling.level) < level_order(other.level)
            return nearer and ceiling.level in private_levels and rate < LEAST_NEARNESS * reached
        if (ceiling.pattern, ceiling.isa, ceiling.level) != (other.pattern, other.isa, other.level):
            return False
        private = ceiling.level in private_levels
    elif isinstance(ceiling, ComputeCeiling) and isinstance(other, ComputeCeiling):
        if (ceiling.op, ceiling.dtype) != (other.op, other.dtype):
            return False
        if ceiling.threads == other.threads:
            return register_bits(ceiling.isa) > register_bits(other.isa) and rate < LEAST_WIDENING * reached
        private = ceiling.isa == other.isa
    else:
        return False
    return private and other.threads == 1 < ceiling.threads and rate < LEAST_SCALING * ceiling.threads * reached
