"""Dot products of int8 with sums in int32: the instructions that CPUs have for them, and chains of these. Pure IR.

A step multiplies one register of int8 (`lanes` of them) with another and adds the products, four by four, to an
accumulator of lanes / 4 int32: lanes multiplications and lanes additions. It is emitted in one of these forms:

vnni      one VPDPBUSD, unsigned x signed (AVX512-VNNI or AVX-VNNI)
sdot      one SDOT, signed x signed (AArch64 with dotprod)
widening  elsewhere: x86 multiplies the halves, widened to int16, by VPMADDWD and adds pairs of products by VPADDD;
          AArch64 has SMULL for the products and SADALP for the sums. The registers hold int16 from the start, as in a
          matrix product, which widens its n^2 elements once for n^3 multiplications: with the widening in the loop the
          ceiling would be one that a kernel can exceed.
scalar    x = x * a + b in int32: the multiplication and the addition of a dot product without vectors
"""

from __future__ import annotations

from collections.abc import Collection

from llvmlite import ir

from roofline.codegen.emit import I16, I32, declare, opaque, repeat, splat, sum_lanes
from roofline.codegen.loops import ARITHMETIC_STEPS

_PMADDWD = {8: "llvm.x86.sse2.pmadd.wd", 16: "llvm.x86.avx2.pmadd.wd", 32: "llvm.x86.avx512.pmaddw.d.512"}
"""Names by elements of int16."""


def dot_form(arch: str, features: Collection[str], lanes: int) -> str | None:
    """Return how a CPU with these LLVM features multiplies `lanes` int8 at once; None when it cannot."""
    if lanes == 1:
        return "scalar"
    if arch != "x86_64":
        return None if lanes != 16 else "sdot" if "dotprod" in features else "widening"
    evex = "avx512vnni" in features and (lanes == 64 or "avx512vl" in features)
    if evex or ("avxvnni" in features and lanes <= 32):
        return "vnni"
    needed = {16: "sse2", 32: "avx2", 64: "avx512bw"}
    return "widening" if needed.get(lanes) in features else None


def dot_step(builder: ir.IRBuilder, form: str, x: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
    """Emit x + (products of a and b, added four by four) for the form `vnni` (a is unsigned) or `sdot`."""
    lanes = a.type.count
    name = {
        "vnni": f"llvm.x86.avx512.vpdpbusd.{8 * lanes}",
        "sdot": "llvm.aarch64.neon.sdot.v4i32.v16i8",
    }[form]
    return builder.call(declare(builder.module, name, x.type, [x.type, a.type, b.type]), [x, a, b])


def dot_chains(
    builder: ir.IRBuilder, form: str, arch: str, lanes: int, chains: int, turns: ir.Value, a: ir.Value, b: ir.Value
) -> ir.Value:
    """Emit `turns` turns of ARITHMETIC_STEPS dependent steps on each of `chains` accumulators; return their sum.

    Each step adds lanes * a * b in all, modulo 2^32; `scalar` chains compute x * a + b instead. `a` and `b` are int8.
    """
    parts = 2 if form == "widening" else 1
    if form == "scalar":
        left, right = builder.sext(a, I32), builder.sext(b, I32)
    elif form == "widening" and arch == "x86_64":
        left, right = (splat(builder, builder.sext(value, I16), lanes // parts) for value in (a, b))
    else:
        left, right = splat(builder, a, lanes // parts), splat(builder, b, lanes // parts)

    def part(x: ir.Value, factor: ir.Value) -> ir.Value:
        if form == "scalar":
            return builder.add(builder.mul(x, left), factor)
        if form == "widening":
            return builder.add(x, sums_of_products(builder, arch, left, factor))
        return dot_step(builder, form, x, left, factor)

    def turn(_: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
        *sums, factor = values
        for _step in range(ARITHMETIC_STEPS):
            for chain in range(chains):
                for _part in range(parts):
                    if form == "widening":  # products of what never changes would be taken out of the loop
                        factor = opaque(builder, factor, arch)
                    sums[chain] = part(sums[chain], factor)
        return [*sums, factor]

    starts = [splat(builder, ir.Constant(I32, 1 + chain), max(1, lanes // 4)) for chain in range(chains)]
    total, *others = repeat(builder, turns, [*starts, right], turn)[:chains]
    for other in others:
        total = builder.add(total, other)
    return sum_lanes(builder, total, max(1, lanes // 4))


def sums_of_products(builder: ir.IRBuilder, arch: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """Emit the products of two registers of int16 (x86) or halves of int8 (AArch64), added two by two to int32."""
    if arch == "x86_64":
        sums = ir.VectorType(I32, a.type.count // 2)
        return builder.call(declare(builder.module, _PMADDWD[a.type.count], sums, [a.type, b.type]), [a, b])
    products, sums = ir.VectorType(I16, 8), ir.VectorType(I32, 4)
    multiply = declare(builder.module, "llvm.aarch64.neon.smull.v8i16", products, [a.type, b.type])
    add = declare(builder.module, "llvm.aarch64.neon.saddlp.v4i32.v8i16", sums, [products])
    return builder.call(add, [builder.call(multiply, [a, b])])
