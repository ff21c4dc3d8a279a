"""The inner loop of matrix-vector products for compiled bodies, with a plain twin that counts; see `codegen.rows`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from roofline.codegen.intrinsics import HAS_FMA
from roofline.codegen.multiply import DTYPES, ISA, elements
from roofline.codegen.rows import ROWS, rows_function
from roofline.codegen.tile import I1


def multiply_rows_apart(y: Any, i: int, apart: int, A: Any, x: Any, fetched: bool) -> None:
    """y[i + r * apart] = sum over j of A[i + r * apart, j] * x[j] for r < ROWS; the rows of A are contiguous.

    Elements of A in int8 are converted to the type of x, which is f32 then.
    With `fetched` compiled code asks for each line of A ahead of its load, as pays where A comes from memory.
    """
    for r in range(ROWS):
        row = A[i + r * apart]
        total = x.dtype.type(0)
        for j in range(x.size):
            total += x.dtype.type(row[j]) * x[j]
        y[i + r * apart] = total


@overload(multiply_rows_apart, strict=False)
def _multiply_rows_apart(y: Any, i: Any, apart: Any, A: Any, x: Any, fetched: Any) -> Any:
    if not (A.dtype == x.dtype in DTYPES or (A.dtype, x.dtype) == (types.int8, types.float32)):
        return None

    def implementation(y, i, apart, A, x, fetched):  # type: ignore[no-untyped-def]
        _emitted_rows(y, i, apart, A, x, fetched)

    return implementation


def _emitted(typing_context: Any, y: Any, i: Any, apart: Any, A: Any, x: Any, fetched: Any) -> Any:
    size, dtype = types.int64, DTYPES[x.dtype]
    stored = DTYPES.get(A.dtype, "i8")
    signature = types.void(y, size, size, A, x, types.boolean)

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        to, i, apart, a, factors, fetched = arguments
        to_data, to_strides = elements(context, builder, y, to)
        a_data, a_strides = elements(context, builder, A, a)
        x_data, _unit = elements(context, builder, x, factors)
        columns = builder.extract_value(context.make_array(x)(context, builder, factors).shape, 0)
        first_row = builder.gep(a_data, [builder.mul(i, a_strides[0])])
        first_sum = builder.gep(to_data, [builder.mul(i, to_strides[0])])
        a_apart, y_apart = builder.mul(apart, a_strides[0]), builder.mul(apart, to_strides[0])
        far, near = (
            rows_function(builder.module, dtype, ISA.lanes(dtype), HAS_FMA, ahead, stored) for ahead in (True, False)
        )
        rows = builder.select(fetched if fetched.type == I1 else builder.trunc(fetched, I1), far, near)
        builder.call(rows, [columns, first_row, a_apart, x_data, first_sum, y_apart])
        return context.get_dummy_value()

    return signature, codegen


_emitted_rows: Any = intrinsic(_emitted)
