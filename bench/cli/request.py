"""What a user asks the measuring verbs for, checked against what the host has before anything is measured."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from roofline.errors import UnknownName, UsageError
from roofline.model.isa import DTYPE_BITS, isas_of, switched_on
from roofline.model.machine import Machine

THREADING_LAYERS = ("default", "safe", "forksafe", "threadsafe", "tbb", "omp", "workqueue")
"""What Numba knows; see its documentation on threading layers."""
LARGEST_SIZE = 2**40
"""Beyond any problem; whether the data fits the memory is asked of each kernel."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Request:
    """The options of `all`, `ceilings` and `run`, as typed."""

    mode: str
    """`quick` or `thorough`, else the verb."""
    patterns: tuple[str, ...] = ("*",)
    """Names of kernels, with `*` and `?`; none for ceilings only."""
    files: tuple[str, ...] = ()
    """The user's own files of kernels."""
    budget_s: float | None = None
    """Seconds of sampling to share out between the points; None for the mode's own budget."""
    label: str | None = None
    threads: str = "1,all"
    dtypes: str = "f64,f32,i8"
    sizes: str | None = None
    """Problem sizes n; None for each kernel's own."""
    isas: str | None = None
    """None for every one that the host has."""
    wait_s: float = 0.0
    """How long to wait for another run on this machine."""
    concurrent: bool = False
    """Go on beside another run."""
    json: bool = False
    draw: bool = False
    """Also draw the picture."""

    @property
    def names_kernels(self) -> bool:
        """True when kernels were named, and not all or none asked for."""
        return bool(self.files) or self.patterns not in ((), ("*",))


def measuring_options(function: Function) -> Function:
    """Add the options of every measuring verb to a command; they arrive as the fields of a Request."""
    function = locking_options(function)  # first, so that help lists it last
    for option in reversed(
        (
            click.option("--quick", "mode", flag_value="quick", help="Fewer points and less time for each."),
            click.option("--thorough", "mode", flag_value="thorough", help="More points and more time for each."),
            click.option(
                "--budget",
                "budget_s",
                callback=finite,
                type=click.FloatRange(min=0, min_open=True),
                metavar="S",
                help="Seconds of sampling to share out; compiling, checking and a few samples a point come on top.",
            ),
            click.option("--label", metavar="TEXT", help="A name to find the run by later."),
            click.option(
                "--threads",
                default="1,all",
                show_default=True,
                metavar="N,...",
                help="Thread counts; `all` is one for each core that this process may use.",
            ),
            click.option(
                "--dtype",
                "dtypes",
                default="f64,f32,i8",
                show_default=True,
                metavar="T,...",
                help="Element types; i8, int8 with sums in int32, where a kernel has it.",
            ),
            click.option("--json", is_flag=True, help="Print the archived document on stdout, and nothing else."),
        )
    ):
        function = option(function)
    return function


def locking_options(function: Function) -> Function:
    """Add the options of everything that measures, about other runs on this machine."""
    for option in reversed(
        (
            click.option(
                "--wait",
                "wait_s",
                callback=finite,
                default=0.0,
                type=click.FloatRange(min=0),
                metavar="S",
                help="Wait up to S seconds for another run on this machine to end; without it, exit with 75.",
            ),
            click.option(
                "--allow-concurrent", "concurrent", is_flag=True, help="Go on beside another run; both are marked BUSY."
            ),
        )
    ):
        function = option(function)
    return function


def check_files(files: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a user's files, absolute. Raises UsageError for one that is not there or no file."""
    for file in files:
        if not os.path.isfile(file):  # noqa: PTH113  (Path.is_file raises for names that no file can have)
            what = "is a folder" if os.path.isdir(file) else "is not there"  # noqa: PTH112
            raise UsageError(f"{file!r} {what}; expected a Python file of kernels, see `guide adding-a-kernel`")
    return tuple(os.path.abspath(file) for file in files)  # noqa: PTH100


def check_variables(variables: Mapping[str, str]) -> None:
    """Raise UsageError for a variable that Numba would stumble over later, in words of its own."""
    threads = variables.get("NUMBA_NUM_THREADS")
    if threads is not None and not (threads.isascii() and threads.isdigit() and int(threads) > 0):
        raise UsageError(
            f"NUMBA_NUM_THREADS={threads!r} is no thread count; unset it: runs choose their threads with --threads"
        )
    layer = variables.get("NUMBA_THREADING_LAYER")
    if layer is not None and layer not in THREADING_LAYERS:
        raise UnknownName("threading layer in NUMBA_THREADING_LAYER", layer, THREADING_LAYERS)


def chosen_threads(text: str, cpus: tuple[int, ...]) -> tuple[int, ...]:
    """Return the thread counts that `text` ("1,2,all") names, ascending.

    Raises UsageError for what is no count, and for more threads than `cpus`, the CPUs that the process may use.
    """
    counts = set()
    for word in _words(text, "--threads"):
        if word == "all":
            counts.add(len(cpus))
            continue
        if not (word.isascii() and word.isdigit() and int(word) > 0):
            raise UsageError(f"--threads {word!r} is no thread count; expected whole numbers, or all, as in 1,all")
        if int(word) > len(cpus):
            listed = ",".join(map(str, cpus))
            raise UsageError(
                f"{word} threads asked for, but this process may use {len(cpus)} cores (CPUs {listed}: affinity and "
                f"cgroup quota respected, one hardware thread per core); use --threads {len(cpus)} or less, or all"
            )
        counts.add(int(word))
    return tuple(sorted(counts))


def chosen_dtypes(text: str) -> tuple[str, ...]:
    """Return the element types that `text` names. Raises UnknownName for one that does not exist."""
    for word in (words := _words(text, "--dtype")):
        if word not in DTYPE_BITS:
            raise UnknownName("dtype", word, DTYPE_BITS)
    return tuple(dict.fromkeys(words))


def chosen_isas(text: str | None, machine: Machine) -> tuple[str, ...]:
    """Return the instruction sets that `text` names; all that can be compiled for the host for None.

    Raises UnknownName for one that the host, or NUMBA_CPU_FEATURES where that is set, lacks.
    """
    there = machine.isas
    limit = f"only the known ones are measured on {machine.cpu_model}"
    if (features := os.environ.get("NUMBA_CPU_FEATURES")) is not None:
        compiled = {isa.name for isa in isas_of(machine.arch, switched_on(features))}
        there = tuple(name for name in there if name in compiled)
        limit = f"NUMBA_CPU_FEATURES={features!r} allows no other of {', '.join(machine.isas)}; unset it"
        if not there:
            raise UsageError(f"no instruction set is left to measure: {limit}")
    if text is None:
        return there
    for word in (words := _words(text, "--isa")):
        if word not in there:
            raise UnknownName("ISA", word, there, limit)
    return tuple(dict.fromkeys(words))


def chosen_sizes(text: str | None) -> tuple[int, ...]:
    """Return the problem sizes that `text` ("256,1024") names; none for None. Raises UsageError for what is none."""
    words = () if text is None else _words(text, "--size")
    for word in words:
        if not (word.isascii() and word.isdigit() and 0 < int(word) <= LARGEST_SIZE):
            raise UsageError(
                f"--size {word!r} is no problem size; expected whole numbers from 1 to {LARGEST_SIZE}, as in 256,1024"
            )
    return tuple(dict.fromkeys(int(word) for word in words))


def finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse a number of seconds that is not finite, as an option's callback."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds", context, option)
    return value


def _words(text: str, option: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise UsageError(f"{option} {text!r} names nothing between its commas; expected a list as in `a,b`")
    return words
