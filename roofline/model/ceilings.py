"""Measured ceilings: what the machine can do at most, with the proof of each number."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar, TypeVar

from msgspec.structs import replace

from roofline.model.isa import DTYPE_BITS, register_bits
from roofline.model.launch import (
    Launch,
    burst_per_s,
    caveats_of,
    clock_hz_of,
    interval_per_s,
    invalid_of,
    per_cycle_of,
    spread_of,
    sustained_per_s,
)
from roofline.model.struct import Value


class Audit(Value, frozen=True, kw_only=True):
    """What the assembly of a ceiling's hot loop was seen to hold."""

    instructions: dict[str, int]
    """Mnemonics that do the ceiling's work, with their count in one turn of the hot loop."""
    register: str
    """Width class that they work on: `xmm`, `ymm`, `zmm`, `v`, or `xmm (scalar)`."""
    chains: int | None = None
    """Independent accumulators seen (compute ceilings)."""
    loop_instructions: int = 0
    """All instructions in one turn of the hot loop."""


class Sampled(Value, frozen=True, kw_only=True):
    """What compute and memory ceilings have in common: how they were measured, and how far they can be trusted."""

    threads: int
    clock_hz: float
    """Clock held, from the add chain timed right after each sample: median over the best third of the samples."""
    audited: bool
    """True when the assembly was read and proved; a ceiling that fails its audit does not exist."""
    audit: Audit | None = None
    launches: tuple[Launch, ...] = ()
    """The samples, by launch of a worker, in order."""
    caveats: tuple[str, ...] = ()
    """Codes of what degrades it."""
    invalid: tuple[str, ...] = ()
    """Codes of what makes it worthless: kept, never a roof."""
    raised_by: str = ""
    """Name of the kernel beside which this ceiling proved too low, was measured again (its last launch) and was
    raised; mostly empty."""

    @property
    def is_roof(self) -> bool:
        """True when kernels may be held against it."""
        return self.audited and not self.invalid

    @property
    def status(self) -> str:
        """How its measurement ended: `ok`, `degraded` or `invalid`."""
        return "invalid" if self.invalid else "degraded" if self.caveats else "ok"

    @property
    def per_s(self) -> float:
        """The number that follows from the samples: flop/s or B/s."""
        return self.launches[-1].best_per_s if self.raised_by else burst_per_s(self.launches)

    @property
    def clocks_hz(self) -> tuple[float, ...]:
        """The clock held after each of its samples."""
        return tuple(hz for launch in self.launches for hz in launch.clock_samples_hz)

    @property
    def own_caveats(self) -> tuple[str, ...]:
        """The codes that follow from its own samples; `consistency` adds those that follow from other ceilings."""
        return (*caveats_of(self.launches), "RAISED") if self.raised_by else caveats_of(self.launches)

    @property
    def sustained_per_s(self) -> float:
        """The median sample instead of the best, by the same rule; 0 without samples."""
        return self.launches[-1].median_per_s if self.raised_by else sustained_per_s(self.launches)

    @property
    def interval_per_s(self) -> tuple[float, float] | None:
        """The exact 95 % interval over launches; None below six launches."""
        return None if self.raised_by else interval_per_s(self.launches)

    @property
    def spread(self) -> float:
        """(Highest - lowest) / median of the launches' best samples."""
        return spread_of(self.launches)


class ComputeCeiling(Sampled, frozen=True, kw_only=True):
    """A rate of arithmetic that no kernel of this dtype, ISA and thread count can exceed."""

    flat_within: ClassVar[float] = 0.01
    """The best three samples of a launch agree so closely, or it has no flat top."""

    isa: str
    dtype: str
    op: str
    """`fma` (2 flop), `add` or `mul` (1 flop), `mul_add` where there is no FMA, `fma_add` (3 flop for two), or `dot`:
    int8 times int8, added to int32 (2 operations a product)."""
    flop_per_s: float
    """All threads together: the best sample, median over launches. For `i8` these are operations on whole numbers, as
    everywhere."""
    flop_per_cycle: float
    """Per core at the clock held in the same sample: median over the best third of the samples."""
    chains: int
    """Independent accumulators per thread."""

    @property
    def name(self) -> str:
        """What the roof is called, e.g. `avx512 fma f64 ×2`."""
        return f"{self.isa} {self.op} {self.dtype} ×{self.threads}"

    def attainable_flop_per_s(self, flop_per_byte: float) -> float:
        """Return the limit at this intensity: the same for all."""
        return self.flop_per_s

    def rederived(self) -> ComputeCeiling:
        """Return it with every number that follows from the samples made anew; as it is without samples."""
        if not any(launch.samples_s for launch in self.launches):
            return self
        return replace(
            self,
            flop_per_s=self.per_s,
            flop_per_cycle=per_cycle_of(self.launches, self.threads),
            clock_hz=clock_hz_of(self.launches),
            caveats=self.own_caveats,
            invalid=invalid_of(self.launches),
        )


