"""The hot loops of the ceilings: independent arithmetic chains, and streams through memory. Pure IR, any target."""

from __future__ import annotations

from llvmlite import ir

from roofline.codegen.emit import (
    FOR_READING,
    I32,
    I64,
    SECOND_CACHE,
    clobber_memory,
    fetch,
    multiply_add,
    opaque,
    repeat,
    splat,
    store_fence,
    sum_lanes,
    vector_type,
)
from roofline.errors import CodegenError

CHAIN_KINDS = {"fma": ("fma",), "add": ("add",), "mul": ("mul",), "mul_add": ("mul", "add"), "fma_add": ("fma", "add")}
"""Operations, with the kinds of instruction that their chains take turns with."""
ARITHMETIC_STEPS = 2
"""Instructions per chain in one turn of the hot loop: an even number, so that steps can undo each other."""

LINE_BYTES = 64
"""What a fetch brings; where lines are longer, some fetches ask for what is on its way."""

ARRAYS = {"load": 1, "store": 1, "update": 1, "copy": 2, "triad": 3}
"""Arrays that each pattern touches, the written one first."""


ACCESSES = {"load": (1, 0), "store": (0, 1), "update": (1, 1), "copy": (1, 1), "triad": (2, 1)}
"""Loads and stores of one step of each pattern."""


def arrays_of(pattern: str) -> int:
    """Return how many arrays a pattern (`load`, `nt_copy`, ...) touches."""
    return ARRAYS[pattern.removeprefix("nt_")]


def accesses_of(pattern: str) -> tuple[int, int]:
    """Return the loads and stores of one step of a pattern."""
    return ACCESSES[pattern.removeprefix("nt_")]


def chain_kinds(op: str) -> tuple[str, ...]:
    """Return the kinds of chain that an operation alternates, or raise CodegenError for an unknown one."""
    if op not in CHAIN_KINDS:
        raise CodegenError(f"no chain for the operation {op!r} (expected one of {', '.join(CHAIN_KINDS)})")
    return CHAIN_KINDS[op]


def flops_per_turn(op: str, lanes: int, chains: int) -> int:
    """Return the flops of one turn of `arithmetic`; an FMA counts 2, and so does each product of a dot product."""
    if op == "dot":
        return ARITHMETIC_STEPS * lanes * chains * 2
    kinds = chain_kinds(op)
    per_chain = [2 if kinds[chain % len(kinds)] == "fma" else 1 for chain in range(chains)]
    return ARITHMETIC_STEPS * lanes * sum(per_chain)


