"""What `all`, `--quick`, `--thorough`, `ceilings` and `run` mean, as data."""

from __future__ import annotations

from roofline.model.struct import Value


class Mode(Value, frozen=True, kw_only=True):
    """How much one way to run measures, apart from what the user narrows it to."""

    budget_s: float
    """Wall time for measuring; starting, compiling, saving and drawing come on top."""
    launches: int
    """Workers that measure ceilings, one after the other, each from scratch; the last one measures the kernels too."""
    again: tuple[str, ...]
    """Memory patterns that the launches after the first measure with the widest ISA; `*` for all with every ISA."""
    sweep_sizes: int
    """Working sets in the sweep."""
    patterns: tuple[str, ...]
    """Access patterns measured in every level."""
    dram_patterns: tuple[str, ...]
    """Patterns with non-temporal stores, measured in DRAM only."""
    scalar_levels: int
    """Levels, from the nearest, whose ceilings are measured with scalar accesses too: further out memory is the limit,
    whatever the width."""
    widest_ops: tuple[str, ...]
    """Operations measured at the widest ISA beside the FMA that every ISA gets."""
    kernels: tuple[str, ...]
    """Patterns of kernel names that run when the user names none."""
    glimpses: tuple[str, ...]
    """More of them, each shown once: on the fewest threads, in its first dtype, in DRAM or at its last size."""
    one_core: tuple[str, ...]
    """Those of them that run on the fewest threads only: steps of a ladder whose last one is for all cores."""
    gemv_levels: tuple[str, ...]
    """Levels that the data of a kernel without `levels` lies in, unless it reuses them."""
    gemm_n: int
    """Size of kernels that reuse their data: rows of an odd number of cache lines, which spread over all sets."""


MODES = {
    "quick": Mode(
        budget_s=15.5,
        launches=1,
        again=(),
        sweep_sizes=20,
        patterns=("load", "triad"),
        dram_patterns=("nt_triad",),
        scalar_levels=0,
        widest_ops=(),
        kernels=(
            "stream.triad",
            "gemv.naive",
            "gemv.blocked",
            "gemv.parallel",
            "gemm.naive",
            "gemm.register",
            "gemm.parallel",
            "gemm.blas",
        ),
        glimpses=(),
        one_core=(),
        gemv_levels=("DRAM",),
        gemm_n=248,
    ),
    "all": Mode(
        budget_s=36,
        launches=3,
        again=("load", "triad", "copy", "nt_copy", "nt_triad"),
        sweep_sizes=40,
        patterns=("load", "triad", "copy", "update", "store"),
        dram_patterns=("nt_copy", "nt_triad", "nt_store"),
        scalar_levels=2,
        widest_ops=("add", "fma_add"),
        kernels=("stream.copy", "stream.triad", "gemv", "gemm"),
        glimpses=(
            "blas.*",
            "reduction.sum_[18]",
            "reduction.sum_simd",
            "stencil.naive_2d5",
            "stencil.temporal_2d5",
            "sparse.csr_random",
            "sparse.sell_random",
            "spectral.naive",
            "spectral.stockham",
            "particles.naive",
            "particles.vectorised",
            "finance.*",
            "conv.naive_3x3",
            "conv.im2col_3x3",
            "conv.blocked_3x3",
            "attention.naive",
            "attention.flash",
            "network.blocked_mlp",
            "network.fused_softmax",
            "quantised.gemv_f32",
            "quantised.gemv_w8",
            "quantised.gemv_i8_dot",
        ),
        one_core=("gemm.interchanged", "gemm.blocked"),
        gemv_levels=("L2", "DRAM"),
        gemm_n=360,
    ),
    "thorough": Mode(
        budget_s=300,
        launches=8,
        again=("*",),
        sweep_sizes=60,
        patterns=("load", "triad", "copy", "update", "store"),
        dram_patterns=("nt_copy", "nt_triad", "nt_store"),
        scalar_levels=5,
        widest_ops=("add", "mul", "fma_add"),
        kernels=("*",),
        glimpses=(),
        one_core=(),
        gemv_levels=("L1", "L2", "L3", "DRAM"),
        gemm_n=760,
    ),
}
"""`ceilings` and `run` are `all` without kernels, and with the ceilings that the kernels need."""
