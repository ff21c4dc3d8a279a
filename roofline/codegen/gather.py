"""The chunk of a sparse matrix in SELL-C-sigma times a vector, for compiled bodies, with a plain twin that counts."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from roofline.codegen.emit import I32, I64, multiply_add, repeat, vector_type
from roofline.codegen.intrinsics import HAS_FMA
from roofline.codegen.multiply import DTYPES, ISA
from roofline.model.isa import DTYPE_BITS

CHUNK = 16
"""C, rows per chunk: one vector of 512 bits in f32, two in f64."""


def multiply_chunk(sums: Any, values: Any, columns: Any, x: Any, first: int, last: int) -> None:
    """sums[r] = sum over k of values[k + r] * x[columns[k + r]] for r < CHUNK, k = first, first + CHUNK, ... < last

    All arrays are contiguous, the columns int32, and last - first a multiple of CHUNK.
    """
    for r in range(CHUNK):
        total = x.dtype.type(0)
        for k in range(first, last, CHUNK):
            total += values[k + r] * x[columns[k + r]]
        sums[r] = total


@overload(multiply_chunk, strict=False)
def _multiply_chunk(sums: Any, values: Any, columns: Any, x: Any, first: Any, last: Any) -> Any:
    if x.dtype not in DTYPES or columns.dtype != types.int32:
        return None

    def implementation(sums, values, columns, x, first, last):  # type: ignore[no-untyped-def]
        if last > first:
            _emitted_chunk(sums, values, columns, x, first, (last - first) // CHUNK)
        else:
            for r in range(CHUNK):
                sums[r] = 0

    return implementation


def _emitted(typing_context: Any, sums: Any, values: Any, columns: Any, x: Any, first: Any, steps: Any) -> Any:
    """Multiply and add vectors of rows; the elements of x are loaded one by one.

    A gather instruction does the same for all lanes. On the Zen 4 that this was measured on it took 1.0 to 1.6 times as
    long while a cache held the matrix, and 0.9 to 1.4 times from memory.
    """
    size, dtype = types.int64, DTYPES[x.dtype]
    item, lanes = DTYPE_BITS[dtype] // 8, ISA.lanes(dtype)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        to, a, j, factors = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip((sums, values, columns, x), arguments[:4], strict=True)
        )
        start, steps = arguments[4:]
        vector = vector_type(dtype, lanes)
        unknown, zero = ir.Constant(vector, ir.Undefined), ir.Constant(vector, None)

        def gathered(place: ir.Value) -> ir.Value:
            found = unknown
            for lane in range(lanes):
                column = builder.load(builder.gep(j, [builder.add(place, ir.Constant(I64, lane))]))
                element = builder.load(builder.gep(factors, [builder.sext(column, I64)]))
                found = builder.insert_element(found, element, ir.Constant(I32, lane))
            return found

        def step(number: ir.Value, totals: list[ir.Value]) -> list[ir.Value]:
            at = builder.add(start, builder.mul(number, ir.Constant(I64, CHUNK)))
            new = []
            for part, total in enumerate(totals):
                place = builder.add(at, ir.Constant(I64, part * lanes))
                value = builder.load(builder.bitcast(builder.gep(a, [place]), vector.as_pointer()))
                value.align = item
                if HAS_FMA:
                    new.append(multiply_add(builder, value, gathered(place), total, dtype, lanes))
                else:
                    new.append(builder.fadd(total, builder.fmul(value, gathered(place))))
            return new

        for part, total in enumerate(repeat(builder, steps, [zero] * (CHUNK // lanes), step)):
            place = builder.gep(to, [ir.Constant(I64, part * lanes)])
            builder.store(total, builder.bitcast(place, vector.as_pointer())).align = item
        return context.get_dummy_value()

    return types.void(sums, values, columns, x, size, size), codegen


_emitted_chunk: Any = intrinsic(_emitted)
