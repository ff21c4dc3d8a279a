"""Dot products for kernels of int8: what compiled code runs, with the CPU's own instructions, in place of plain loops.

The loops themselves stay in `kernels/`, as plain functions that Python can run and count. LLVM makes multiplications
of int16 or int32 of them; one instruction that multiplies int8 and adds up four products does the work of two to four.
Where the CPU has none (see `dot`), compiled code runs the plain loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from roofline.codegen.assembly import target_features
from roofline.codegen.dot import I8, dot_form, dot_step
from roofline.codegen.emit import I32, I64, repeat, splat, sum_lanes
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


FORM, LANES = _widest()
ROWS = 4 if LANES == 32 else 8
"""Rows of a tile of sums: with VECTORS, as many accumulators as the registers hold beside the factors."""
VECTORS = 2 if LANES == 32 else 3
COLUMNS = VECTORS * LANES // 4
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
        return plain if FORM is None else _dot_tile

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
    assert FORM is not None
    form = FORM

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
        kinds = (sums, rows, panel)
        out, x, w = (_pointer(context, builder, kind, value) for kind, value in zip(kinds, arguments[:3], strict=True))
        vector, row = ir.VectorType(I8, LANES), ir.VectorType(I8, 4 * ROWS)
        zero = splat(builder, ir.Constant(I32, 0), LANES // 4)
        sign = splat(builder, ir.Constant(I8, _SIGN), LANES)
        row_sign = splat(builder, ir.Constant(I8, _SIGN), 4 * ROWS)

        def turn(number: ir.Value, values: list[ir.Value]) -> list[ir.Value]:
            at_w = builder.mul(number, ir.Constant(I64, VECTORS * LANES))
            at_x = builder.mul(number, ir.Constant(I64, 4 * ROWS))
            new = []
            factors = []
            for part in range(VECTORS):
                factor = _load(builder, w, builder.add(at_w, ir.Constant(I64, part * LANES)), vector)
                factors.append(builder.xor(factor, sign) if form == "vnni" else factor)
            for r in range(ROWS):
                four = _load(builder, x, builder.add(at_x, ir.Constant(I64, 4 * r)), I32)
                spread = builder.bitcast(splat(builder, four, LANES // 4), vector)
                for part in range(VECTORS):
                    new.append(dot_step(builder, form, values[r * VECTORS + part], factors[part], spread))
            if form == "vnni":
                new.append(dot_step(builder, form, values[-1], row_sign, _load(builder, x, at_x, row)))
            return new

        starts = [zero] * (ROWS * VECTORS)
        if form == "vnni":
            starts.append(splat(builder, ir.Constant(I32, 0), ROWS))
        results = repeat(builder, arguments[3], starts, turn)
        for r in range(ROWS):
            for part in range(VECTORS):
                value = results[r * VECTORS + part]
                if form == "vnni":
                    excess = builder.extract_element(results[-1], ir.Constant(I32, r))
                    value = builder.sub(value, splat(builder, excess, LANES // 4))
                place = ir.Constant(I64, (r * COLUMNS + part * LANES // 4) * 4)
                target = builder.bitcast(builder.gep(out, [place]), value.type.as_pointer())
                builder.store(value, target).align = 4
        return context.get_dummy_value()

    return types.void(sums, rows, panel, types.int64), codegen


def _pointer(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> ir.Value:
    """Return the address of an array's first element, as a pointer to bytes."""
    array = context.make_array(kind)(context, builder, value)
    return builder.bitcast(array.data, I8.as_pointer())


def _load(builder: ir.IRBuilder, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
    value = builder.load(builder.bitcast(builder.gep(start, [place]), kind.as_pointer()))
    value.align = 1
    return value
