"""The inner loop of matrix-vector products: several rows at once, lines fetched ahead or not. Pure IR, any target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from llvmlite import ir

from roofline.codegen.emit import (
    ELEMENTS,
    FOR_READING,
    I8,
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

NEAR_ROWS = 8
"""Rows at once in a cache: as many chains as most cores need, and each vector of x is loaded for eight of A."""
FAR_ROWS = 4
"""Rows at once in memory, which serves four streams better than one, and better than eight."""
LINE_BYTES = 64
AHEAD_BYTES = 2048
"""How far ahead of its load each line of A is fetched into the second cache, when A comes from memory.

Multiply-adds that wait for memory fill the core's schedulers long before its load queue; a fetch waits nowhere. From a
cache it only takes a load's place.
"""


def rows_function(
    module: ir.Module,
    dtype: str,
    lanes: int,
    fused: bool,
    fetched: bool,
    stored: str | None = None,
    rows: int = NEAR_ROWS,
) -> ir.Function:
    """Return the function y[r] = sum over j of A[r, j] x[j] for r < `rows`, defining it in the module once.

    A is `stored` in `i8` or else as the others, in `dtype`; each vector of int8 is converted where it meets x. With
    `fetched` each line of A is asked for AHEAD_BYTES before it is loaded. Its arguments: the number of columns, a and
    its stride between rows in elements, x, y and its stride.
    """
    stored = stored or dtype
    name = f"rows_{stored}_{dtype}_{rows}x{lanes}{'_fetched' if fetched else ''}"
    if name in module.globals:
        return module.globals[name]
    element, vector = ELEMENTS[dtype], vector_type(dtype, lanes)
    pointer, item = element.as_pointer(), DTYPE_BITS[dtype] // 8
    stored_item = DTYPE_BITS[stored] // 8
    narrow = vector if stored == dtype else ir.VectorType(I8, lanes)
    stored_pointer = pointer if stored == dtype else I8.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [I64, stored_pointer, I64, pointer, pointer, I64])
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    columns, a, a_row, x, y, y_row = function.args
    starts = [builder.gep(a, [builder.mul(a_row, ir.Constant(I64, row))]) for row in range(rows)]
    masks = ir.VectorType(ir.IntType(1), lanes)
    width, zero = ir.Constant(I64, lanes), ir.Constant(vector, None)
    together = max(1, LINE_BYTES // (lanes * stored_item)) if fetched else 1  # vectors of a line

    def load(start: ir.Value, first: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Load a vector of x, or of A as it is stored."""
        of_x = start is x
        vectors, bytes_, code = (vector, item, dtype) if of_x else (narrow, stored_item, stored)
        place = builder.bitcast(builder.gep(start, [first]), vectors.as_pointer())
        if mask is None:
            value = builder.load(place)
            value.align = bytes_
        else:
            kinds = [vectors.as_pointer(), I32, masks, vectors]
            load_masked = declare(module, f"llvm.masked.load.v{lanes}{code}.p0", vectors, kinds)
            arguments = [place, ir.Constant(I32, bytes_), mask, ir.Constant(vectors, None)]
            value = builder.call(load_masked, arguments)
        return value if of_x or stored == dtype else builder.sitofp(value, vector)

    def add(sums: Sequence[ir.Value], first: ir.Value, mask: ir.Value | None = None) -> list[ir.Value]:
        factors = load(x, first, mask)
        loaded = [load(start, first, mask) for start in starts]
        if fused:
            return [
                multiply_add(builder, row, factors, total, dtype, lanes)
                for row, total in zip(loaded, sums, strict=True)
            ]
        return [builder.fadd(total, builder.fmul(row, factors)) for row, total in zip(loaded, sums, strict=True)]

    def line(number: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        first = builder.mul(number, ir.Constant(I64, together * lanes))
        for start in starts if fetched else ():
            place = builder.gep(start, [builder.add(first, ir.Constant(I64, AHEAD_BYTES // stored_item))])
            fetch(builder, place, FOR_READING, SECOND_CACHE)
        for part in range(together):
            sums = add(sums, builder.add(first, ir.Constant(I64, part * lanes)))
        return sums

    def whole(number: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        return add(sums, builder.add(done, builder.mul(number, width)))

    def last(sums: list[ir.Value]) -> list[ir.Value]:
        there = splat(builder, builder.sub(columns, done), lanes)
        mask = builder.icmp_unsigned("<", ir.Constant(ir.VectorType(I64, lanes), list(range(lanes))), there)
        return add(sums, done, mask)

    totals, done = [zero] * rows, ir.Constant(I64, 0)
    for turn, length in ((line, together * lanes), (whole, lanes)) if together > 1 else ((line, lanes),):
        count = builder.udiv(builder.sub(columns, done), ir.Constant(I64, length))
        totals = _if_any(builder, count, totals, partial(_turns, builder, count, turn))
        done = builder.add(done, builder.mul(count, ir.Constant(I64, length)))
    totals = _if_any(builder, builder.sub(columns, done), totals, last)
    for row, total in enumerate(_sums_of_lanes(builder, totals, lanes)):
        builder.store(total, builder.gep(y, [builder.mul(y_row, ir.Constant(I64, row))]))
    builder.ret_void()
    return function


def _turns(
    builder: ir.IRBuilder,
    count: ir.Value,
    turn: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
    values: list[ir.Value],
) -> list[ir.Value]:
    return repeat(builder, count, values, turn)


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
