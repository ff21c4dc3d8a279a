"""A kernel made ready to be timed: compiled, checked, its data placed where it will be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import combinations
from secrets import randbits
from time import perf_counter, perf_counter_ns, sleep
from typing import Any

import numba
import numpy as np
from numba.np.numpy_support import as_dtype

from roofline.codegen.assembly import assembly_of
from roofline.codegen.call import address_of
from roofline.codegen.fingerprint import assembly_digest
from roofline.codegen.register import vector_register
from roofline.errors import UsageError
from roofline.kernels.capacity import UNKNOWN, Capacity
from roofline.kernels.check import Expected, check, expected_of, poison
from roofline.kernels.compile import compiled
from roofline.kernels.kernel import Kernel
from roofline.kernels.library import blas_threads
from roofline.measurement.aftermath import Aftermath, constants
from roofline.measurement.blocks import CHAIN_TURNS, Intervals, chain_block, intervals_of, kernel_block
from roofline.measurement.data_evidence import data_evidence
from roofline.measurement.team import Team
from roofline.measurement.twins import Twins
from roofline.model.evidence import DataEvidence
from roofline.model.judging import DECLARED_MORE, LEAST_BYTES

SEED = 20261130
"""Of every kernel's data: the same numbers in every run."""
CHECKED_BYTES = 16 * 2**20
"""Results are checked before they are timed at the timed size up to this footprint, beyond it at the largest such n."""
REFERENCE_S = 0.06
"""Beyond it they are checked at the timed size after they were timed, where the reference takes no longer."""
RENEWED_BYTES = 4 * CHECKED_BYTES
"""Beyond it new data takes too long to make; an output that is wiped must do. Without such an output it is made."""
ALONE_S = 1e-4
"""A timed call that takes so long is like a single one: what a single call costs more is lost in it."""
SHARED_ALONE_S = 1e-2
"""The same of calls whose threads have to be woken, and of calls through Python."""
_SETTLE_S = 0.5e-3
"""Pause after a parallel kernel, whose idle threads go on spinning for a while on the cores of our team."""


@dataclass(frozen=True)
class Seen:
    """What the assembly of a kernel shows; nothing of a library call, which is not read."""

    register: str | None = None
    """The widest register that does its arithmetic in its deepest loops; None where there is none."""
    digest: str = ""
    """See `codegen.fingerprint`."""


@dataclass(frozen=True)
class Subject:
    """One kernel at one size, dtype and thread count, correct and ready. Make it with `prepare`."""

    kernel: Kernel
    team: Team
    threads: int
    error: float
    tolerance: float
    seen: Callable[[], Seen]
    """Reads the assembly once. It takes longer than compiling ahead should."""
    tiles: dict[str, int]
    """Sizes that it runs with, which follow from the caches."""
    output: np.ndarray | None
    """The placed output, when calls only write it."""
    inputs: tuple[np.ndarray, ...]
    """The placed arrays that calls read."""
    aftermath: Aftermath
    """What must be true of the data once it has been timed on."""
    block: Callable[[int, np.ndarray], None]
    """Runs `repeats` calls on the placed data and writes start, stop and end of the add chain."""

    def take(self, repeats: int) -> tuple[float, float]:
        """Return (seconds of one clock interval around `repeats` calls, clock held right after in Hz)."""
        out = np.zeros((1, 3), np.int64)
        if self.threads == 1 or not self.kernel.compiled:
            self.team.each(lambda _: self.block(repeats, out[0]), 1)
        else:
            self.block(repeats, out[0])
        intervals: Intervals = intervals_of([out], CHAIN_TURNS)
        return intervals.samples_s[0], intervals.clock_hz[0]

    def settle(self) -> None:
        """Wait until the idle threads of a parallel kernel have gone to sleep."""
        if self.threads > 1:
            sleep(_SETTLE_S)

    @property
    def is_compiled(self) -> bool:
        """Whether the repeats are a loop in compiled code."""
        return self.kernel.compiled

    def confirm(self, call_s: float) -> float | None:
        """Look at what calls of `call_s` have left, and call on data never seen before: see `Aftermath.confirm`."""

        def alone() -> float:
            self.settle()  # every call finds the threads asleep, on data that it has seen or not
            return self.take(1)[0]

        return self.aftermath.confirm(alone, call_s)

    def data(self, nodes: Sequence[int] = ()) -> DataEvidence:
        """Look at the placed data and return what is seen of it; `nodes` are the NUMA nodes of the team's CPUs."""
        outputs = () if self.output is None else (self.output,)
        return data_evidence(self.inputs, outputs, thread_nodes=nodes[: self.threads])

    def limits(self) -> AbstractContextManager[Any]:
        """Lend a context in which libraries use as many threads as this subject."""
        return nullcontext() if self.kernel.compiled else blas_threads(self.threads)