class MemoryCeiling(Sampled, frozen=True, kw_only=True):
    """A bandwidth that no kernel with its data in this level can exceed, for one access pattern."""

    flat_within: ClassVar[float] = 0.02
    """The best three samples of a launch agree so closely, or it has no flat top."""

    level: str
    """`L1`, `L2`, `L3`, `DRAM`."""
    pattern: str
    """`load`, `update`, `store`, `copy`, `triad`, or `nt_store`, `nt_copy`, `nt_triad` with non-temporal stores."""
    isa: str
    byte_per_s: float
    """All threads together, counted as STREAM does (no write-allocate): the best sample, median over launches."""
    byte_per_cycle: float
    """Per core at the clock held in the same sample: median over the best third of the samples."""
    working_set_bytes: int
    """Per thread, all its arrays together."""
    unroll: int
    """Vectors per array in one turn of the hot loop."""
    segments: int = 1
    """Equal parts of each array that are walked at once."""
    ahead_bytes: int = 0
    """How far ahead of its load each line is fetched into the second cache; 0 for not at all."""

    @property
    def name(self) -> str:
        """What the roof is called, e.g. `DRAM triad avx2 ×2`."""
        return f"{self.level} {self.pattern} {self.isa} ×{self.threads}"

    def attainable_flop_per_s(self, flop_per_byte: float) -> float:
        """Return the limit at this intensity: intensity times bandwidth."""
        return flop_per_byte * self.byte_per_s

    def rederived(self) -> MemoryCeiling:
        """Return it with every number that follows from the samples made anew; as it is without samples."""
        if not any(launch.samples_s for launch in self.launches):
            return self
        return replace(
            self,
            byte_per_s=self.per_s,
            byte_per_cycle=per_cycle_of(self.launches, self.threads),
            clock_hz=clock_hz_of(self.launches),
            caveats=self.own_caveats,
            invalid=invalid_of(self.launches),
        )


Ceiling = ComputeCeiling | MemoryCeiling
AnyCeiling = TypeVar("AnyCeiling", ComputeCeiling, MemoryCeiling)

ROOF_OPS = ("fma", "mul_add", "dot")
"""Operations whose ceilings are roofs: `dot` for i8, `fma` (`mul_add` without it) for the others. `add` and `mul` are
lower ones for code without FMA; `fma_add`, higher on cores with ports for adds alone, needs one add beside every FMA,
which no matrix product has. Matrix units (AMX, SME, SMMLA) are beyond these roofs."""
PATTERN_WRITE_SHARE = {"load": 0.0, "update": 1 / 2, "triad": 1 / 3, "copy": 1 / 2, "store": 1.0}
"""Written bytes / all bytes of the plain patterns: a kernel is held against the pattern with the nearest share."""
ALLOCATING_PATTERNS = ("triad", "copy", "store")
"""Patterns that write lines which they do not read, so that a write-allocate cache fetches them in vain."""


