"""Numba intrinsics around the emitted code: what compiled functions of `measurement/` call.

Arguments that shape the code (`op`, `pattern`, `lanes`, `chains`, `unroll`) must be compile-time constants: bake
them into a closure. That makes one cached family per function and no dispatch through `literally`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from roofline.codegen import emit, loops
from roofline.codegen.assembly import target_features
from roofline.codegen.chase import chase
from roofline.codegen.dot import dot_chains, dot_form
from roofline.errors import CodegenError

# Inline assembly aborts the process unless the native assembly parser is there.
llvm.initialize_native_asmparser()


ARCH = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
"""Architecture that this process emits code for."""
HAS_FMA = ARCH == "aarch64" or "fma" in target_features()
"""Whether code for here multiplies and adds in one instruction. Without it LLVM would call a library function."""

_DTYPES = {types.float64: "f64", types.float32: "f32"}


# The types of numba's decorators describe the implementations below, not what compiled code calls.
def _intrinsic(implementation: Callable[..., Any]) -> Any:
    return intrinsic(implementation)


def _intrinsic_of_shapes(implementation: Callable[..., Any]) -> Any:
    return intrinsic(prefer_literal=True)(implementation)


def _constants(*arguments: Any) -> bool:
    return all(isinstance(argument, types.Literal) for argument in arguments)


@_intrinsic_of_shapes
def arithmetic_chains(typing_context: Any, op: Any, lanes: Any, chains: Any, turns: Any, factor: Any, term: Any) -> Any:
    """Run `turns` turns of independent chains (see `loops.arithmetic`) and return the sum of the accumulators."""
    if not _constants(op, lanes, chains) or factor not in _DTYPES:
        return None
    signature = factor(op, lanes, chains, types.int64, factor, factor)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        *_shape, turns_value, factor_value, term_value = arguments
        total = loops.arithmetic(
            builder,
            op.literal_value,
            _DTYPES[factor],
            lanes.literal_value,
            chains.literal_value,
            turns_value,
            factor_value,
            term_value,
        )
        return emit.opaque(builder, total, ARCH)

    return signature, codegen


@_intrinsic_of_shapes
def dot_product_chains(typing_context: Any, lanes: Any, chains: Any, turns: Any, a: Any, b: Any) -> Any:
    """Run `turns` turns of chains of int8 dot products (see `dot.dot_chains`) and return the sum (int32)."""
    if not _constants(lanes, chains) or (a, b) != (types.int8, types.int8):
        return None
    form = dot_form(ARCH, target_features(), lanes.literal_value)
    if form is None:
        raise CodegenError(
            f"this CPU multiplies no {lanes.literal_value} int8 at once (expected avx2 for 32, avx512bw for 64); "
            "measure i8 with a narrower ISA"
        )

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        shape = (lanes.literal_value, chains.literal_value)
        return emit.opaque(builder, dot_chains(builder, form, ARCH, *shape, *arguments[2:]), ARCH)

    return types.int32(lanes, chains, types.int64, a, b), codegen


@_intrinsic_of_shapes
def stream_passes(
    typing_context: Any,
    pattern: Any,
    lanes: Any,
    unroll: Any,
    segments: Any,
    ahead_bytes: Any,
    a: Any,
    b: Any,
    c: Any,
    groups: Any,
    repeats: Any,
    s: Any,
) -> Any:
    """Run `repeats` passes of `pattern` over arrays at the addresses a, b, c (see `loops.stream`)."""
    if not _constants(pattern, lanes, unroll, segments, ahead_bytes) or s not in _DTYPES:
        return None
    size = types.int64
    signature = types.void(pattern, lanes, unroll, segments, ahead_bytes, size, size, size, size, size, s)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        *_shape, a_value, b_value, c_value, groups_value, repeats_value, s_value = arguments
        loops.stream(
            builder,
            pattern.literal_value,
            _DTYPES[s],
            lanes.literal_value,
            unroll.literal_value,
            segments.literal_value,
            ahead_bytes.literal_value,
            ARCH,
            HAS_FMA,
            [a_value, b_value, c_value][: loops.arrays_of(pattern.literal_value)],
            groups_value,
            repeats_value,
            s_value,
        )
        return context.get_dummy_value()

    return signature, codegen


@_intrinsic
def chase_loads(typing_context: Any, place: Any, turns: Any) -> Any:
    """Run `turns` x CHASE_LOADS dependent loads from an address on and return the last address read (int64)."""
    return types.int64(types.int64, types.int64), lambda context, builder, signature, arguments: chase(
        builder, *arguments
    )


@_intrinsic
def clock_ns(typing_context: Any) -> Any:
    """Return the monotonic clock in nanoseconds (int64)."""
    return types.int64(), lambda context, builder, signature, arguments: emit.monotonic_ns(builder)


@_intrinsic
def add_chain(typing_context: Any, turns: Any) -> Any:
    """Run `turns` x CHAIN_ADDS dependent one-cycle adds and return their sum (int64)."""
    return types.int64(types.int64), lambda context, builder, signature, arguments: emit.add_chain(
        builder, arguments[0], ARCH
    )


@_intrinsic
def wait_for_all(typing_context: Any, counter_address: Any, threads: Any) -> Any:
    """Spin until `threads` threads have arrived at the int64 counter at this address."""

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        emit.spin_barrier(builder, arguments[0], arguments[1], ARCH)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen
