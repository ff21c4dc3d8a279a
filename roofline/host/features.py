"""Instruction-set features under LLVM's names, whoever reports them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from roofline.model.isa import ISAS

_LLVM_NAMES = {
    # x86: flags of /proc/cpuinfo; those of macOS are the same in capitals, but for AVX1.0
    "pni": "sse3",
    "ssse3": "ssse3",
    "sse4_1": "sse4.1",
    "sse4_2": "sse4.2",
    "avx1.0": "avx",
    "f16c": "f16c",
    "avx_vnni": "avxvnni",
    "avx512bw": "avx512bw",
    "avx512cd": "avx512cd",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
    "avx512_vnni": "avx512vnni",
    "avx512_bf16": "avx512bf16",
    "avx512_fp16": "avx512fp16",
    "amx_tile": "amx-tile",
    # AArch64: `Features` of /proc/cpuinfo
    "asimd": "neon",
    "fp": "fp-armv8",
    "asimdhp": "fullfp16",
    "asimddp": "dotprod",
    "sve": "sve",
    "sve2": "sve2",
    "bf16": "bf16",
    "i8mm": "i8mm",
    # AArch64: `hw.optional` of macOS
    "advsimd": "neon",
    "feat_fp16": "fullfp16",
    "feat_dotprod": "dotprod",
    "feat_bf16": "bf16",
    "feat_i8mm": "i8mm",
} | {feature: feature for isa in ISAS for feature in isa.needs}

_KEPT = frozenset(_LLVM_NAMES.values())


def features_from_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """Return LLVM's names, sorted, of those flags that matter to arithmetic."""
    return tuple(sorted({_LLVM_NAMES[flag] for flag in map(str.lower, flags) if flag in _LLVM_NAMES}))


def kept_features(features: Collection[str]) -> tuple[str, ...]:
    """Return those of LLVM's features that are recorded, sorted.

    The same subset whichever source they come from, so that a machine has one key.
    """
    return tuple(sorted(_KEPT & set(features)))
