"""The inner loop of matrix-vector products: several rows at once, lines fetched ahead or not. Pure IR, any target."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from roofline.codegen.emit import (
    ELEMENTS,
    FOR_READING,
    I32,
    I64,
    SECOND_CACHE,
    declare,
    fetch,
    multiply_add,
    repeat,
    splat,
    vector_type,
)
from roofline.model.isa import DTYPE_BITS

ROWS = 8
"""Rows at once: as many chains as most cores need, and each vector of x is loaded for eight of A."""
AHEAD_BYTES = 2048
"""How far ahead of its load each line of A is fetched into the second cache, when A comes from memory.

Multiply-adds that wait for memory fill the core's schedulers long before its load queue; a fetch waits nowhere. From a
cache it only takes a load's place.
"""


def rows_function(module: ir.Module, dtype: str, lanes: int, fused: bool, fetched: bool) -> ir.Function:
    """Return the function y[r] = sum over j of A[r, j] x[j] for ROWS rows, defining it in the module once.

    With `fetched` each line of A is asked for AHEAD_BYTES before it is loaded. Its arguments: the number of columns, a
    and its stride between rows in elements, x, y and its stride.
    """
    name = f"rows_{dtype}_{ROWS}x{lanes}{'_fetched' if fetched else ''}"
    if name in module.globals:
        return module.globals[name]
    element, vector = ELEMENTS[dtype], vector_type(dtype, lanes)
    pointer, item = element.as_pointer(), DTYPE_BITS[dtype] // 8
    kind = ir.FunctionType(ir.VoidType(), [I64, pointer, I64, pointer, pointer, I64])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    columns, a, a_row, x, y, y_row = function.args
    starts = [builder.gep(a, [builder.mul(a_row, ir.Constant(I64, row))]) for row in range(ROWS)]
    masks = ir.VectorType(ir.IntType(1), lanes)
    kinds = [vector.as_pointer(), I32, masks, vector]
    load_masked = declare(module, f"llvm.masked.load.v{lanes}{dtype}.p0", vector, kinds)
    width, zero = ir.Constant(I64, lanes), ir.Constant(vector, None)

    def vector_at(start: ir.Value, first: ir.Value) -> ir.Value:
        return builder.bitcast(builder.gep(start, [first]), vector.as_pointer())

    def load(start: ir.Value, first: ir.Value) -> ir.Value:
        value = builder.load(vector_at(start, first))
        value.align = item
        return value

    def load_rest(start: ir.Value, first: ir.Value) -> ir.Value:
        there = builder.sub(columns, first)
        mask = builder.icmp_unsigned(
            "<", ir.Constant(ir.VectorType(I64, lanes), list(range(lanes))), splat(builder, there, lanes)
        )
        return builder.call(load_masked, [vector_at(start, first), ir.Constant(I32, item), mask, zero])

    def add(
        sums: Sequence[ir.Value], first: ir.Value, part: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> list[ir.Value]:
        factors = part(x, first)
        if fused:
            return [
                multiply_add(builder, part(start, first), factors, total, dtype, lanes)
                for start, total in zip(starts, sums, strict=True)
            ]
        return [
            builder.fadd(total, builder.fmul(part(start, first), factors))
            for start, total in zip(starts, sums, strict=True)
        ]

    def whole(number: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        first = builder.mul(number, width)
        for start in starts if fetched else ():
            fetch(
                builder,
                builder.gep(start, [builder.add(first, ir.Constant(I64, AHEAD_BYTES // item))]),
                FOR_READING,
                SECOND_CACHE,
            )
        return add(sums, first, load)

    full = builder.udiv(columns, width)
    totals = _if_any(builder, full, [zero] * ROWS, lambda sums: repeat(builder, full, sums, whole))
    done = builder.mul(full, width)
    rest = builder.sub(columns, done)
    totals = _if_any(builder, rest, totals, lambda sums: add(sums, done, load_rest))
    for row, total in enumerate(_sums_of_lanes(builder, totals, lanes)):
        builder.store(total, builder.gep(y, [builder.mul(y_row, ir.Constant(I64, row))]))
    builder.ret_void()
    return function


def _sums_of_lanes(builder: ir.IRBuilder, vectors: list[ir.Value], lanes: int) -> list[ir.Value]:
    """Return the sum of the lanes of each vector, of all of them together.

    Sums of neighbouring lanes of two vectors fill one; so on, until a vector has a sum per lane or is the last one.
    Short rows would spend most of their time on one chain of additions for each.
    """
    whole = len(vectors)
    while lanes > 1 and len(vectors) % 2 == 0 and whole // len(vectors) < lanes:
        vectors = [
            _neighbours(builder, one, other, lanes) for one, other in zip(vectors[::2], vectors[1::2], strict=True)
        ]
    rows = whole // len(vectors)
    each = lanes // rows
    sums = []
    for vector in vectors:
        for row in range(rows):
            parts = [row * each + part for part in range(each)]
            total = vector if lanes == 1 else builder.extract_element(vector, ir.Constant(I32, parts[0]))
            for part in parts[1:]:
                total = builder.fadd(total, builder.extract_element(vector, ir.Constant(I32, part)))
            sums.append(total)
    return sums


def _neighbours(builder: ir.IRBuilder, one: ir.Value, other: ir.Value, lanes: int) -> ir.Value:
    """Return the sums of lanes 0 and 1, 2 and 3, ... of one vector, then those of another."""
    even, odd = (
        builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(I32, lanes), list(range(first, 2 * lanes, 2))))
        for first in (0, 1)
    )
    return builder.fadd(even, odd)


def _if_any(
    builder: ir.IRBuilder,
    count: ir.Value,
    values: list[ir.Value],
    change: Callable[[list[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """Emit `change` for a count above zero and return the values after it, or as they were."""
    before = builder.block
    body, after = builder.append_basic_block("some"), builder.append_basic_block("then")
    builder.cbranch(builder.icmp_unsigned(">", count, ir.Constant(I64, 0)), body, after)
    builder.position_at_end(body)
    changed = change(values)
    end = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    merged = []
    for old, new in zip(values, changed, strict=True):
        phi = builder.phi(old.type)
        phi.add_incoming(old, before)
        phi.add_incoming(new, end)
        merged.append(phi)
    return merged
