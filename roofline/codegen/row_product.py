"""The inner loop of matrix-vector products for compiled bodies, with a plain twin that counts; see `codegen.rows`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from roofline.codegen.intrinsics import HAS_FMA
from roofline.codegen.multiply import DTYPES, ISA, elements
from roofline.codegen.rows import FAR_ROWS, NEAR_ROWS, rows_function
from roofline.codegen.tile import I1


def multiply_neighbours(y: Any, i: int, A: Any, x: Any) -> None:
    """y[i + r] = sum over j of A[i + r, j] * x[j] for r < NEAR_ROWS; the rows of A are contiguous.

    Elements of A in int8 are converted to the type of x, which is f32 then.
    """
    _plain_rows(y, i, 1, A, x, NEAR_ROWS)


def multiply_rows_apart(y: Any, i: int, apart: int, A: Any, x: Any, fetched: bool) -> None:
    """The same of FAR_ROWS rows that are so many `apart`: y[i + r * apart] from A[i + r * apart].

    With `fetched` compiled code asks for each line of A ahead of its load, as may pay where A comes from memory.
    """
    _plain_rows(y, i, apart, A, x, FAR_ROWS)


def _plain_rows(y: Any, i: int, apart: int, A: Any, x: Any, rows: int) -> None:
    for r in range(rows):
        row = A[i + r * apart]
        total = x.dtype.type(0)
        for j in range(x.size):
            total += x.dtype.type(row[j]) * x[j]
        y[i + r * apart] = total


@overload(multiply_neighbours, strict=False)
def _multiply_neighbours(y: Any, i: Any, A: Any, x: Any) -> Any:
    if not _has_code(A, x):
        return None

    def implementation(y, i, A, x):  # type: ignore[no-untyped-def]
        _emitted_neighbours(y, i, 1, A, x)

    return implementation


@overload(multiply_rows_apart, strict=False)
def _multiply_rows_apart(y: Any, i: Any, apart: Any, A: Any, x: Any, fetched: Any) -> Any:
    if not _has_code(A, x):
        return None

    def implementation(y, i, apart, A, x, fetched):  # type: ignore[no-untyped-def]
        _emitted_rows_apart(y, i, apart, A, x, fetched)

    return implementation


def _has_code(A: Any, x: Any) -> bool:
    return A.dtype == x.dtype in DTYPES or (A.dtype, x.dtype) == (types.int8, types.float32)


def _neighbours(typing_context: Any, y: Any, i: Any, apart: Any, A: Any, x: Any) -> Any:
    return types.void(y, types.int64, types.int64, A, x), _code(y, A, x, NEAR_ROWS)


def _rows_apart(typing_context: Any, y: Any, i: Any, apart: Any, A: Any, x: Any, fetched: Any) -> Any:
    return types.void(y, types.int64, types.int64, A, x, types.boolean), _code(y, A, x, FAR_ROWS)


def _code(y: Any, A: Any, x: Any, count: int) -> Any:
    """Return what emits the call for `count` rows of arrays of these types; lines are fetched if a sixth value says."""
    dtype = DTYPES[x.dtype]
    stored = DTYPES.get(A.dtype, "i8")

    def codegen(context: Any, builder: ir.IRBuilder, _: Any, arguments: Any) -> ir.Value:
        to, i, apart, a, factors, *choice = arguments
        to_data, to_strides = elements(context, builder, y, to)
        a_data, a_strides = elements(context, builder, A, a)
        x_data, _unit = elements(context, builder, x, factors)
        columns = builder.extract_value(context.make_array(x)(context, builder, factors).shape, 0)
        first_row = builder.gep(a_data, [builder.mul(i, a_strides[0])])
        first_sum = builder.gep(to_data, [builder.mul(i, to_strides[0])])
        a_apart, y_apart = builder.mul(apart, a_strides[0]), builder.mul(apart, to_strides[0])
        rows, *far = (
            rows_function(builder.module, dtype, ISA.lanes(dtype), HAS_FMA, ahead, stored, count)
            for ahead in (False, True)[: 1 + len(choice)]
        )
        for fetched in choice:
            rows = builder.select(fetched if fetched.type == I1 else builder.trunc(fetched, I1), far[0], rows)
        builder.call(rows, [columns, first_row, a_apart, x_data, first_sum, y_apart])
        return context.get_dummy_value()

    return codegen


_emitted_neighbours: Any = intrinsic(_neighbours)
_emitted_rows_apart: Any = intrinsic(_rows_apart)
