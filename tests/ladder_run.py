"""The sample run with ladders of every shape for its kernels: tall, over threads, over dtypes, over intensities."""

from __future__ import annotations

from msgspec.structs import replace
from sample_run import sample_run

from roofline.model.ceilings import ComputeCeiling
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.model.work import Work


def rung(
    kernel: str,
    rate: float,
    *,
    improves: str | None = None,
    register: str | None = "ymm",
    n: int = 1024,
    dtype: str = "f64",
    threads: int = 1,
    level: str = "L3",
    work: Work | None = None,
    own: Work | None = None,
    status: str = "ok",
) -> Measurement:
    """Return a measurement that does `rate` flop/s of the job, by default a matrix product."""
    size = {"f64": 8, "f32": 4, "i8": 1}[dtype]
    job = work or Work(
        flops=2 * n**3, read_bytes=2 * n * n * size, write_bytes=n * n * size, allocate_bytes=n * n * size
    )
    return Measurement(
        kernel=kernel,
        n=n,
        dtype=dtype,
        threads=threads,
        work=job,
        own_work=own,
        improves=improves,
        level=level,
        repeats=1,
        samples_s=(job.flops / rate,) * 7,
        vector_register=register,
        status=status,
    )


def gemm(n: int, dtype: str, scale: float, *, whole: bool = True) -> list[Measurement]:
    """Return the ladder of the matrix product on one and two threads; `whole` has the slow rungs too."""
    rates = {"interchanged": 20.4e9, "blocked": 24.8e9, "packed": 31.0e9, "register": 54.1e9, "blas": 47.4e9}
    rates = ({"naive": 2.68e9} if whole else {}) | rates
    found = []
    for threads, gain in ((1, 1.0), (2, 1.9)):
        for name, rate in (rates | ({"parallel": 56.3e9} if threads == 2 else {})).items():
            register = {"naive": "scalar", "blas": None}.get(name, "zmm")
            foot = None if name == "naive" else "gemm.naive"
            level = "L2" if n < 256 else "L3"
            kernel = f"gemm.{name}"
            found.append(
                rung(
                    kernel, rate * scale * gain, improves=foot, register=register, n=n, dtype=dtype, threads=threads,
                    level=level,
                )
            )  # fmt: skip
    return found


def attention() -> list[Measurement]:
    """Return attention that writes its scores to memory, and attention that keeps them."""
    n, width = 2048, 64
    job = Work(flops=4 * n * n * width + 3 * n * n, read_bytes=3 * n * width * 8, write_bytes=n * width * 8)
    scores = replace(job, read_bytes=job.read_bytes + 2 * n * n * 8, write_bytes=job.write_bytes + 2 * n * n * 8)
    naive = {"work": job, "n": n, "register": "zmm"}
    return [
        rung("attention.naive", 9.1e9, own=scores, level="DRAM", **naive),
        rung("attention.flash", 41.0e9, improves="attention.naive", level="L3", **naive),
    ]


def quantised() -> list[Measurement]:
    """Return a matrix-vector product in f32, with int8 weights, and in int8: sized by level, so with different n."""

    def gemv(kernel: str, rate: float, weight_bytes: int, dtype: str, n: int) -> Measurement:
        work = Work(flops=2 * n * n, read_bytes=n * n * weight_bytes + 4 * n, write_bytes=4 * n, allocate_bytes=4 * n)
        foot = None if kernel == "quantised.gemv_f32" else "quantised.gemv_f32"
        return rung(kernel, rate, improves=foot, register="zmm", n=n, dtype=dtype, level="DRAM", work=work)

    return [
        gemv("quantised.gemv_f32", 14.2e9, 4, "f32", 4096),
        gemv("quantised.gemv_w8", 38.0e9, 1, "f32", 8192),
        gemv("quantised.gemv_i8", 61.0e9, 1, "i8", 8192),
    ]


def reduction() -> list[Measurement]:
    """Return two ladders of one family: more accumulators, and compensated summation, which does more flops."""
    found = []
    for job, flops in (("dot", 2), ("sum", 1)):
        work = Work(flops=flops * 4096, read_bytes=flops * 4096 * 8, write_bytes=0)
        kahan = replace(work, flops=4 * work.flops)
        foot = f"reduction.{job}_1"
        settings = {"work": work, "n": 4096, "level": "L1"}
        found += [
            rung(foot, flops * 0.92e9, register="scalar", **settings),
            rung(f"reduction.{job}_4", flops * 3.6e9, improves=foot, register="scalar", **settings),
            rung(f"reduction.{job}_8", flops * 13.1e9, improves=foot, register="zmm", **settings),
            rung(f"reduction.{job}_kahan", flops * 0.24e9, improves=foot, register="scalar", own=kahan, **settings),
        ]
    return found


def ladder_run() -> Run:
    """Return the run; every call returns equal values."""
    run = sample_run()
    integer = [
        replace(ceiling, dtype="i8", op="dot", flop_per_s=4 * ceiling.flop_per_s)
        for ceiling in run.ceilings.compute
        if ceiling.dtype == "f32" and ceiling.isa != "scalar"
    ]
    compute: tuple[ComputeCeiling, ...] = (*run.ceilings.compute, *integer)
    measurements = [
        *gemm(248, "f64", 0.9),
        *gemm(1000, "f64", 1.0),
        *gemm(2000, "f64", 1.02, whole=False),
        *gemm(1000, "f32", 1.9),
        *attention(),
        *quantised(),
        *reduction(),
        rung("stream.triad", 1.8e9, work=Work(flops=2048, read_bytes=16384, write_bytes=8192)),
        rung("stream.add", 0.9e9, work=Work(flops=1024, read_bytes=16384, write_bytes=8192)),
        rung("conv.naive", 3.0e9, register="scalar"),
    ]
    return replace(run, ceilings=replace(run.ceilings, compute=compute), measurements=tuple(measurements))
