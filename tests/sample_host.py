"""The machine and the environment of the sample run."""

from __future__ import annotations

from roofline.model.machine import Blas, Cache, Environment, Machine
from roofline.model.run import Level

KIB, MIB, GIB = 2**10, 2**20, 2**30
EFFECTIVE_BYTES = {"L1": 32 * KIB, "L2": 1 * MIB, "L3": 16 * MIB, "DRAM": None}


def sample_machine() -> Machine:
    """Return a two-core guest without cpufreq."""
    return Machine(
        cpu_model="AMD EPYC",
        microarchitecture="zen4",
        arch="x86_64",
        features=("avx", "avx2", "avx512f", "fma", "sse2"),
        isas=("scalar", "sse2", "avx2", "avx512"),
        sockets=1,
        cores=2,
        hardware_threads=2,
        numa_nodes=1,
        caches=(
            Cache(name="L1", size_bytes=32 * KIB, line_bytes=64, shared_by=1, instances=2),
            Cache(name="L2", size_bytes=1 * MIB, line_bytes=64, shared_by=1, instances=2),
            Cache(name="L3", size_bytes=32 * MIB, line_bytes=64, shared_by=2, instances=1),
        ),
        memory_bytes=8 * GIB,
        virtualisation="kvm",
        system="Linux",
    )


def sample_environment() -> Environment:
    """Return what such a guest can know."""
    return Environment(
        smt=False,
        transparent_huge_pages="madvise",
        load_1min=0.2,
        steal_share=0.003,
        affinity=(0, 1),
        cpus_used=(0, 1),
        memory_limit_bytes=8 * GIB,
        memory_available_bytes=6 * GIB,
        python="3.11.13",
        numba="0.68.1",
        llvmlite="0.50.0",
        llvm="20.1.8",
        numpy="2.4.6",
        blas=(Blas(name="openblas", version="0.3.30", architecture="SkylakeX", threads=2),),
    )


def sample_levels() -> tuple[Level, ...]:
    """Return its levels: the guest's share of L3 is half of what is reported."""
    sets = {"L1": 16 * KIB, "L2": 512 * KIB, "L3": 8 * MIB}
    caches = tuple(
        Level(
            name=cache.name,
            reported_bytes=cache.size_bytes,
            effective_bytes=EFFECTIVE_BYTES[cache.name],
            shared_by=cache.shared_by,
            working_set_bytes=sets[cache.name],
            agrees=True,
        )
        for cache in sample_machine().caches
    )
    return (*caches, Level(name="DRAM", reported_bytes=8 * GIB, shared_by=2, working_set_bytes=128 * MIB))
