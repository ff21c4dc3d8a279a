"""The micro-kernel of matrix multiplication for compiled bodies, each function with a plain twin that counts.

Called from Python, `multiply_tile` is the loop it stands for; called from compiled code, it is `codegen.tile` for the
widest ISA of this host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from roofline.codegen.assembly import target_features
from roofline.codegen.emit import I64
from roofline.codegen.intrinsics import ARCH, HAS_FMA
from roofline.codegen.tile import I1, LINE_BYTES, Tile, tile_shape
from roofline.model.isa import isas_of

ISA = isas_of(ARCH, target_features())[-1]
"""What the tiles are made for here."""
TILE_ROWS, TILE_VECTORS = tile_shape(ISA)

DTYPES = {types.float64: "f64", types.float32: "f32"}
"""Numba's types of the element types that code is emitted for."""


def lanes_of(array: Any) -> int:
    """Return the elements of this array's dtype in one vector; those of f64 for an array that counts."""
    return ISA.lanes("f64")


@overload(lanes_of, inline="always", strict=False)
def _lanes_of(array: Any) -> Any:
    lanes = ISA.lanes(DTYPES[array.dtype])
    return lambda array: lanes


def aligned_start(array: Any) -> int:
    """Return the index of the first element of a vector that starts a cache line; 0 for an array that counts."""
    if not isinstance(array, np.ndarray) or array.dtype == object:
        return 0
    return int(-array.ctypes.data % LINE_BYTES // array.itemsize)


@overload(aligned_start, inline="always", strict=False)
def _aligned_start(array: Any) -> Any:
    return lambda array: (-np.intp(array.ctypes.data) % LINE_BYTES) // array.itemsize


def has_contiguous_rows(array: Any) -> bool:
    """Return whether a row's elements are neighbours and rows whole elements apart; true for an array that counts.

    In an array of packed records the matrices of one field are apart by a fraction of an element.
    """
    return True


@overload(has_contiguous_rows, inline="always", strict=False)
def _has_contiguous_rows(array: Any) -> Any:
    # `&`: what is inlined must not branch
    return lambda array: (array.strides[1] == array.itemsize) & (array.strides[0] % array.itemsize == 0)


def pack_panels(panels: Any, start: int, B: Any, k: int, depth: int, j: int, columns: int) -> None:
    """Copy B[k:k+depth, j:j+columns] into panels of TILE_VECTORS vectors per row, each contiguous, from `start` on.

    The last panel is as wide as it must be, filled up with zeros to a whole vector, when compiled. The rows of B are
    contiguous.
    """
    lanes = lanes_of(panels)
    width = TILE_VECTORS * lanes
    for first in range(0, columns, width):
        there = min(width, columns - first)
        padded = (there + lanes - 1) // lanes * lanes
        for q in range(depth):
            place = start + first * depth + q * padded
            for c in range(there):  # zeros are nobody's value: what is counted does not depend on the lanes
                panels[place + c] = B[k + q, j + first + c]


@overload(pack_panels, strict=False)
def _pack_panels(panels: Any, start: Any, B: Any, k: Any, depth: Any, j: Any, columns: Any) -> Any:
    if panels.dtype not in DTYPES:
        return None

    def implementation(panels, start, B, k, depth, j, columns):  # type: ignore[no-untyped-def]
        _emitted_pack(panels, start, B, k, depth, j, columns)

    return implementation


def _packed(typing_context: Any, panels: Any, start: Any, B: Any, k: Any, depth: Any, j: Any, columns: Any) -> Any:
    size, dtype = types.int64, DTYPES[panels.dtype]
    signature = types.void(panels, size, B, size, size, size, size)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        to, start, b, k, depth, j, columns = arguments
        to_data, _unit = elements(context, builder, panels, to)
        b_data, b_strides = elements(context, builder, B, b)
        block = builder.gep(b_data, [builder.add(builder.mul(k, b_strides[0]), j)])
        pack = Tile(builder.module, dtype, ISA.lanes(dtype), TILE_ROWS, TILE_VECTORS, HAS_FMA).pack_function()
        builder.call(pack, [builder.gep(to_data, [start]), block, b_strides[0], depth, columns])
        return context.get_dummy_value()

    return signature, codegen


_emitted_pack: Any = intrinsic(_packed)


def multiply_tile(
    C: Any,
    i: int,
    j: int,
    rows: int,
    columns: int,
    A: Any,
    k: int,
    panel: Any,
    start: int,
    width: int,
    depth: int,
    accumulate: bool,
) -> None:
    """C[i + r, j + c] (+)= sum over q < depth of A[i + r, k + q] * panel[start + q * width + c]

    For r < `rows` (at most TILE_ROWS) and c < `columns` (at most `width`, a multiple of the lanes up to TILE_VECTORS
    of them). The rows of C and of A are contiguous. Without `accumulate` C is only written.
    """
    for r in range(rows):
        for c in range(columns):
            total = C[i + r, j + c] if accumulate else C.dtype.type(0)
            for q in range(depth):
                total += A[i + r, k + q] * panel[start + q * width + c]
            C[i + r, j + c] = total


@overload(multiply_tile, strict=False)
def _multiply_tile(
    C: Any,
    i: Any,
    j: Any,
    rows: Any,
    columns: Any,
    A: Any,
    k: Any,
    panel: Any,
    start: Any,
    width: Any,
    depth: Any,
    accumulate: Any,
) -> Any:
    if C.dtype not in DTYPES:
        return None

    def implementation(C, i, j, rows, columns, A, k, panel, start, width, depth, accumulate):  # type: ignore[no-untyped-def]
        _emitted_tile(C, i, j, rows, columns, A, k, panel, start, width, depth, accumulate)

    return implementation


def _emitted(
    typing_context: Any,
    C: Any,
    i: Any,
    j: Any,
    rows: Any,
    columns: Any,
    A: Any,
    k: Any,
    panel: Any,
    start: Any,
    width: Any,
    depth: Any,
    accumulate: Any,
) -> Any:
    size, dtype = types.int64, DTYPES[C.dtype]
    signature = types.void(C, size, size, size, size, A, size, panel, size, size, size, types.boolean)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        c, i, j, rows, columns, a, k, b, start, width, depth, accumulate = arguments
        c_data, c_strides = elements(context, builder, C, c)
        a_data, a_strides = elements(context, builder, A, a)
        b_data, _unit = elements(context, builder, panel, b)
        lanes = ISA.lanes(dtype)
        there = [
            depth,
            builder.gep(a_data, [builder.add(builder.mul(i, a_strides[0]), k)]),
            a_strides[0],
            builder.gep(b_data, [start]),
            builder.gep(c_data, [builder.add(builder.mul(i, c_strides[0]), j)]),
            c_strides[0],
            rows,
            columns,
            accumulate if accumulate.type == I1 else builder.trunc(accumulate, I1),
        ]
        after, unknown = builder.append_basic_block("after"), builder.append_basic_block("unknown")
        choice = builder.switch(builder.udiv(width, ir.Constant(I64, lanes)), unknown)
        for vectors in range(1, TILE_VECTORS + 1):
            block = builder.append_basic_block(f"tile_{vectors}")
            choice.add_case(ir.Constant(I64, vectors), block)
            builder.position_at_end(block)
            builder.call(Tile(builder.module, dtype, lanes, TILE_ROWS, vectors, HAS_FMA).function(), there)
            builder.branch(after)
        builder.position_at_end(unknown)
        builder.unreachable()
        builder.position_at_end(after)
        return context.get_dummy_value()

    return signature, codegen


_emitted_tile: Any = intrinsic(_emitted)


def elements(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
    """Return an array's data pointer and its strides in elements."""
    array = context.make_array(kind)(context, builder, value)
    item = ir.Constant(I64, kind.dtype.bitwidth // 8)
    strides = cgutils.unpack_tuple(builder, array.strides, kind.ndim)  # type: ignore[no-untyped-call]
    return array.data, [builder.sdiv(stride, item) for stride in strides]
