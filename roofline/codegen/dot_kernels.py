"""Dot products for kernels of int8: what compiled code runs, with the CPU's own instructions, in place of plain loops.

The loops themselves stay in `kernels/`, as plain functions that Python can run and count. LLVM makes multiplications
of int16 or int32 of them; one instruction that multiplies int8 and adds up four products does the work of two to four.
Where an x86 CPU has none (see `dot`), tiles are widened to int16 on the way and multiplied by VPMADDWD; everything else
is then the plain loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from roofline.codegen.assembly import target_features
from roofline.codegen.dot import dot_form, dot_step, sums_of_products
from roofline.codegen.emit import I8, I16, I32, I64, repeat, splat, sum_lanes
from roofline.codegen.intrinsics import ARCH

_SIGN = 128
"""VPDPBUSD multiplies unsigned by signed: of one factor 128 is added to, and 128 times the other's sum subtracted."""
_UNROLL = 2
"""Independent sums of a dot product, and vectors of each factor in one turn of its loop."""


def _widest() -> tuple[str | None, int]:
    """Return (form, int8 per register) of the widest dot product instruction; (None, 16) where there is none."""
    for lanes in (64, 32, 16):
        form = dot_form(ARCH, target_features(), lanes)
        if form in ("vnni", "sdot"):
            return form, lanes
    return None, 16


def _tile() -> tuple[str | None, int, int, int]:
    """Return (form, int8 per register, rows, vectors) of a tile of sums.

    Rows times vectors are as many accumulators as the registers hold beside the factors; the widening form needs two
    for each. Without a form, the numbers are those of the plain loop's tile.
    """
    if FORM is not None:
        return (FORM, LANES, 4, 2) if LANES == 32 else (FORM, LANES, 8, 3)
    for lanes, rows in ((64, 8), (32, 4)):
        if ARCH == "x86_64" and dot_form(ARCH, target_features(), lanes) == "widening":
            return "widening", lanes, rows, 1
    return None, 16, 8, 3


FORM, LANES = _widest()
TILE_FORM, TILE_LANES, ROWS, VECTORS = _tile()
COLUMNS = VECTORS * TILE_LANES // 4
"""Columns of a tile of sums."""


def _intrinsic(implementation: Callable[..., Any]) -> Any:
    """Declare an intrinsic; numba's type of it describes the implementation, not what compiled code calls."""
    return intrinsic(prefer_literal=True)(implementation)


