"""Assembly of code: of what Numba compiled here, and of the emitted loops for CPUs that are not here."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from roofline.codegen.chase import chase
from roofline.codegen.dot import dot_chains, dot_form
from roofline.codegen.emit import ELEMENTS, I8, I32, I64
from roofline.codegen.loops import arithmetic, arrays_of, stream
from roofline.codegen.tile import Tile, tile_shape
from roofline.model.isa import Isa, switched_on

TARGETS = {
    "haswell": ("x86_64-unknown-linux-gnu", "haswell"),
    "skylake-avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512"),
    "znver4": ("x86_64-unknown-linux-gnu", "znver4"),
    "alderlake": ("x86_64-unknown-linux-gnu", "alderlake"),
    "cortex-a72": ("aarch64-unknown-linux-gnu", "cortex-a72"),
    "neoverse-n1": ("aarch64-unknown-linux-gnu", "neoverse-n1"),
    "apple-m1": ("arm64-apple-macosx12.0.0", "apple-m1"),
}
"""CPUs for which the emitted code can be compiled and audited without running it: (triple, LLVM's CPU name)."""
DOT_FEATURES = {
    "haswell": ("sse2", "avx2"),
    "skylake-avx512": ("sse2", "avx2", "avx512bw", "avx512vl"),
    "znver4": ("sse2", "avx2", "avx512bw", "avx512vl", "avx512vnni"),
    "alderlake": ("sse2", "avx2", "avxvnni"),
    "cortex-a72": ("neon",),
    "neoverse-n1": ("neon", "dotprod"),
    "apple-m1": ("neon", "dotprod"),
}
"""LLVM features of the TARGETS that decide how they multiply int8."""


def llvm_version() -> str:
    """Return the version of the LLVM that compiles here."""
    return ".".join(map(str, llvm.llvm_version_info))


def target_cpu() -> str:
    """Return LLVM's name of the CPU that code is compiled for here."""
    return os.environ.get("NUMBA_CPU_NAME") or str(llvm.get_host_cpu_name())


def target_features() -> frozenset[str]:
    """Return LLVM's names of the features that code is compiled with here."""
    given = os.environ.get("NUMBA_CPU_FEATURES")
    if given is None:
        return frozenset(name for name, there in llvm.get_host_cpu_features().items() if there)
    return switched_on(given)


def assembly_of(dispatcher: Any, signature: tuple[Any, ...] | None = None) -> str:
    """Return the assembly of a Numba function for these argument types, or of its only compiled signature.

    Numba's own `inspect_asm` returns nothing useful for code that came from its cache; the optimised module that
    is cached beside the object code gives the same assembly again.
    """
    if signature is None:
        (compiled,) = dispatcher.overloads.values()
    else:
        compiled = dispatcher.overloads[signature]
    library = compiled.library
    return str(library._codegen._tm.emit_assembly(library._get_module_for_linking()))


def arithmetic_assembly(target: str, op: str, dtype: str, lanes: int, chains: int) -> str:
    """Return the assembly of `loops.arithmetic` for one of TARGETS."""

    def body(builder: ir.IRBuilder, arguments: Any) -> None:
        builder.ret(arithmetic(builder, op, dtype, lanes, chains, *arguments))

    element = ELEMENTS[dtype]
    return _compiled(target, ir.FunctionType(element, [I64, element, element]), body)


def dot_assembly(target: str, lanes: int, chains: int) -> str:
    """Return the assembly of `dot.dot_chains` for one of TARGETS, in the form that it has."""
    arch = _arch(target)
    form = dot_form(arch, DOT_FEATURES[target], lanes)
    assert form is not None, f"{target} multiplies no {lanes} int8 at once"

    def body(builder: ir.IRBuilder, arguments: Any) -> None:
        builder.ret(dot_chains(builder, form, arch, lanes, chains, *arguments))

    return _compiled(target, ir.FunctionType(I32, [I64, I8, I8]), body)


def stream_assembly(
    target: str, pattern: str, dtype: str, lanes: int, unroll: int, segments: int = 1, ahead_bytes: int = 0
) -> str:
    """Return the assembly of `loops.stream` for one of TARGETS."""
    arch = _arch(target)

    def body(builder: ir.IRBuilder, arguments: Any) -> None:
        *addresses, groups, repeats, scalar = arguments
        used = addresses[: arrays_of(pattern)]
        stream(builder, pattern, dtype, lanes, unroll, segments, ahead_bytes, arch, True, used, groups, repeats, scalar)
        builder.ret_void()

    return _compiled(target, ir.FunctionType(ir.VoidType(), [I64] * 5 + [ELEMENTS[dtype]]), body)


def chase_assembly(target: str) -> str:
    """Return the assembly of `chase.chase` for one of TARGETS."""

    def body(builder: ir.IRBuilder, arguments: Any) -> None:
        builder.ret(chase(builder, *arguments))

    return _compiled(target, ir.FunctionType(I64, [I64, I64]), body)


def tile_assembly(target: str, isa: Isa, dtype: str) -> str:
    """Return the assembly of `tile.Tile`'s function for one of TARGETS, in the shape that fits this ISA's registers."""
    rows, vectors = tile_shape(isa)

    def body(builder: ir.IRBuilder, arguments: Any) -> None:
        tile = Tile(builder.module, dtype, isa.lanes(dtype), rows, vectors, fused=True).function()
        depth, a, a_row, b, c, c_row, there, columns, adds = arguments
        places = [builder.inttoptr(address, ELEMENTS[dtype].as_pointer()) for address in (a, b, c)]
        accumulate = builder.icmp_unsigned("!=", adds, ir.Constant(I64, 0))
        builder.call(tile, [depth, places[0], a_row, places[1], places[2], c_row, there, columns, accumulate])
        builder.ret_void()

    return _compiled(target, ir.FunctionType(ir.VoidType(), [I64] * 9), body)


def _arch(target: str) -> str:
    return "aarch64" if TARGETS[target][0].startswith("a") else "x86_64"


def _compiled(target: str, kind: ir.FunctionType, body: Callable[[ir.IRBuilder, Any], None]) -> str:
    """Compile one function for a target at -O3 and return its assembly."""
    triple, cpu = TARGETS[target]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = ir.Module(name="ceiling")
    module.triple = triple
    function = ir.Function(module, kind, "ceiling")
    body(ir.IRBuilder(function.append_basic_block("entry")), function.args)
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, reloc="pic")
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(parsed, passes)
    return str(machine.emit_assembly(parsed))
