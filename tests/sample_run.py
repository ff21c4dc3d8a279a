"""A rich run that nobody measured: what the reading wing is tested with. Every call returns equal values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import exp, log
from random import Random
from zlib import crc32

from sample_host import EFFECTIVE_BYTES, KIB, MIB, sample_environment, sample_levels, sample_machine

from roofline.model.ceilings import Audit, Ceiling, Ceilings, ComputeCeiling, MemoryCeiling
from roofline.model.launch import Launch
from roofline.model.measurement import Measurement
from roofline.model.roof import roof_of
from roofline.model.run import Caveat, Failure, Run, SweepPoint
from roofline.model.work import Work

CLOCK_HZ = 3.66e9
ITEM_BYTES = {"f64": 8, "f32": 4}
REGISTER = {"scalar": "xmm (scalar)", "sse2": "xmm", "avx2": "ymm", "avx512": "zmm"}
F64_FLOP_PER_S = {"scalar": 14.6e9, "sse2": 29.3e9, "avx2": 58.6e9, "avx512": 58.7e9}
"""One thread; the double-pumped 512-bit units of this core gain nothing over 256-bit ones."""
BYTE_PER_S = {
    "L1": {"load": 233e9, "update": 210e9, "store": 117e9, "copy": 235e9, "triad": 350e9},
    "L2": {"load": 117e9, "update": 88e9, "store": 58e9, "copy": 92e9, "triad": 101e9},
    "L3": {"load": 99e9, "update": 70e9, "store": 51e9, "copy": 72e9, "triad": 78e9},
    "DRAM": {"load": 34e9, "update": 31e9, "store": 15e9, "copy": 23e9, "triad": 24.6e9}
    | {"nt_store": 28e9, "nt_copy": 29e9, "nt_triad": 30.4e9},
}
"""One thread, widest vectors."""
SCALAR_BYTE_PER_S = 36e9


@dataclass(frozen=True)
class Sketch:
    """One kernel of the sample: its arithmetic per n and how near it comes to its own ceiling."""

    kernel: str
    isa: str | None
    levels: tuple[str, ...]
    share: float


EVERY_LEVEL = ("L1", "L2", "L3", "DRAM")
SKETCHES = (
    Sketch("stream.copy", "avx2", EVERY_LEVEL, 0.93),
    Sketch("stream.scale", "avx2", EVERY_LEVEL, 0.91),
    Sketch("stream.add", "avx2", EVERY_LEVEL, 0.88),
    Sketch("stream.triad", "avx2", EVERY_LEVEL, 0.90),
    Sketch("blas.axpy", "avx2", ("L2", "DRAM"), 0.89),
    Sketch("blas.dot", "avx2", ("L2", "DRAM"), 0.83),
    Sketch("gemv.naive", "scalar", ("DRAM",), 0.27),
    Sketch("gemv.blocked", "avx2", ("DRAM",), 0.84),
    Sketch("gemv.blas", None, ("DRAM",), 0.94),
    Sketch("gemm.naive", "scalar", ("L2",), 0.11),
    Sketch("gemm.interchanged", "avx2", ("L2",), 0.31),
    Sketch("gemm.blocked", "avx2", ("L3",), 0.46),
    Sketch("gemm.blas", None, ("L3",), 0.89),
)
FOOT = {"gemv": "gemv.naive", "gemm": "gemm.naive"}
"""The kernel that the others of a family improve."""
STATUS = {
    ("stream.add", "L3", "f64", 2): ("degraded", ("STEAL",)),
    ("stream.scale", "L1", "f64", 1): ("invalid", ("TOO_SHORT",)),
    ("stream.triad", "L2", "f64", 1): ("above_roof", ("SMALLER_LEVEL",)),
}


def sample_run() -> Run:
    """Return a run of all kernels on a two-core AMD virtual machine, with one of every kind of trouble."""
    rng = Random(2024)
    ceilings = Ceilings()
    for ceiling in (*_compute(rng), *_memory(rng)):
        ceilings = ceilings.with_ceiling(ceiling.rederived())
    measurements = tuple(
        _measurement(sketch, level, dtype, threads, ceilings, rng)
        for dtype, threads, sketch in product(("f64", "f32"), (1, 2), SKETCHES)
        for level in sketch.levels
    )
    return Run(
        id="20261104-101500-a1b2",
        started_utc="2026-11-04T10:15:00Z",
        label="sample",
        revision="0123abc+dirty",
        argv=("bench", "all"),
        plan={"mode": "default", "budget_s": 60, "threads": [1, 2], "dtypes": ["f64", "f32"]},
        machine=sample_machine(),
        environment=sample_environment(),
        caveats=(
            Caveat(code="VM", message="virtual machine: other guests share the caches and the memory"),
            Caveat(code="NO_CPUFREQ", message="the governor is unknown: the held clock is measured instead"),
            Caveat(code="L3_SMALLER", message="L3 holds 16 MiB of the 32 MiB reported: ceilings use what was measured"),
        ),
        ceilings=ceilings,
        levels=sample_levels(),
        sweep=tuple(_sweep(rng)),
        measurements=measurements,
        failures=(
            Failure(
                kind="wrong",
                point="user.blur n=512 f64 ×1",
                message="largest error 0.31, expected at most 1e-12; check the borders",
            ),
        ),
        elapsed_s=51.3,
        complete=True,
    )


def _compute(rng: Random) -> list[ComputeCeiling]:
    ceilings = []
    for (isa, one), dtype, threads in product(F64_FLOP_PER_S.items(), ("f64", "f32"), (1, 2)):
        lanes_gain = 2 if dtype == "f32" and isa != "scalar" else 1
        best = one * lanes_gain * (1 if threads == 1 else 1.97)
        flops = 2**24 * threads * lanes_gain
        samples = tuple(flops / best * rate for rate in _slower(rng, 9, 0.01))
        ceiling = ComputeCeiling(
            isa=isa,
            dtype=dtype,
            op="fma",
            threads=threads,
            flop_per_s=flops / min(samples),
            flop_per_cycle=best / threads / CLOCK_HZ,
            clock_hz=CLOCK_HZ,
            chains=12,
            audited=True,
            audit=Audit(instructions={"vfmadd231pd": 12}, register=REGISTER[isa], chains=12, loop_instructions=14),
            launches=(Launch(amount=flops, samples_s=samples, clock_samples_hz=(CLOCK_HZ,) * len(samples)),),
        )
        ceilings.append(ceiling)
    return ceilings


def _memory(rng: Random) -> list[MemoryCeiling]:
    ceilings = []
    for isa, threads, (level, patterns) in product(("scalar", "avx2", "avx512"), (1, 2), BYTE_PER_S.items()):
        gain = {1: 1.0, 2: 1.35 if level == "DRAM" else 1.96}[threads]
        for pattern, widest in patterns.items():
            one = widest * (0.98 if isa == "avx2" else 1.0)
            best = gain * (min(0.95 * one, SCALAR_BYTE_PER_S) if isa == "scalar" else one)
            set_bytes = 128 * MIB if EFFECTIVE_BYTES[level] is None else EFFECTIVE_BYTES[level] // 2
            moved = max(set_bytes, 16 * MIB) * threads
            samples = tuple(moved / best * rate for rate in _slower(rng, 9, 0.02))
            ceiling = MemoryCeiling(
                level=level,
                pattern=pattern,
                isa=isa,
                threads=threads,
                byte_per_s=moved / min(samples),
                byte_per_cycle=best / threads / CLOCK_HZ,
                clock_hz=CLOCK_HZ,
                working_set_bytes=set_bytes,
                unroll=8,
                audited=True,
                audit=Audit(instructions={"vmovapd": 8}, register=REGISTER[isa], loop_instructions=11),
                launches=(Launch(amount=moved, samples_s=samples, clock_samples_hz=(CLOCK_HZ,) * len(samples)),),
            )
            ceilings.append(ceiling)
    return ceilings


def _sweep(rng: Random) -> list[SweepPoint]:
    """Forty sizes from 4 KiB to 128 MiB: a smooth step down behind each level."""
    points = []
    for step in range(40):
        size_bytes = int(4 * KIB * 2 ** (15 * step / 39)) // 64 * 64
        rate = BYTE_PER_S["L1"]["load"]
        for inner, outer in (("L1", "L2"), ("L2", "L3"), ("L3", "DRAM")):
            beyond = 1 / (1 + (size_bytes / (1.25 * EFFECTIVE_BYTES[inner])) ** -8)
            rate *= (BYTE_PER_S[outer]["load"] / BYTE_PER_S[inner]["load"]) ** beyond
        points.append(SweepPoint(size_bytes=size_bytes, byte_per_s=rate * rng.uniform(0.97, 1.0)))
    return points


def _slower(rng: Random, count: int, spread: float) -> list[float]:
    """Factors of at least 1: noise only ever makes a sample slower."""
    return [1 + spread * rng.expovariate(1.0) for _ in range(count)]


def _size(kernel: str, level: str, item_bytes: int, threads: int) -> int:
    """Problem size whose footprint lies well inside the level."""
    held_bytes = threads * (EFFECTIVE_BYTES[level] or 256 * MIB) // 2
    if kernel.startswith("gemm."):
        return int((held_bytes / 3 / item_bytes) ** 0.5) // 16 * 16
    if kernel.startswith("gemv."):
        return int((held_bytes / item_bytes) ** 0.5) // 64 * 64
    return held_bytes // 3 // item_bytes // 64 * 64


def _work(kernel: str, n: int, size: int) -> Work:
    if kernel.startswith("gemm."):
        return Work(flops=2 * n**3, read_bytes=2 * n * n * size, write_bytes=n * n * size, allocate_bytes=n * n * size)
    if kernel.startswith("gemv."):
        return Work(flops=2 * n * n, read_bytes=(n * n + n) * size, write_bytes=n * size, allocate_bytes=n * size)
    flops, read, write, allocate = {
        "stream.copy": (0, 1, 1, 1),
        "stream.scale": (1, 1, 1, 1),
        "stream.add": (1, 2, 1, 1),
        "stream.triad": (2, 2, 1, 1),
        "blas.axpy": (2, 2, 1, 0),
        "blas.dot": (2, 2, 0, 0),
    }[kernel]
    arrays = Work(
        flops=flops * n, read_bytes=read * n * size, write_bytes=write * n * size, allocate_bytes=allocate * n * size
    )
    return arrays


def _measurement(sketch: Sketch, level: str, dtype: str, threads: int, ceilings: Ceilings, rng: Random) -> Measurement:
    n = _size(sketch.kernel, level, ITEM_BYTES[dtype], threads)
    work = _work(sketch.kernel, n, ITEM_BYTES[dtype])
    isa = sketch.isa or "avx512"
    roof = roof_of(ceilings, dtype=dtype, threads=threads, level=level, work=work, isa=isa)
    bound: Ceiling | None = roof.bound(work)
    assert bound is not None
    status, codes = STATUS.get((sketch.kernel, level, dtype, threads), ("ok", ()))
    share = 1.31 if status == "above_roof" else min(0.97, sketch.share * exp(rng.gauss(0, 0.04)))
    roof_rate = bound.flop_per_s if isinstance(bound, ComputeCeiling) else bound.byte_per_s
    weather = [exp(rng.gauss(log(0.97), 0.01)) for _ in range(13)]
    least_s = roof.least_s(work)
    foot = FOOT.get(sketch.kernel.partition(".")[0])
    return Measurement(
        kernel=sketch.kernel,
        improves=None if foot == sketch.kernel else foot,
        variant="parallel" if threads > 1 else "serial",
        n=n,
        dtype=dtype,
        threads=threads,
        digest=f"{crc32(sketch.kernel.encode()):08x}",
        compiled=sketch.isa is not None,
        work=work,
        level=level,
        ceiling=bound.name,
        repeats=max(1, int(2e-3 / (least_s / share))),
        samples_s=tuple(least_s / share / held * exp(rng.gauss(0, 0.004)) for held in weather[:-1]),
        roof_samples=tuple(roof_rate * held for held in weather),
        clock_samples_hz=(CLOCK_HZ,) * 12,
        error=1e-16,
        tolerance=1e-12 if dtype == "f64" else 1e-5,
        vector_register=None if sketch.isa is None else REGISTER[sketch.isa].removeprefix("xmm (").removesuffix(")"),
        stopped="precise",
        status=status,
        status_codes=codes,
    )
