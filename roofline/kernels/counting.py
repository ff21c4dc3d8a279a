"""Work counted by running the plain body on numbers and arrays that count: what declared work is proved with."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from roofline.errors import UsageError
from roofline.kernels.inner import cache_tile
from roofline.kernels.kernel import Kernel
from roofline.model.isa import DTYPE_BITS
from roofline.model.work import Work


class Tally:
    """Floating-point operations so far."""

    def __init__(self) -> None:
        self.flops = 0


class Number:
    """A number whose arithmetic is counted.

    Each of + - * / is 1 flop, and so is each call of a function in FUNCTIONS. Sign, abs and comparisons are none.
    """

    __slots__ = ("tally", "value")

    def __init__(self, value: Any, tally: Tally) -> None:
        self.value = value
        self.tally = tally

    def _counted(self, operation: Callable[..., Any], *operands: Any) -> Number:
        self.tally.flops += 1
        return Number(operation(*(_plain(operand) for operand in operands)), self.tally)

    def __add__(self, other: Any) -> Number:
        return self._counted(operator.add, self, other)

    def __radd__(self, other: Any) -> Number:
        return self._counted(operator.add, other, self)

    def __sub__(self, other: Any) -> Number:
        return self._counted(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Number:
        return self._counted(operator.sub, other, self)

    def __mul__(self, other: Any) -> Number:
        return self._counted(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Number:
        return self._counted(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Number:
        return self._counted(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._counted(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Number:
        raise UsageError("x ** y cannot be counted; write products")

    def __neg__(self) -> Number:
        return Number(-self.value, self.tally)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return Number(abs(self.value), self.tally)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= _plain(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _plain(other))

    def __hash__(self) -> int:
        return hash(self.value)


class Buffer:
    """The elements of one array, and how each was first touched."""

    def __init__(self, array: np.ndarray, tally: Tally) -> None:
        numbers = array.dtype.kind not in "iu" or array.dtype.itemsize == 1  # whole numbers of more bits are indices
        self.values = [Number(value, tally) if numbers else value for value in array.ravel()]
        self.unread = np.ones(array.size, bool)
        self.read_first = np.zeros(array.size, bool)
        self.reads = np.zeros(array.size, int)
        self.writes = np.zeros(array.size, int)
        self.itemsize = array.dtype.itemsize

    def read(self, position: int) -> Any:
        self.read_first[position] |= not self.writes[position]
        self.reads[position] += self.unread[position]
        self.unread[position] = False
        return self.values[position]

    def write(self, position: int, value: Any) -> None:
        self.writes[position] += 1
        self.unread[position] = True
        self.values[position] = value

    def moved(self, every_value: bool) -> np.ndarray:
        """Return bytes read, written and allocated: of each element once, or of each value that an element had."""
        reads, writes = (self.reads, self.writes) if every_value else (self.read_first, self.writes > 0)
        return np.array([reads.sum(), writes.sum(), writes[~self.read_first].sum()]) * self.itemsize


class Array:
    """An array, or a view of one, whose element accesses are counted."""

    dtype = np.dtype(object)
    """Scratch arrays that the body makes with this dtype hold counting numbers; they are not compulsory traffic."""

    def __init__(self, buffer: Buffer, positions: np.ndarray) -> None:
        self.buffer = buffer
        self.positions = positions
        self.shape = positions.shape
        self.size = positions.size
        self.ndim = positions.ndim

    @property
    def T(self) -> Array:
        return Array(self.buffer, self.positions.T)

    def reshape(self, *shape: int) -> Array:
        return Array(self.buffer, self.positions.reshape(*shape))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        positions = self.positions[index]
        return Array(self.buffer, positions) if isinstance(positions, np.ndarray) else self.buffer.read(positions)

    def __setitem__(self, index: Any, value: Any) -> None:
        positions = np.asarray(self.positions[index])
        values = np.empty(positions.shape, object)
        values[...] = np.asarray(value) if isinstance(value, Array) else value
        for position, element in zip(positions.ravel(), values.ravel(), strict=True):
            self.buffer.write(position, element)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = np.empty(self.shape, object)
        values.ravel()[:] = [self.buffer.read(position) for position in self.positions.ravel()]
        return values


FUNCTIONS = ("sqrt", "exp", "expm1", "log", "log1p", "tanh", "sin", "cos", "erf", "erfc")
"""Functions of `math` and of NumPy that count as 1 flop, whatever they are made of: one operation of the formula."""
_CONVERSIONS = ("float64", "float32", "int32", "int64", "int8")
_MAKERS = ("empty", "zeros", "ones", "full")


class Library:
    """Stands for `math` or `numpy` in a body that is counted."""

    def __init__(self, module: Any, tally: Tally, scratch: list[Buffer] | None) -> None:
        """`scratch` collects the arrays that the body makes; None when they are not to be counted."""
        self.module = module
        self.tally = tally
        self.scratch = scratch

    def __getattr__(self, name: str) -> Any:
        original = getattr(self.module, name)
        if name in FUNCTIONS:
            return lambda x: Number(getattr(math, name)(_plain(x)), self._counted())
        if name in _CONVERSIONS:
            return lambda x: Number(original(x.value), x.tally) if isinstance(x, Number) else original(x)
        if name in _MAKERS and self.scratch is not None:
            return lambda *arguments, **options: self._made(original(*arguments, **options))
        return original

    def _counted(self) -> Tally:
        self.tally.flops += 1
        return self.tally

    def _made(self, array: np.ndarray) -> Any:
        assert self.scratch is not None
        buffer = Buffer(array, self.tally)
        self.scratch.append(buffer)
        return Array(buffer, np.arange(array.size).reshape(array.shape))


def count_work(kernel: Kernel, n: int, dtype: str = "f64", scratch: bool = False, every_value: bool = False) -> Work:
    """Return the work of one call at size `n`, counted while the plain body runs in Python.

    An element is read if its first access is a read, written if it is ever written, and allocated if its first
    access is a write. Arrays that the body makes are no compulsory traffic; with `scratch` each of their elements
    that is used counts as allocated, written once and read once, unless they are a `cache_tile`. With `every_value`
    each value that an element has had counts as written once and, if it was ever read, as read once: what sweeps
    over more than a cache move. Arrays of int32 and int64 hold indices: their elements are read as plain
    numbers. Raises UsageError for a library call, whose inside cannot be seen.
    """
    if not kernel.compiled:
        raise UsageError(f"{kernel.name} calls a library, so its work cannot be counted; count what it improves")
    tally = Tally()
    buffers: dict[int, Buffer] = {}
    counting: list[Any] = []
    made: list[Buffer] = []
    for argument in kernel.make_arguments(n, dtype, np.random.default_rng(0)):
        if isinstance(argument, np.ndarray):
            buffer = buffers.setdefault(id(argument), Buffer(argument, tally))
            counting.append(Array(buffer, np.arange(argument.size).reshape(argument.shape)))
        else:
            counting.append(Number(argument, tally) if isinstance(argument, np.floating | float) else argument)
    _counting_twin(kernel.body, tally, made if scratch else None)(*counting)
    intermediate_bytes = sum(int((buffer.writes > 0).sum()) for buffer in made) * itemsize_of(dtype)
    moved = sum((buffer.moved(every_value) for buffer in buffers.values()), np.zeros(3, int)) + intermediate_bytes
    read_bytes, write_bytes, allocate_bytes = map(int, moved)
    return Work(flops=tally.flops, read_bytes=read_bytes, write_bytes=write_bytes, allocate_bytes=allocate_bytes)


def _counting_twin(function: Callable[..., Any], tally: Tally, scratch: list[Buffer] | None) -> Callable[..., Any]:
    """Return a plain function, and those that it calls, with `math` and `numpy` replaced by counting ones."""
    names: dict[str, Any] = dict(function.__globals__)
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    for name in function.__code__.co_names:
        value = names.get(name)
        plain = getattr(value, "py_func", value)  # a compiled function of the same file or another
        if value is cache_tile:
            names[name] = plain
        elif value is np or value is math:
            names[name] = Library(value, tally, scratch)
        elif plain is function:
            names[name] = twin
        elif isinstance(plain, FunctionType) and (plain is not value or plain.__module__.startswith(__package__)):
            names[name] = _counting_twin(plain, tally, scratch)
    return twin


def itemsize_of(dtype: str) -> int:
    """Return the bytes of one element of `f64`, `f32` or `i8`."""
    return DTYPE_BITS[dtype] // 8


def _plain(operand: Any) -> Any:
    return operand.value if isinstance(operand, Number) else operand
