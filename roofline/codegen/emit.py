"""Building blocks of emitted code: vectors, loops, barriers, the clock. Pure llvmlite IR, for any target.

`arch` is `x86_64` or `aarch64`; it decides only the inline assembly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from llvmlite import ir

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
ELEMENTS = {"f64": ir.DoubleType(), "f32": ir.FloatType()}

_FLAGS = {"x86_64": "~{flags}", "aarch64": "~{cc}"}
"""Clobbers for assembly that changes the condition flags. Without it LLVM may compare before and branch after."""
_VECTOR_CONSTRAINT = {"x86_64": "v", "aarch64": "w"}
_PAUSE = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}
"""Intrinsics, not assembly text: text needs the target's assembly parser, which llvmlite has only for its host."""
_STORE_FENCE = {"x86_64": ("llvm.x86.sse.sfence", ()), "aarch64": ("llvm.aarch64.dmb", (10,))}
_ADD = {"x86_64": "addq $1, $0", "aarch64": "add $0, $0, $1"}

CHAIN_ADDS = 64
"""Dependent adds in one turn of the clock chain."""

_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1


def vector_type(dtype: str, lanes: int) -> ir.Type:
    """Return the LLVM type of `lanes` elements: the element itself for one lane."""
    element = ELEMENTS[dtype]
    return element if lanes == 1 else ir.VectorType(element, lanes)


def splat(builder: ir.IRBuilder, scalar: ir.Value, lanes: int) -> ir.Value:
    """Return a vector with `scalar` in every lane."""
    if lanes == 1:
        return scalar
    vector = ir.VectorType(scalar.type, lanes)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(I32, 0))
    return builder.shuffle_vector(
        single, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    )


def sum_lanes(builder: ir.IRBuilder, vector: ir.Value, lanes: int) -> ir.Value:
    """Return the sum of all lanes."""
    if lanes == 1:
        return vector
    element = vector.type.element
    if isinstance(element, ir.IntType):
        reduction = f"llvm.vector.reduce.add.v{lanes}i{element.width}"
        return builder.call(declare(builder.module, reduction, element, [vector.type]), [vector])
    total = builder.extract_element(vector, ir.Constant(I32, 0))
    for lane in range(1, lanes):
        total = builder.fadd(total, builder.extract_element(vector, ir.Constant(I32, lane)))
    return total


def declare(module: ir.Module, name: str, returns: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """Return the declaration of `name` in `module`, adding it once.

    llvmlite's own `declare_intrinsic` cannot name overloads on vectors, so intrinsics are declared by full name.
    """
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(returns, arguments), name)


def multiply_add(builder: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value, dtype: str, lanes: int) -> ir.Value:
    """Return x * y + z, rounded once (llvm.fma)."""
    suffix = dtype if lanes == 1 else f"v{lanes}{dtype}"
    kind = vector_type(dtype, lanes)
    return builder.call(declare(builder.module, f"llvm.fma.{suffix}", kind, [kind] * 3), [x, y, z])


def opaque(builder: ir.IRBuilder, value: ir.Value, arch: str) -> ir.Value:
    """Return `value` through an empty assembly statement: the optimiser can neither drop, merge nor foresee it."""
    kind = ir.FunctionType(value.type, [value.type])
    register = "r" if isinstance(value.type, ir.IntType) else _VECTOR_CONSTRAINT[arch]
    return builder.call(ir.InlineAsm(kind, "", f"={register},0", side_effect=True), [value])


FOR_READING, FOR_WRITING, SECOND_CACHE, ALL_CACHES = 0, 1, 2, 3
"""Purposes of a fetch, and the caches that it fills."""


def fetch(builder: ir.IRBuilder, place: ir.Value, purpose: int, caches: int) -> None:
    """Fetch the cache line at `place`, whether it exists or not, without waiting for it (llvm.prefetch)."""
    byte = ir.IntType(8).as_pointer()
    prefetch = declare(builder.module, "llvm.prefetch.p0", ir.VoidType(), [byte, I32, I32, I32])
    options = [ir.Constant(I32, option) for option in (purpose, caches, 1)]  # 1: data, not code
    builder.call(prefetch, [builder.bitcast(place, byte), *options])


