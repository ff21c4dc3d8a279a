"""Measured ceilings: what the machine can do at most, with the proof of each number."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

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


CAVEAT_MEANINGS = {
    "NO_FLAT_TOP": "the best sample stands alone, so the ceiling may be too low; measure again",
    "CORES": "far below one core's times the cores, measured twice: they share what should be each core's own "
    "(hyperthreads, a hypervisor, other programs); measure again on a quiet machine",
    "CLOCK": "the clock held beside it is more than 5 % off the others' of this ISA and thread count, measured twice: "
    "the rate stands, what is said per cycle does not; measure again",
    "RAISED": "too low when it was measured: blocks beside a kernel were faster, so it was measured again then "
    "(`raised_by` in the archive names the kernel)",
    "WIDTH": "below a narrower register's, measured twice: disturbed, or the wide one lowers the clock; measure again",
}
"""What the codes in a ceiling's `caveats` tell."""


class ComputeCeiling(Value, frozen=True, kw_only=True):
    """A rate of arithmetic that no kernel of this dtype, ISA and thread count can exceed."""

    isa: str
    dtype: str
    op: str
    """`fma` (2 flop), `add` or `mul` (1 flop), `mul_add` where there is no FMA, `fma_add` (3 flop for two), or `dot`:
    int8 times int8, added to int32 (2 operations a product)."""
    threads: int
    flop_per_s: float
    """All threads together: the best sample. For `i8` these are operations on whole numbers, as everywhere."""
    flop_per_cycle: float
    """Per core at the clock held in the same sample: median over the best third of the samples."""
    clock_hz: float
    """Clock held, from the add chain timed right after each sample: median over the best third of the samples."""
    chains: int
    """Independent accumulators per thread."""
    audited: bool
    """True when the assembly was read and proved; a ceiling that fails its audit does not exist."""
    audit: Audit | None = None
    flops_per_sample: int = 0
    """Flops of all threads together in each sample."""
    samples_s: tuple[float, ...] = ()
    """Raw times, in order: last end minus first start over the threads."""
    clock_samples_hz: tuple[float, ...] = ()
    """Held clock after each sample, median over the threads."""
    caveats: tuple[str, ...] = ()
    raised_by: str = ""
    """Name of the kernel beside which this ceiling proved too low, was measured again and was raised; mostly empty."""

    @property
    def name(self) -> str:
        """What the roof is called, e.g. `avx512 fma f64 ×2`."""
        return f"{self.isa} {self.op} {self.dtype} ×{self.threads}"

    def attainable_flop_per_s(self, flop_per_byte: float) -> float:
        """Return the limit at this intensity: the same for all."""
        return self.flop_per_s


class MemoryCeiling(Value, frozen=True, kw_only=True):
    """A bandwidth that no kernel with its data in this level can exceed, for one access pattern."""

    level: str
    """`L1`, `L2`, `L3`, `DRAM`."""
    pattern: str
    """`load`, `update`, `store`, `copy`, `triad`, or `nt_store`, `nt_copy`, `nt_triad` with non-temporal stores."""
    isa: str
    threads: int
    byte_per_s: float
    """All threads together, counted as STREAM does (no write-allocate): the best sample."""
    byte_per_cycle: float
    """Per core at the clock held in the same sample: median over the best third of the samples."""
    clock_hz: float
    working_set_bytes: int
    """Per thread, all its arrays together."""
    unroll: int
    """Vectors per array in one turn of the hot loop."""
    segments: int = 1
    """Equal parts of each array that are walked at once."""
    ahead_bytes: int = 0
    """How far ahead of its load each line is fetched into the second cache; 0 for not at all."""
    audited: bool
    audit: Audit | None = None
    bytes_per_sample: int = 0
    """Bytes of all threads together in each sample."""
    samples_s: tuple[float, ...] = ()
    clock_samples_hz: tuple[float, ...] = ()
    caveats: tuple[str, ...] = ()
    raised_by: str = ""
    """Name of the kernel beside which this ceiling proved too low, was measured again and was raised; mostly empty."""

    @property
    def name(self) -> str:
        """What the roof is called, e.g. `DRAM triad avx2 ×2`."""
        return f"{self.level} {self.pattern} {self.isa} ×{self.threads}"

    def attainable_flop_per_s(self, flop_per_byte: float) -> float:
        """Return the limit at this intensity: intensity times bandwidth."""
        return flop_per_byte * self.byte_per_s


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
        """Compute ceilings, then memory ceilings, in the order in which they were measured."""
        return (*self.compute, *self.memory)

    def best_compute(self, dtype: str, threads: int, isa: str | None = None) -> ComputeCeiling | None:
        """Return the compute roof for this dtype and thread count (and ISA, if given): the highest of ROOF_OPS."""
        return _highest(
            ceiling
            for ceiling in self.compute
            if ceiling.audited
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
            if ceiling.audited
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


def level_order(level: str) -> tuple[int, str]:
    """Sort key for level names: L1, L2, ... and DRAM last."""
    return (1, level) if level == "DRAM" else (0, level)


def _with(ceilings: tuple[AnyCeiling, ...], new: AnyCeiling) -> tuple[AnyCeiling, ...]:
    by_name = {ceiling.name: ceiling for ceiling in ceilings}
    by_name[new.name] = new
    return tuple(by_name.values())


def _highest(ceilings: Iterable[AnyCeiling]) -> AnyCeiling | None:
    return max(ceilings, key=lambda ceiling: ceiling.attainable_flop_per_s(1.0), default=None)
