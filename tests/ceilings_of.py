"""Ceilings with nothing in them but what a test says."""

from __future__ import annotations

from roofline.model.ceilings import ComputeCeiling, MemoryCeiling
from roofline.model.launch import Launch

CLOCK_HZ = 3e9


def launch(*rates_per_s: float, amount: int = 10**9) -> Launch:
    """Return a launch whose samples had these rates; one rate for six samples."""
    rates = rates_per_s if len(rates_per_s) > 1 else rates_per_s * 6
    return Launch(
        amount=amount,
        samples_s=tuple(amount / rate for rate in rates),
        clock_samples_hz=(CLOCK_HZ,) * len(rates),
    )


def compute(flop_per_s: float, *, isa: str = "avx2", dtype: str = "f64", threads: int = 1) -> ComputeCeiling:
    """Return a compute ceiling of this height."""
    return ComputeCeiling(
        isa=isa,
        dtype=dtype,
        op="fma",
        threads=threads,
        flop_per_s=flop_per_s,
        flop_per_cycle=flop_per_s / threads / CLOCK_HZ,
        clock_hz=CLOCK_HZ,
        chains=10,
        audited=True,
        launches=(launch(flop_per_s),),
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
        byte_per_cycle=byte_per_s / threads / CLOCK_HZ,
        clock_hz=CLOCK_HZ,
        working_set_bytes=1 << 20,
        unroll=4,
        audited=True,
        launches=(launch(byte_per_s),),
    )