def clobber_memory(builder: ir.IRBuilder) -> None:
    """Tell the optimiser that all memory may have changed: nothing is hoisted, merged or dropped across."""
    builder.call(ir.InlineAsm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", side_effect=True), [])


def _call(builder: ir.IRBuilder, intrinsic: str, constants: tuple[int, ...]) -> None:
    function = declare(builder.module, intrinsic, ir.VoidType(), [I32] * len(constants))
    builder.call(function, [ir.Constant(I32, constant) for constant in constants])


def store_fence(builder: ir.IRBuilder, arch: str) -> None:
    """Wait until all stores before, non-temporal ones too, are globally visible."""
    _call(builder, *_STORE_FENCE[arch])


def repeat(
    builder: ir.IRBuilder,
    count: ir.Value,
    carried: Sequence[ir.Value],
    turn: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """Emit a loop of `count` >= 1 turns and return the carried values after the last.

    `turn(index, values)` emits one turn and returns the new values; it may emit loops of its own.
    """
    before = builder.block
    body = builder.append_basic_block("turn")
    after = builder.append_basic_block("after")
    builder.branch(body)
    builder.position_at_end(body)
    index = builder.phi(I64)
    index.add_incoming(ir.Constant(I64, 0), before)
    phis = [builder.phi(value.type) for value in carried]
    for phi, value in zip(phis, carried, strict=True):
        phi.add_incoming(value, before)
    new = turn(index, list(phis))
    following = builder.add(index, ir.Constant(I64, 1))
    latch = builder.block
    index.add_incoming(following, latch)
    for phi, value in zip(phis, new, strict=True):
        phi.add_incoming(value, latch)
    builder.cbranch(builder.icmp_unsigned("<", following, count), body, after)
    builder.position_at_end(after)
    return new


def add_chain(builder: ir.IRBuilder, turns: ir.Value, arch: str) -> ir.Value:
    """Emit `turns` x CHAIN_ADDS dependent integer adds, one cycle each on every CPU of the last decades.

    The addend sits in a register: some cores fold adds of an immediate away while renaming.
    """
    kind = ir.FunctionType(I64, [I64, I64])
    text = "\n".join([_ADD[arch]] * CHAIN_ADDS)
    chain = ir.InlineAsm(kind, text, f"=r,r,0,{_FLAGS[arch]}", side_effect=True)
    one = ir.Constant(I64, 1)
    return repeat(builder, turns, [ir.Constant(I64, 0)], lambda _, sums: [builder.call(chain, [one, sums[0]])])[0]


def monotonic_ns(builder: ir.IRBuilder) -> ir.Value:
    """Emit a read of the monotonic clock in nanoseconds (clock_gettime: no system call where there is a vDSO)."""
    timespec = ir.ArrayType(I64, 2)
    with builder.goto_entry_block():
        slot = builder.alloca(timespec)
    get_time = declare(builder.module, "clock_gettime", I32, [I32, timespec.as_pointer()])
    builder.call(get_time, [ir.Constant(I32, _CLOCK_MONOTONIC), slot])
    zero, one = ir.Constant(I32, 0), ir.Constant(I32, 1)
    seconds = builder.load(builder.gep(slot, [zero, zero]))
    nanoseconds = builder.load(builder.gep(slot, [zero, one]))
    return builder.add(builder.mul(seconds, ir.Constant(I64, 1_000_000_000)), nanoseconds)


def spin_barrier(builder: ir.IRBuilder, counter_address: ir.Value, threads: ir.Value, arch: str) -> None:
    """Emit a barrier: wait until `threads` threads have arrived, spinning on one counter that only grows.

    The counter (i64, initially 0) can be used again at once: the k-th round ends when it reaches k x threads.
    """
    counter = builder.inttoptr(counter_address, I64.as_pointer())
    ticket = builder.atomic_rmw("add", counter, ir.Constant(I64, 1), "seq_cst")
    rounds = builder.add(builder.udiv(ticket, threads), ir.Constant(I64, 1))
    goal = builder.mul(rounds, threads)
    spin = builder.append_basic_block("spin")
    wait = builder.append_basic_block("wait")
    go = builder.append_basic_block("go")
    builder.branch(spin)
    builder.position_at_end(spin)
    arrived = builder.load_atomic(counter, "seq_cst", 8)
    builder.cbranch(builder.icmp_unsigned(">=", arrived, goal), go, wait)
    builder.position_at_end(wait)
    _call(builder, *_PAUSE[arch])
    builder.branch(spin)
    builder.position_at_end(go)