def runs_dot_product(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled code run dot product instructions for `plain(a, b)`, the sum of a[k] * b[k] in int32."""

    def typed(a: Any, b: Any) -> Any:
        return plain if FORM is None else _dot_product

    overload(plain, strict=False)(typed)
    plain.implementations = (_dot_product,)  # type: ignore[attr-defined]  # for the kernel's digest
    return plain


def runs_dot_tile(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled code run dot product instructions for `plain(sums, rows, panel, height, width, depth)`.

    sums[r, j] = sum over k < depth of rows[k // 4, r, k % 4] * panel[k // 4, j, k % 4] for r < height, j < width,
    where `sums` is ROWS x COLUMNS of int32, and the others of int8 are padded with zeros to as many rows and columns.
    """

    def typed(sums: Any, rows: Any, panel: Any, height: Any, width: Any, depth: Any) -> Any:
        return plain if TILE_FORM is None else _dot_tile

    overload(plain, strict=False)(typed)
    plain.implementations = (_dot_tile,)  # type: ignore[attr-defined]
    return plain


def _dot_product(a, b):  # type: ignore[no-untyped-def]
    total = np.int32(0)
    turns = a.size // (_UNROLL * LANES)
    if turns > 0:
        total = _vectors_of_products(a, b, turns, _UNROLL)
    first = turns * _UNROLL * LANES
    turns = (a.size - first) // LANES
    if turns > 0:
        total = np.int32(total + _vectors_of_products(a[first:], b[first:], turns, 1))
    first += turns * LANES
    x, y = a[first:], b[first:]
    for k in range(x.size):
        total = np.int32(total + np.int32(x[k]) * np.int32(y[k]))
    return total


def _dot_tile(sums, rows, panel, height, width, depth):  # type: ignore[no-untyped-def]
    _tile_of_products(sums, rows, panel, (depth + 3) // 4)


@_intrinsic
def _vectors_of_products(typing_context: Any, a: Any, b: Any, turns: Any, unroll: Any) -> Any:
    """Return the dot product of the first `turns` x `unroll` vectors of two contiguous arrays of int8."""
    assert FORM is not None
    form, parts = FORM, unroll.literal_value

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        vector = ir.VectorType(I8, LANES)
        starts = [_pointer(context, builder, kind, value) for kind, value in zip((a, b), arguments[:2], strict=True)]
        zero = splat(builder, ir.Constant(I32, 0), LANES // 4)
        sign = splat(builder, ir.Constant(I8, _SIGN), LANES)

        def turn(number: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            first = builder.mul(number, ir.Constant(I64, parts * LANES))
            new = list(sums)
            for part in range(parts):
                place = builder.add(first, ir.Constant(I64, part * LANES))
                x, y = (_load(builder, start, place, vector) for start in starts)
                if form == "vnni":
                    new[part] = dot_step(builder, form, sums[part], builder.xor(x, sign), y)
                    new[parts + part] = dot_step(builder, form, sums[parts + part], sign, y)
                else:
                    new[part] = dot_step(builder, form, sums[part], x, y)
            return new

        sums = repeat(builder, arguments[2], [zero] * (2 if form == "vnni" else 1) * parts, turn)
        total = zero
        for number, partial in enumerate(sums):
            total = builder.add(total, partial) if number < parts else builder.sub(total, partial)
        return sum_lanes(builder, total, LANES // 4)

    return types.int32(a, b, types.int64, unroll), codegen


@_intrinsic
def _tile_of_products(typing_context: Any, sums: Any, rows: Any, panel: Any, groups: Any) -> Any:
    """Write a tile of dot products: ROWS x VECTORS accumulators, each four products further in a turn of the loop.

    The four int8 of a row are broadcast to all lanes; lane j of a vector of `panel` holds four int8 of column j.
    """
    emitted = _widened_tile if TILE_FORM == "widening" else _instruction_tile

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        kinds = (sums, rows, panel)
        out, x, w = (_pointer(context, builder, kind, value) for kind, value in zip(kinds, arguments[:3], strict=True))
        for number, value in enumerate(emitted(builder, x, w, arguments[3])):
            r, part = divmod(number, VECTORS)
            place = ir.Constant(I64, (r * COLUMNS + part * TILE_LANES // 4) * 4)
            target = builder.bitcast(builder.gep(out, [place]), value.type.as_pointer())
            builder.store(value, target).align = 4
        return context.get_dummy_value()

    return types.void(sums, rows, panel, types.int64), codegen


def _instruction_tile(builder: ir.IRBuilder, x: ir.Value, w: ir.Value, groups: ir.Value) -> list[ir.Value]:
    """Emit the loop of one instruction for all four products; return the sums, row by row."""
    assert TILE_FORM is not None
    form, lanes = TILE_FORM, TILE_LANES
    vector, row = ir.VectorType(I8, lanes), ir.VectorType(I8, 4 * ROWS)
    zero = splat(builder, ir.Constant(I32, 0), lanes // 4)
    sign = splat(builder, ir.Constant(I8, _SIGN), lanes)
    row_sign = splat(builder, ir.Constant(I8, _SIGN), 4 * ROWS)

    def turn(number: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
        at_w = builder.mul(number, ir.Constant(I64, VECTORS * lanes))
        at_x = builder.mul(number, ir.Constant(I64, 4 * ROWS))
        new = []
        factors = []
        for part in range(VECTORS):
            factor = _load(builder, w, builder.add(at_w, ir.Constant(I64, part * lanes)), vector)
            factors.append(builder.xor(factor, sign) if form == "vnni" else factor)
        for r in range(ROWS):
            four = _load(builder, x, builder.add(at_x, ir.Constant(I64, 4 * r)), I32)
            spread = builder.bitcast(splat(builder, four, lanes // 4), vector)
            for part in range(VECTORS):
                new.append(dot_step(builder, form, values[r * VECTORS + part], factors[part], spread))
        if form == "vnni":
            new.append(dot_step(builder, form, values[-1], row_sign, _load(builder, x, at_x, row)))
        return new

    starts = [zero] * (ROWS * VECTORS)
    if form == "vnni":
        starts.append(splat(builder, ir.Constant(I32, 0), ROWS))
    results = repeat(builder, groups, starts, turn)
    if form != "vnni":
        return results
    excess = [builder.extract_element(results[-1], ir.Constant(I32, r)) for r in range(ROWS)]
    return [
        builder.sub(value, splat(builder, excess[number // VECTORS], lanes // 4))
        for number, value in enumerate(results[:-1])
    ]


def _widened_tile(builder: ir.IRBuilder, x: ir.Value, w: ir.Value, groups: ir.Value) -> list[ir.Value]:
    """Emit the loop for CPUs that multiply int16 and add two products; return the sums, row by row.

    Each half of a vector of the panel has its own accumulator, of two sums for each of its columns.
    """
    lanes = TILE_LANES
    half, four = ir.VectorType(I8, lanes // 2), ir.VectorType(I8, 4)
    wide, four_wide = ir.VectorType(I16, lanes // 2), ir.VectorType(I16, 4)

    def turn(number: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
        at_w = builder.mul(number, ir.Constant(I64, VECTORS * lanes))
        at_x = builder.mul(number, ir.Constant(I64, 4 * ROWS))
        halves = [
            builder.sext(_load(builder, w, builder.add(at_w, ir.Constant(I64, part * lanes // 2)), half), wide)
            for part in range(2 * VECTORS)
        ]
        new = []
        for r in range(ROWS):
            row = builder.sext(_load(builder, x, builder.add(at_x, ir.Constant(I64, 4 * r)), four), four_wide)
            spread = builder.bitcast(splat(builder, builder.bitcast(row, I64), lanes // 8), wide)
            for part, factor in enumerate(halves):
                products = sums_of_products(builder, ARCH, factor, spread)
                new.append(builder.add(values[r * 2 * VECTORS + part], products))
        return new

    zero = splat(builder, ir.Constant(I32, 0), lanes // 4)
    results = repeat(builder, groups, [zero] * (2 * ROWS * VECTORS), turn)
    even, odd = (_indices(range(first, lanes // 2, 2)) for first in (0, 1))
    return [
        builder.add(*(builder.shuffle_vector(low, high, side) for side in (even, odd)))
        for low, high in zip(results[::2], results[1::2], strict=True)
    ]


def _indices(numbers: Sequence[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(I32, len(numbers)), [ir.Constant(I32, number) for number in numbers])


def _pointer(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> ir.Value:
    """Return the address of an array's first element, as a pointer to bytes."""
    array = context.make_array(kind)(context, builder, value)
    return builder.bitcast(array.data, I8.as_pointer())


def _load(builder: ir.IRBuilder, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
    value = builder.load(builder.bitcast(builder.gep(start, [place]), kind.as_pointer()))
    value.align = 1
    return value
