"""One kernel: its code, and beside it what it costs, what it works on and what it must yield."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from math import sqrt
from typing import Any

import numpy as np

from roofline.errors import UnknownName, UsageError
from roofline.kernels.capacity import UNKNOWN, Capacity
from roofline.kernels.digest import digest_of
from roofline.model.isa import DTYPE_BITS
from roofline.model.work import Work

NUMPY_TYPES: dict[str, type[Any]] = {"f64": np.float64, "f32": np.float32, "i8": np.int8}
FASTMATH_FLAGS = ("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")
"""LLVM's names of the liberties that a kernel may give the compiler."""

TOLERANCE_FACTOR = 8.0
"""Standard deviations of accumulated rounding that a correct result may be away; see `Kernel.tolerance`."""

_WRITE = "write what it computes in the first line"
_STRIPPED = "Python was told to strip them all: run it without -OO, and with PYTHONOPTIMIZE unset or 1"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_N = 2**60


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """A kernel, as declared by the `kernel` decorator. Two kernels are equal only when they are the same object."""

    name: str
    """`family.name`, e.g. `stream.triad`."""
    family: str
    formula: str
    """What one call computes: the first line of the docstring."""
    body: Callable[..., Any]
    """The plain function: output first, or returned."""
    work: Callable[[int, int], Work]
    """(n, bytes per element) to the work of one call."""
    arguments: Callable[[int, Any, np.random.Generator], tuple[Any, ...]]
    """(n, NumPy type, random generator) to the body's arguments; `make_arguments` checks and calls it."""
    reference: Callable[..., Any]
    """The body's arguments to the right output; must not change them."""
    magnitude: Callable[..., Any] | None
    """The body's arguments to what the terms of each result add up to without their signs; None where nothing cancels,
    so that |result| says it."""
    roundings: Callable[[int], int]
    """n to the roundings in the longest chain that leads to one result."""
    compiled: bool
    """False for a call into a library: the body then runs in Python."""
    parallel: bool
    """True when the body shares its loop between threads: with `prange`, or inside a library."""
    fastmath: frozenset[str]
    """Liberties given to the compiler; empty means strict IEEE order."""
    levels: bool
    """True for a kernel that is run with its data in each memory level."""
    improves: str | None
    """Name of the kernel that this one does the work of in a better way."""
    dtypes: tuple[str, ...]
    """Element types that it is written for."""
    sizes: tuple[int, ...]
    """Sizes n at which it is measured; empty where n follows from the memory level or from the plan."""
    serial: bool
    """False for the rung of a ladder that is measured on several threads only."""
    own_work: Callable[[int, int], Work] | None
    """Like `work`, but of this form: more flops, or intermediates written and read once; None when it is `work`."""
    tiles: Callable[[Capacity, str], tuple[int, ...]] | None
    """(what the caches hold, dtype) to the body's last arguments, its tile sizes; None for a body without them."""

    @property
    def is_of_the_suite(self) -> bool:
        """Whether it is one of the suite's own, whose declared work the tests have counted."""
        return self.body.__module__.startswith(f"{__package__}.")

    def work_of(self, n: int, dtype: str) -> Work:
        """Return the work of one call at size `n`. Raises UnknownName for an unknown dtype."""
        return self._declared(self.work, n, dtype)

    def own_work_of(self, n: int, dtype: str) -> Work:
        """Return what this form of the kernel does in one call: `work_of` unless it declares its own."""
        return self._declared(self.own_work or self.work, n, dtype)

    def _declared(self, work_of: Callable[[int, int], Work], n: int, dtype: str) -> Work:
        size = np.dtype(numpy_type(dtype)).itemsize
        try:
            work = work_of(_checked_size(n), size)
        except ArithmeticError as error:
            raise UsageError(f"work() of {self.name} fails at n={n}: {error}; mend its declaration") from error
        if not isinstance(work, Work):
            raise UsageError(f"work() of {self.name} returns {work!r}, expected a Work; mend its declaration")
        if not (work.flops or work.read_bytes or work.write_bytes):
            raise UsageError(f"{self.name} declares no work at n={n}; expected flops or bytes")
        for field in work.__struct_fields__:
            count = getattr(work, field)
            if not isinstance(count, int) or count < 0:
                raise UsageError(f"{self.name} declares {field} = {count!r} at n={n}; expected a whole number >= 0")
        return work

    def only_writes(self, n: int, dtype: str, output: np.ndarray) -> bool:
        """Return whether a call writes all of `output`, its first array, without having read any of it."""
        return self.work_of(n, dtype).allocate_bytes >= output.nbytes

    def make_arguments(
        self, n: int, dtype: str, rng: np.random.Generator, capacity: Capacity = UNKNOWN
    ) -> tuple[Any, ...]:
        """Return fresh arguments of one call: arrays and scalars, random and normal, then the tiles for `capacity`.

        Raises UnknownName for an unknown dtype, UsageError for n < 1.
        """
        return (*self.arguments(_checked_size(n), numpy_type(dtype), rng), *self.tiles_for(capacity, dtype))

    def tiles_for(self, capacity: Capacity, dtype: str) -> tuple[int, ...]:
        """Return the tile sizes that the body takes as its last arguments; none for a body without tiles."""
        return () if self.tiles is None else self.tiles(capacity, dtype)

    def named_tiles(self, capacity: Capacity, dtype: str) -> dict[str, int]:
        """Return the same by the names of the body's parameters."""
        sizes = self.tiles_for(capacity, dtype)
        return dict(zip(list(signature(self.body).parameters)[-len(sizes) :], sizes, strict=True)) if sizes else {}

    def expected(self, arguments: tuple[Any, ...]) -> Any:
        """Return what the reference yields for the arguments of a call."""
        return self.reference(*self._data(arguments))

    def magnitudes(self, arguments: tuple[Any, ...]) -> np.ndarray | None:
        """Return what the terms of each result add up to without their signs, in f64; None where none is declared."""
        return None if self.magnitude is None else np.asarray(self.magnitude(*self._data(arguments)), "f8")

    def _data(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return arguments if self.tiles is None else arguments[: len(arguments) - len(self.tiles_for(UNKNOWN, "f64"))]

    def tolerance(self, n: int, dtype: str) -> float:
        """Return the largest error that an element of a correct result can have, relative to its terms.

        8 sqrt(k) eps for k roundings in a chain. Rounding errors behave like independent ones of mean zero, so that
        k of them add up to lambda sqrt(k) u with a probability of at least 1 - 2 k exp(-lambda^2 / 2) (Higham and
        Mary, SIAM J. Sci. Comput. 41(5), 2019, theorem 2.4); here u = eps / 2, and kernel and reference may each be
        off by half of it. The worst case k u (Higham, Accuracy and Stability, 3.1) would pass any result of a
        long f32 sum. For terms of one sign the error is the relative one; for others see `check.scaled_error`. 0 for a
        kernel that only moves data and for whole numbers.
        """
        scalar_type = numpy_type(dtype)
        if issubclass(scalar_type, np.floating):
            return TOLERANCE_FACTOR * sqrt(self.roundings(n)) * float(np.finfo(scalar_type).eps)
        return 0.0

    def n_for(self, footprint_bytes: float, dtype: str, multiple: int = 1) -> int:
        """Return the largest multiple of `multiple` at which the kernel touches at most `footprint_bytes`.

        Raises UsageError when not even the smallest fits, or when the footprint does not grow with n.
        """

        def fits(count: int) -> bool:
            return self.work_of(count * multiple, dtype).footprint_bytes <= footprint_bytes

        if not fits(1):
            least = self.work_of(multiple, dtype).footprint_bytes
            raise UsageError(
                f"{self.name} {dtype} touches {least} bytes at n={multiple}, which is more than the "
                f"{footprint_bytes:.0f} it was given; give it at least {least} bytes or a smaller multiple"
            )
        low, high = 1, 2
        while fits(high):
            low, high = high, 2 * high
            if high > _LARGEST_N:
                raise UsageError(f"the footprint of {self.name} does not grow with n; check its work()")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low * multiple

    @cached_property
    def digest(self) -> str:
        """16 hex digits that change when the code, a constant it uses or a compile option does; comments do not."""
        return digest_of(self.body, (self.compiled, self.parallel, sorted(self.fastmath)))


def numpy_type(dtype: str) -> type[Any]:
    """Return the NumPy type of `f64`, `f32` or `i8`. Raises UnknownName for any other."""
    if dtype not in NUMPY_TYPES:
        raise UnknownName("dtype", dtype, DTYPE_BITS)
    return NUMPY_TYPES[dtype]


def kernel(
    *,
    family: str = "",
    work: Callable[[int, int], Work] | None = None,
    arguments: Callable[[int, Any, np.random.Generator], tuple[Any, ...]] | None = None,
    reference: Callable[..., Any] | None = None,
    magnitude: Callable[..., Any] | None = None,
    roundings: Callable[[int], int] | None = None,
    improves: Kernel | None = None,
    name: str | None = None,
    compiled: bool = True,
    parallel: bool | None = None,
    fastmath: Iterable[str] = (),
    levels: bool = False,
    dtypes: tuple[str, ...] | None = None,
    sizes: tuple[int, ...] | None = None,
    serial: bool = True,
    own_work: Callable[[int, int], Work] | None = None,
    tiles: Callable[[Capacity, str], tuple[int, ...]] | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare the decorated function to be a kernel.

    The function takes arrays and scalars, then its tile sizes. Its output is its first argument, or what it returns.
    `improves` names the kernel whose family, work, data, reference, sizes and dtypes hold for this one too. The
    rest as in `Kernel`; `parallel` is found from the use of `prange`, `roundings` defaults to n, `name` to the
    function's.
    `magnitude` goes with the reference.
    Raises UsageError when the declaration is incomplete, UnknownName for an unknown fast-math flag.
    """

    def declare(body: Callable[..., Any]) -> Kernel:
        short = name or body.__name__
        home = family or (improves.family if improves else "")
        for part, text in (("name", short), ("family", home)):
            if not _NAME.fullmatch(text):
                raise UsageError(f"kernel {short!r} has the {part} {text!r}; expected letters, digits and underscores")
        full = f"{home}.{short}"
        formula = (body.__doc__ or "").strip().partition("\n")[0].strip()
        if not formula:
            raise UsageError(f"kernel {full} has no docstring; {_STRIPPED if sys.flags.optimize > 1 else _WRITE}")
        flags = frozenset(fastmath)
        for flag in sorted(flags):
            if flag not in FASTMATH_FLAGS:
                raise UnknownName("fast-math flag", flag, FASTMATH_FLAGS)
        shared = {"work": work, "arguments": arguments, "reference": reference, "roundings": roundings}
        if improves is not None:
            shared = {key: given or getattr(improves, key) for key, given in shared.items()}
        shared["roundings"] = shared["roundings"] or (lambda n: n)
        missing = [key for key, given in shared.items() if given is None]
        if missing:
            raise UsageError(f"kernel {full} declares no {' and no '.join(missing)}; add it, or name what it improves")
        return Kernel(
            name=full,
            family=home,
            formula=formula,
            body=body,
            magnitude=magnitude or (improves.magnitude if improves and reference is None else None),
            compiled=compiled,
            parallel="prange" in body.__code__.co_names if parallel is None else parallel,
            fastmath=flags,
            levels=levels,
            improves=improves.name if improves else None,
            dtypes=dtypes or (improves.dtypes if improves else ("f64", "f32")),
            sizes=sizes if sizes is not None else improves.sizes if improves else (),
            serial=serial,
            own_work=own_work,
            tiles=tiles,
            **shared,  # type: ignore[arg-type]  # none is None any more
        )

    return declare


def _checked_size(n: int) -> int:
    if n < 1:
        raise UsageError(f"the size n is {n}; expected at least 1")
    return n