def arithmetic(
    builder: ir.IRBuilder,
    op: str,
    dtype: str,
    lanes: int,
    chains: int,
    turns: ir.Value,
    factor: ir.Value,
    term: ir.Value,
) -> ir.Value:
    """Emit `turns` turns of ARITHMETIC_STEPS dependent steps on each of `chains` accumulators; return their sum.

    fma:      x = factor * term + x, then x = factor * -term + x (so written, AArch64 needs no move either)
    add:      x = x + term, then x = x - term
    mul:      x = x * factor, then x = x * (1 / factor)
    mul_add:  even chains as mul, odd chains as add (the roof where there is no FMA)
    fma_add:  even chains as fma, odd chains as add (more flops where adds have ports of their own)

    The accumulators start apart, so that they cannot be merged, and every second step undoes the first: none
    can overflow or become subnormal for a factor near 1 and a small term.
    """
    kinds = chain_kinds(op)
    element = factor.type
    one = ir.Constant(element, 1.0)
    up, down = splat(builder, factor, lanes), splat(builder, builder.fdiv(one, factor), lanes)
    plus, minus = splat(builder, term, lanes), splat(builder, builder.fneg(term), lanes)
    starts = [splat(builder, builder.fadd(term, ir.Constant(element, 1.0 + k / 64)), lanes) for k in range(chains)]

    def step(number: int, chain: int, x: ir.Value) -> ir.Value:
        forth = number % 2 == 0
        kind = kinds[chain % len(kinds)]
        if kind == "fma":
            return multiply_add(builder, up, plus if forth else minus, x, dtype, lanes)
        if kind == "mul":
            return builder.fmul(x, up if forth else down)
        return builder.fadd(x, plus if forth else minus)

    def turn(_: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
        for number in range(ARITHMETIC_STEPS):
            values = [step(number, chain, value) for chain, value in enumerate(values)]
        return values

    total, *others = repeat(builder, turns, starts, turn)
    for value in others:
        total = builder.fadd(total, value)
    return sum_lanes(builder, total, lanes)


def stream(
    builder: ir.IRBuilder,
    pattern: str,
    dtype: str,
    lanes: int,
    unroll: int,
    segments: int,
    ahead_bytes: int,
    arch: str,
    fused: bool,
    addresses: list[ir.Value],
    groups: ir.Value,
    repeats: ir.Value,
    scalar: ir.Value,
) -> None:
    """Emit `repeats` passes over arrays of `groups` x `unroll` vectors each.

    load:   read a[i]                     store:  a[i] = s
    copy:   a[i] = b[i]                   triad:  a[i] = b[i] + s * c[i]
    update: a[i] = a[i]

    The arrays are walked in `segments` equal parts at once (a divisor of `unroll`): memory serves several streams
    better than one. With `ahead_bytes` every line is fetched into the second cache so far before it is loaded: unlike
    a load, a fetch holds no place in the core while it waits. `addresses` are those of a, b, c (as many as the pattern
    has), aligned to the vector. Every value passes through an empty assembly statement, so that nothing is merged into
    wider accesses or a call of memcpy. With the prefix `nt_` the stores are non-temporal and a fence ends each pass.
    The stored scalar changes from pass to pass.
    """
    plain = pattern.removeprefix("nt_")
    vector = vector_type(dtype, lanes)
    alignment = lanes * {"f64": 8, "f32": 4}[dtype]
    pointers = [builder.inttoptr(address, vector.as_pointer()) for address in addresses]
    one = ir.Constant(scalar.type, 1.0)

    def load(pointer: ir.Value, index: ir.Value) -> ir.Value:
        value = builder.load(builder.gep(pointer, [index]))
        value.align = alignment
        return value

    def come(pointer: ir.Value, index: ir.Value, place: int) -> None:
        if ahead_bytes and place * alignment % LINE_BYTES == 0:
            later = builder.add(index, ir.Constant(I64, ahead_bytes // alignment))
            fetch(builder, builder.gep(pointer, [later]), FOR_READING, SECOND_CACHE)

    def store(value: ir.Value, pointer: ir.Value, index: ir.Value) -> None:
        instruction = builder.store(value, builder.gep(pointer, [index]))
        instruction.align = alignment
        if plain != pattern:
            instruction.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(I32, 1)]))

    def one_pass(_: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        factor = splat(builder, carried[0], lanes)
        stored = opaque(builder, factor, arch)

        def group(number: ir.Value, __: list[ir.Value]) -> list[ir.Value]:
            together = unroll // segments
            first = builder.mul(number, ir.Constant(I64, together))
            for k in range(unroll):
                segment, place = k % segments, k // segments
                start = builder.mul(groups, ir.Constant(I64, segment * together))
                index = builder.add(builder.add(start, first), ir.Constant(I64, place))
                for pointer in pointers[arrays_of(pattern) - accesses_of(pattern)[0] :]:
                    come(pointer, index, place)
                if plain == "load":
                    opaque(builder, load(pointers[0], index), arch)
                elif plain == "store":
                    # Equal scalars would be merged into one wide store; equal vectors are not.
                    store(opaque(builder, factor, arch) if lanes == 1 else stored, pointers[0], index)
                elif plain in ("copy", "update"):
                    store(opaque(builder, load(pointers[-1], index), arch), pointers[0], index)
                else:
                    b, c = load(pointers[1], index), opaque(builder, load(pointers[2], index), arch)
                    if fused:
                        value = multiply_add(builder, c, factor, b, dtype, lanes)
                    else:
                        value = builder.fadd(builder.fmul(c, factor), b)
                    store(value, pointers[0], index)
            return []

        repeat(builder, groups, [], group)
        if plain != pattern:
            store_fence(builder, arch)
        clobber_memory(builder)
        return [builder.fadd(carried[0], one) if plain == "store" else carried[0]]

    repeat(builder, repeats, [scalar], one_pass)
