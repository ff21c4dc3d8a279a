"""The micro-kernel of matrix multiplication: a tile of C stays in registers while A and B stream past it.

Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008; Van Zee, van de Geijn,
"BLIS: A Framework for Rapidly Instantiating BLAS Functionality", ACM TOMS 41(3), 2015. Pure IR, any target.
"""

from __future__ import annotations

from llvmlite import ir

from roofline.codegen.emit import (
    ALL_CACHES,
    ELEMENTS,
    FOR_READING,
    FOR_WRITING,
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
from roofline.model.isa import DTYPE_BITS, Isa

I1 = ir.IntType(1)
_ZERO = ir.Constant(I64, 0)
_ROWS_STEP = 4
LINE_BYTES = 64
_NEXT_ROWS = 8
"""Rows of A that are fetched while the rows before them are in use: one line at every step of the depth."""
_ROWS_AHEAD = 8
"""Rows of B that packing fetches ahead: its short pieces of rows do not train the hardware's prefetcher."""


def tile_shape(isa: Isa) -> tuple[int, int]:
    """Return (rows, vectors per row) of the tile of C that this ISA's registers hold best.

    Beside the rows x vectors accumulators, one row of B and one element of A must fit the register file. Among the
    shapes with a multiple of four rows, which divide most sizes, the one with the fewest loads per multiply-add
    wins; a vector of B counts twice, because it comes from the second cache.
    """
    shapes = [
        (rows, vectors)
        for rows in range(_ROWS_STEP, isa.registers, _ROWS_STEP)
        for vectors in range(1, isa.registers)
        if rows * vectors + vectors + 1 <= isa.registers
    ]
    return min(shapes, key=lambda shape: (shape[0] + 2 * shape[1]) / (shape[0] * shape[1]))


class Tile:
    """Emits the function of one tile shape: C[r, j] (+)= sum over k of A[r, k] B[k, j]."""

    def __init__(self, module: ir.Module, dtype: str, lanes: int, rows: int, vectors: int, fused: bool) -> None:
        """`fused` multiplies and adds in one instruction; without FMA hardware it must be False."""
        self.module = module
        self.dtype = dtype
        self.lanes = lanes
        self.rows = rows
        self.vectors = vectors
        self.fused = fused
        self.element = ELEMENTS[dtype]
        self.vector = vector_type(dtype, lanes)
        self.element_bytes = DTYPE_BITS[dtype] // 8

    def function(self) -> ir.Function:
        """Return the function, defining it in the module once.

        Its arguments: depth (at least 1); a, with contiguous rows, and its stride between rows in elements; b, packed:
        `vectors` x `lanes` columns for each step of depth; c with its stride between rows; how many rows and columns
        of the tile exist; and whether to add to what c holds, which else is only written.
        """
        name = f"tile_{self.dtype}_{self.rows}x{self.vectors * self.lanes}"
        if name in self.module.globals:
            return self.module.globals[name]
        pointer = self.element.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [I64, pointer, I64, pointer, pointer, I64, I64, I64, I1])
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")  # its registers are allocated for it alone
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        depth, a, a_row, b, c, c_row, rows, columns, accumulate = function.args
        places = [builder.gep(c, [builder.mul(c_row, ir.Constant(I64, row))]) for row in range(self.rows)]
        self._prefetch(builder, places)
        sums = self._product(builder, depth, a, a_row, b, rows)
        all_rows = builder.icmp_unsigned("==", rows, ir.Constant(I64, self.rows))
        all_columns = builder.icmp_unsigned("==", columns, ir.Constant(I64, self.vectors * self.lanes))
        with builder.if_else(builder.and_(all_rows, all_columns)) as (whole, edge):
            with whole, builder.if_else(accumulate) as (adding, writing):
                with adding:
                    self._store(builder, sums, places, add=True)
                with writing:
                    self._store(builder, sums, places, add=False)
            with edge:
                self._store_edge(builder, sums, places, rows, columns, accumulate)
        builder.ret_void()
        return function

    def pack_function(self) -> ir.Function:
        """Return the function that packs a block of B into panels, defining it in the module once.

        Its arguments: the panels' address, the block's address, its stride between rows in elements, its rows (the
        depth) and columns, both at least 1. Each panel is as wide as the tile and contiguous; the last is as wide as
        it must be, filled up with zeros to a whole vector.
        """
        width = self.vectors * self.lanes
        name = f"pack_{self.dtype}_{width}"
        if name in self.module.globals:
            return self.module.globals[name]
        pointer = self.element.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, I64, I64, I64])
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        panels, block, stride, depth, columns = function.args
        wide = ir.Constant(I64, width)
        whole = builder.udiv(columns, wide)
        rest = builder.urem(columns, wide)
        lanes = ir.Constant(I64, self.lanes)
        vectors_left = builder.udiv(builder.add(rest, ir.Constant(I64, self.lanes - 1)), lanes)
        rows_ahead = builder.mul(stride, ir.Constant(I64, _ROWS_AHEAD))
        last = builder.gep(panels, [builder.mul(builder.mul(whole, depth), wide)])

        def one_row(q: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            row = builder.gep(block, [builder.mul(q, stride)])

            def one_panel(number: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                source = builder.gep(row, [builder.mul(number, wide)])
                place = builder.add(builder.mul(number, depth), q)
                target = builder.gep(panels, [builder.mul(place, wide)])
                for v in range(self.vectors):
                    ahead = builder.gep(source, [builder.add(rows_ahead, ir.Constant(I64, v * self.lanes))])
                    fetch(builder, ahead, FOR_READING, ALL_CACHES)
                    value = self._load(builder, self._at(builder, source, v))
                    builder.store(value, self._at(builder, target, v)).align = self.element_bytes
                return []

            def one_vector(v: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
                first = builder.mul(v, lanes)
                mask = self._mask(builder, builder.sub(rest, first), 0)
                source = builder.gep(row, [builder.add(builder.mul(whole, wide), first)])
                place = builder.add(builder.mul(builder.mul(q, vectors_left), lanes), first)
                value = self._masked_load(builder, self._at(builder, source, 0), mask)
                target = self._at(builder, builder.gep(last, [place]), 0)
                builder.store(value, target).align = self.element_bytes
                return []

            with builder.if_then(builder.icmp_unsigned(">", whole, _ZERO)):
                repeat(builder, whole, [], one_panel)
            with builder.if_then(builder.icmp_unsigned(">", vectors_left, _ZERO)):
                repeat(builder, vectors_left, [], one_vector)
            return []

        repeat(builder, depth, [], one_row)
        builder.ret_void()
        return function

    def _product(
        self,
        builder: ir.IRBuilder,
        depth: ir.Value,
        a: ir.Value,
        a_row: ir.Value,
        b: ir.Value,
        rows: ir.Value,
    ) -> list[ir.Value]:
        """Emit the loop over the depth and return the accumulators, row by row."""
        offsets = [
            # Rows that do not exist are not read: the first stands in for them.
            builder.mul(a_row, builder.select(self._there(builder, rows, row), ir.Constant(I64, row), _ZERO))
            for row in range(self.rows)
        ]
        width = ir.Constant(I64, self.vectors * self.lanes)
        following = builder.gep(a, [builder.mul(a_row, ir.Constant(I64, self.rows))])

        def step(number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            a_at, b_at, *sums = carried
            row = builder.and_(number, ir.Constant(I64, _NEXT_ROWS - 1))
            line = builder.add(builder.mul(row, a_row), builder.sub(number, row))
            fetch(builder, builder.gep(following, [line]), FOR_READING, SECOND_CACHE)
            columns = [self._load(builder, self._at(builder, b_at, v)) for v in range(self.vectors)]
            for row, offset in enumerate(offsets):
                factor = splat(builder, builder.load(builder.gep(a_at, [offset])), self.lanes)
                for v, column in enumerate(columns):
                    at = row * self.vectors + v
                    if self.fused:
                        sums[at] = multiply_add(builder, factor, column, sums[at], self.dtype, self.lanes)
                    else:
                        sums[at] = builder.fadd(sums[at], builder.fmul(factor, column))
            return [builder.gep(a_at, [ir.Constant(I64, 1)]), builder.gep(b_at, [width]), *sums]

        zeros = [ir.Constant(self.vector, None)] * (self.rows * self.vectors)
        return repeat(builder, depth, [a, b, *zeros], step)[2:]

    @staticmethod
    def _there(builder: ir.IRBuilder, rows: ir.Value, row: int) -> ir.Value:
        """Return whether a row is one of those that exist."""
        return builder.icmp_unsigned(">", rows, ir.Constant(I64, row))

    def _at(self, builder: ir.IRBuilder, start: ir.Value, v: int) -> ir.Value:
        """Return the address of the v-th vector after `start`."""
        return builder.bitcast(builder.gep(start, [ir.Constant(I64, v * self.lanes)]), self.vector.as_pointer())

    def _load(self, builder: ir.IRBuilder, place: ir.Value) -> ir.Value:
        value = builder.load(place)
        value.align = self.element_bytes
        return value

    def _mask(self, builder: ir.IRBuilder, columns: ir.Value, first: int) -> ir.Value:
        """Return which lanes of the vector that starts at column `first` are among the first `columns`."""
        numbers = ir.Constant(ir.VectorType(I64, self.lanes), list(range(first, first + self.lanes)))
        return builder.icmp_unsigned("<", numbers, splat(builder, columns, self.lanes))

    def _masked_load(self, builder: ir.IRBuilder, place: ir.Value, mask: ir.Value) -> ir.Value:
        """Load the lanes in `mask`; the others are zero and their memory is not touched."""
        kinds = [self.vector.as_pointer(), I32, ir.VectorType(I1, self.lanes), self.vector]
        load = declare(builder.module, f"llvm.masked.load.v{self.lanes}{self.dtype}.p0", self.vector, kinds)
        zero = ir.Constant(self.vector, None)
        return builder.call(load, [place, ir.Constant(I32, self.element_bytes), mask, zero])

    def _prefetch(self, builder: ir.IRBuilder, places: list[ir.Value]) -> None:
        """Fetch the tile of C for writing while the sums are being formed."""
        for place in places:
            for offset in range(0, self.vectors * self.lanes * self.element_bytes, LINE_BYTES):
                line = builder.gep(place, [ir.Constant(I64, offset // self.element_bytes)])
                fetch(builder, line, FOR_WRITING, ALL_CACHES)

    def _store(self, builder: ir.IRBuilder, sums: list[ir.Value], places: list[ir.Value], add: bool) -> None:
        for row, start in enumerate(places):
            for v in range(self.vectors):
                place = self._at(builder, start, v)
                value = sums[row * self.vectors + v]
                value = builder.fadd(self._load(builder, place), value) if add else value
                builder.store(value, place).align = self.element_bytes

    def _store_edge(
        self,
        builder: ir.IRBuilder,
        sums: list[ir.Value],
        places: list[ir.Value],
        rows: ir.Value,
        columns: ir.Value,
        accumulate: ir.Value,
    ) -> None:
        """Store the rows and columns that exist."""
        store = declare(
            builder.module,
            f"llvm.masked.store.v{self.lanes}{self.dtype}.p0",
            ir.VoidType(),
            [self.vector, self.vector.as_pointer(), I32, ir.VectorType(I1, self.lanes)],
        )
        adding = splat(builder, accumulate, self.lanes)
        for row, start in enumerate(places):
            with builder.if_then(self._there(builder, rows, row)):
                for v in range(self.vectors):
                    mask = self._mask(builder, columns, v * self.lanes)
                    place = self._at(builder, start, v)
                    old = self._masked_load(builder, place, builder.and_(mask, adding))
                    total = builder.fadd(old, sums[row * self.vectors + v])
                    builder.call(store, [total, place, ir.Constant(I32, self.element_bytes), mask])