class Ceilings(Value, frozen=True, kw_only=True):
    """All ceilings of one run."""

    compute: tuple[ComputeCeiling, ...] = ()
    memory: tuple[MemoryCeiling, ...] = ()

    @property
    def all(self) -> tuple[Ceiling, ...]:
        """Compute ceilings, then memory ceilings."""
        return (*self.compute, *self.memory)

    def best_compute(self, dtype: str, threads: int, isa: str | None = None) -> ComputeCeiling | None:
        """Return the compute roof for this dtype and thread count (and ISA, if given): the highest of ROOF_OPS."""
        return _highest(
            ceiling
            for ceiling in self.compute
            if ceiling.is_roof
            and ceiling.dtype == dtype
            and ceiling.threads == threads
            and ceiling.op in ROOF_OPS
            and isa in (None, ceiling.isa)
        )

    def best_memory(
        self, level: str, threads: int, patterns: Collection[str] | None = None, isa: str | None = None
    ) -> MemoryCeiling | None:
        """Return the highest memory ceiling of this level and thread count (of these patterns and ISA, if given)."""
        return _highest(
            ceiling
            for ceiling in self.memory
            if ceiling.is_roof
            and ceiling.level == level
            and ceiling.threads == threads
            and (patterns is None or ceiling.pattern in patterns)
            and isa in (None, ceiling.isa)
        )

    def named(self, name: str) -> Ceiling | None:
        """Return the ceiling with this name, or None."""
        return next((ceiling for ceiling in self.all if ceiling.name == name), None)

    @property
    def threads(self) -> tuple[int, ...]:
        """Thread counts for which there is any ceiling, ascending."""
        return tuple(sorted({ceiling.threads for ceiling in self.all}))

    @property
    def levels(self) -> tuple[str, ...]:
        """Memory levels for which there is a ceiling, nearest first."""
        return tuple(dict.fromkeys(sorted((c.level for c in self.memory), key=level_order)))

    def with_ceiling(self, ceiling: Ceiling) -> Ceilings:
        """Return these ceilings and one more; one that has its name gives way to it."""
        if isinstance(ceiling, ComputeCeiling):
            return Ceilings(compute=_with(self.compute, ceiling), memory=self.memory)
        return Ceilings(compute=self.compute, memory=_with(self.memory, ceiling))

    def with_launch(self, ceiling: Ceiling) -> Ceilings:
        """Return these ceilings grown by a ceiling's launches, with those that the one of its name has already.

        They come behind them, or before the one that raised it, which stays the last as long as no other kernel
        raises it more.
        """
        earlier = self.named(ceiling.name)
        if earlier is not None and earlier.raised_by and not ceiling.raised_by:
            launches = (*earlier.launches[:-1], *ceiling.launches, earlier.launches[-1])
            ceiling = replace(ceiling, launches=launches, raised_by=earlier.raised_by)
        elif earlier is not None:
            ceiling = replace(ceiling, launches=(*earlier.launches, *ceiling.launches))
        return self.with_ceiling(ceiling.rederived())


def level_order(level: str) -> tuple[int, str]:
    """Sort key for level names: L1, L2, ... and DRAM last."""
    return (1, level) if level == "DRAM" else (0, level)


def _with(ceilings: tuple[AnyCeiling, ...], new: AnyCeiling) -> tuple[AnyCeiling, ...]:
    """Return them in the order of the tables, whatever order they were measured in."""
    by_name = {ceiling.name: ceiling for ceiling in ceilings}
    by_name[new.name] = new
    return tuple(sorted(by_name.values(), key=_place))


def _place(ceiling: Ceiling) -> tuple[tuple[int, str], ...]:
    """Sort key: nearest level, narrowest register, then as the lists of operations, patterns and dtypes have them."""
    isa, threads = (register_bits(ceiling.isa), ceiling.isa), (ceiling.threads, "")
    if isinstance(ceiling, ComputeCeiling):
        return isa, _place_in(ROOF_OPS, ceiling.op), _place_in(DTYPE_BITS, ceiling.dtype), threads
    patterns = (*PATTERN_WRITE_SHARE, *(f"nt_{pattern}" for pattern in PATTERN_WRITE_SHARE))
    return level_order(ceiling.level), _place_in(patterns, ceiling.pattern), isa, threads


def _place_in(names: Iterable[str], name: str) -> tuple[int, str]:
    places = {known: place for place, known in enumerate(names)}
    return places.get(name, len(places)), name


def _highest(ceilings: Iterable[AnyCeiling]) -> AnyCeiling | None:
    return max(ceilings, key=lambda ceiling: ceiling.attainable_flop_per_s(1.0), default=None)