def prepare(kernel: Kernel, n: int, dtype: str, team: Team, threads: int, capacity: Capacity = UNKNOWN) -> Subject:
    """Compile a kernel, check its result and place its data; raises WrongResult before anything is timed.

    `capacity` is what one core's caches hold: kernels with tiles size them by it.

    One thread: everything runs on the team's first, pinned thread. More: the kernel's own parallel loop runs on
    Numba's threads, or the library's threads help the team's first: as many, on the same CPUs.
    """
    parallel = threads > 1
    arguments = kernel.make_arguments(n, dtype, np.random.default_rng(SEED), capacity)
    _refuse_shared(kernel, arguments)
    _refuse_counted_twice(kernel, n, dtype, arguments)
    call: Any = compiled(kernel, parallel)
    if parallel:
        numba.set_num_threads(threads)
    checked = _checked(kernel, call, n, dtype, threads, arguments, capacity)
    placed = Twins(arguments, team, parallel)
    twins = placed.values
    first = placed.arrays[0]
    output = first if first is twins[0] and kernel.only_writes(n, dtype, first) else None
    result: np.ndarray = first
    returns = False
    if kernel.compiled:
        types = tuple(map(numba.typeof, twins))
        call.compile(types)
        returned = call.overloads[types].signature.return_type
        returns = returned != numba.types.none
        timed = kernel_block(len(twins), returns)
        sink = np.zeros(1, as_dtype(returned) if returns else np.float64)
        if returns:
            output, result = None, sink

        def seen() -> Seen:
            assembly = assembly_of(call, types)
            return Seen(vector_register(assembly, integers=dtype == "i8"), assembly_digest(assembly))

        address = address_of(call, types)

        def block(repeats: int, out: np.ndarray) -> None:
            timed(address, repeats, CHAIN_TURNS, sink, out, *twins)

    else:
        seen = Seen

        def block(repeats: int, out: np.ndarray) -> None:
            out[0] = perf_counter_ns()
            for _ in range(repeats):
                call(*twins)
            out[1] = perf_counter_ns()
            chain_block(CHAIN_TURNS, out)

    if output is not None:
        poison(output)
    tiles = kernel.named_tiles(capacity, dtype)
    inputs = tuple(array for array in placed.arrays if array is not output)
    constant, sums = constants(placed.arrays if returns else placed.arrays[1:])

    def renew() -> Callable[[], Expected | None] | None:
        fresh = kernel.make_arguments(n, dtype, np.random.default_rng(randbits(64)), capacity)
        if not placed.are_like(fresh):
            return None
        placed.fill(fresh)
        return lambda: expected_of(kernel, fresh) if checked.reference_s < REFERENCE_S else None

    large = kernel.work_of(n, dtype).footprint_bytes > RENEWED_BYTES
    aftermath = Aftermath(
        point=f"{kernel.name} n={n} {dtype}",
        constant=constant,
        sums=sums,
        output=output,
        result=result,
        expected=checked.expected if output is not None or returns else None,
        renew=None if large and output is not None else renew,
        touch=placed.touch,
        tolerance=checked.tolerance,
        alone_s=ALONE_S if kernel.compiled and not parallel else SHARED_ALONE_S,
    )
    error, tolerance = checked.error, checked.tolerance
    return Subject(kernel, team, threads, error, tolerance, seen, tiles, output, inputs, aftermath, block)


@dataclass(frozen=True)
class Checked:
    """What checking a result before it is timed has given."""

    error: float
    tolerance: float
    expected: Callable[[], Expected] | None
    """Returns the reference's result at the size that is timed; None where that takes longer than REFERENCE_S."""
    reference_s: float
    """What asking the reference at that size takes."""


def _refuse_shared(kernel: Kernel, arguments: Sequence[Any]) -> None:
    """Raise UsageError when two arrays lie in the same memory: one would change the other, and the code be slower."""
    arrays = [(place, value) for place, value in enumerate(arguments) if isinstance(value, np.ndarray)]
    for (one, first), (other, second) in combinations(arrays, 2):
        if np.may_share_memory(first, second):
            raise UsageError(
                f"ALIAS: {kernel.name} gets arguments {one} and {other} in the same memory, expected each in memory of "
                "its own; copy one of them in arguments()"
            )


def _refuse_counted_twice(kernel: Kernel, n: int, dtype: str, arguments: Sequence[Any]) -> None:
    """Raise UsageError for more compulsory bytes than the arrays have, or more written ones than the output has."""
    sizes = [value.nbytes for value in arguments if isinstance(value, np.ndarray)]
    work = kernel.work_of(n, dtype)
    for declared_bytes, held_bytes, what in (
        (work.footprint_bytes, sum(sizes), "touches in all (read_bytes + allocate_bytes)"),
        (work.write_bytes, max(sizes[:1], default=0), "writes (write_bytes)"),
    ):
        if declared_bytes > (1 + DECLARED_MORE) * held_bytes + LEAST_BYTES:
            raise UsageError(
                f"COUNTED_TWICE: {kernel.name} declares that a call at n={n} {dtype} {what} {declared_bytes} bytes, "
                f"expected at most the {held_bytes} that {'its arrays' if held_bytes == sum(sizes) else 'its output'} "
                "have: each distinct byte counts once, and intermediates belong to `own_work`; mend work()"
            )


def _checked(
    kernel: Kernel, call: Any, n: int, dtype: str, threads: int, arguments: tuple[Any, ...], capacity: Capacity
) -> Checked:
    """Check the kernel at n, or at the largest n of CHECKED_BYTES when n is beyond it."""
    asked, given = n, arguments
    footprint_bytes = kernel.work_of(n, dtype).footprint_bytes
    if footprint_bytes > CHECKED_BYTES:
        n = kernel.n_for(CHECKED_BYTES, dtype)
        arguments = kernel.make_arguments(n, dtype, np.random.default_rng(SEED), capacity)
    started_s = perf_counter()
    expected = expected_of(kernel, arguments)
    reference_s = perf_counter() - started_s
    with nullcontext() if kernel.compiled else blas_threads(threads):
        error, tolerance = check(kernel, call, arguments, n, dtype, expected)
    if n == asked:
        return Checked(error, tolerance, lambda: expected, reference_s)
    reference_s *= footprint_bytes / kernel.work_of(n, dtype).footprint_bytes
    affordable = reference_s < REFERENCE_S
    return Checked(error, tolerance, (lambda: expected_of(kernel, given)) if affordable else None, reference_s)
