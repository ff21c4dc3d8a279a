"""Ceilings with nothing in them but what a test says."""

from __future__ import annotations

from roofline.model.ceilings import ComputeCeiling, MemoryCeiling


def compute(flop_per_s: float, *, isa: str = "avx2", dtype: str = "f64", threads: int = 1) -> ComputeCeiling:
    """Return a compute ceiling of this height."""
    return ComputeCeiling(
        isa=isa,
        dtype=dtype,
        op="fma",
        threads=threads,
        flop_per_s=flop_per_s,
        flop_per_cycle=16.0,
        clock_hz=3e9,
        chains=10,
        audited=True,
    )


def memory(
    byte_per_s: float, *, level: str = "DRAM", pattern: str = "triad", isa: str = "avx2", threads: int = 1
) -> MemoryCeiling:
    """Return a memory ceiling of this slope."""
    return MemoryCeiling(
        level=level,
        pattern=pattern,
        isa=isa,
        threads=threads,
        byte_per_s=byte_per_s,
        byte_per_cycle=8.0,
        clock_hz=3e9,
        working_set_bytes=1 << 20,
        unroll=4,
        audited=True,
    )
