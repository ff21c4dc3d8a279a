"""The only table of instruction sets and element types. A new ISA is one row."""

from __future__ import annotations

from collections.abc import Collection

from roofline.errors import UnknownName
from roofline.model.struct import Value

DTYPE_BITS = {"f64": 64, "f32": 32, "i8": 8}
"""Element types, with their width in bits."""


class Isa(Value, frozen=True, kw_only=True):
    """A way to execute floating-point code: one register width on one architecture."""

    name: str
    """`scalar`, `sse2`, `avx2`, ...: the name in the archive and on the figure."""
    arch: str
    """`x86_64` or `aarch64`."""
    needs: tuple[str, ...]
    """LLVM features that the host must have."""
    vector_bits: int
    """Width of the register in bits; 0 means one element at a time."""
    registers: int
    """Architectural vector registers that a kernel can use."""
    asm_register: str
    """How the assembly names the register: `ymm`, or `v` on AArch64."""

    def lanes(self, dtype: str) -> int:
        """Elements of `dtype` per register. Raises UnknownName for a dtype that is not in DTYPE_BITS."""
        if dtype not in DTYPE_BITS:
            raise UnknownName("dtype", dtype, DTYPE_BITS)
        return max(1, self.vector_bits // DTYPE_BITS[dtype])


ISAS = (
    Isa(name="scalar", arch="x86_64", needs=("sse2",), vector_bits=0, registers=16, asm_register="xmm"),
    Isa(name="sse2", arch="x86_64", needs=("sse2",), vector_bits=128, registers=16, asm_register="xmm"),
    Isa(name="avx", arch="x86_64", needs=("avx",), vector_bits=256, registers=16, asm_register="ymm"),
    Isa(name="avx2", arch="x86_64", needs=("avx2", "fma"), vector_bits=256, registers=16, asm_register="ymm"),
    Isa(name="avx512", arch="x86_64", needs=("avx512f",), vector_bits=512, registers=32, asm_register="zmm"),
    Isa(name="scalar", arch="aarch64", needs=(), vector_bits=0, registers=32, asm_register="d"),
    Isa(name="neon", arch="aarch64", needs=("neon",), vector_bits=128, registers=32, asm_register="v"),
)


def register_bits(name: str) -> int:
    """Return the width of the registers of the ISA with this name; 0 for single elements and unknown names."""
    return max((isa.vector_bits for isa in ISAS if isa.name == name), default=0)


def isas_of(arch: str, features: Collection[str]) -> tuple[Isa, ...]:
    """Return what a host of `arch` with these LLVM features can execute, narrowest first.

    Of two rows of one width (`avx`, `avx2`) only the later counts when the host has both.
    """
    by_width = {isa.vector_bits: isa for isa in ISAS if isa.arch == arch and set(isa.needs) <= set(features)}
    return tuple(by_width[bits] for bits in sorted(by_width))


def switched_on(features: str) -> frozenset[str]:
    """Return the LLVM features that a text such as `+avx2,+fma,-avx512f` (NUMBA_CPU_FEATURES) switches on."""
    return frozenset(word.strip()[1:] for word in features.split(",") if word.strip().startswith("+"))


def isa_named(name: str, available: Collection[Isa]) -> Isa:
    """Return the row of `available` with this name, or raise UnknownName with those there are."""
    for isa in available:
        if isa.name == name:
            return isa
    raise UnknownName("ISA", name, [isa.name for isa in available], "this host executes only the known ones")


def isa_of_register(register: str | None, available: Collection[Isa]) -> Isa | None:
    """Return the ISA whose registers are named so (`zmm`, `v`, `scalar`, ...); None when there is none or no name."""
    if register == "scalar":
        return next((isa for isa in available if not isa.vector_bits), None)
    return next((isa for isa in available if isa.vector_bits and isa.asm_register == register), None)
