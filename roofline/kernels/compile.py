"""Kernels turned into machine code by Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as memoised
from functools import partial
from types import FunctionType
from typing import Any

from numba import njit

from roofline.codegen.kept import kept
from roofline.errors import UsageError
from roofline.kernels.kernel import Kernel


def compiled(kernel: Kernel, parallel: bool, cache: bool = True) -> Callable[..., Any]:
    """Return the kernel as a Numba dispatcher that releases the GIL, or its plain body for a library call.

    Compiled at the first call for each dtype; the same arguments give the same dispatcher. `parallel` shares the
    outer loop between Numba's threads; `cache` keeps the machine code on disk, as `codegen.kept` says. Raises
    UsageError for a parallel version of a kernel that has none.
    """
    if parallel and not kernel.parallel:
        raise UsageError(f"{kernel.name} has no prange loop to share between threads; run it on one thread")
    return _compiled(kernel, parallel, cache) if kernel.compiled else kernel.body


@memoised
def _compiled(kernel: Kernel, parallel: bool, cache: bool) -> Callable[..., Any]:
    compile_one: Any = kept if kernel.is_of_the_suite and cache else partial(njit, cache=cache)
    dispatcher: Callable[..., Any] = compile_one(
        _renamed(kernel, "parallel" if parallel else "serial"),
        nogil=True,
        parallel=parallel,
        fastmath=set(kernel.fastmath) or False,
        error_model="numpy",
        boundscheck=False,
    )
    return dispatcher


def _renamed(kernel: Kernel, variant: str) -> FunctionType:
    """Return the body under a name of its own, e.g. `stream_triad_serial_<digest>`.

    Numba keys its disk cache by function name and bytecode but not by options or constants: under one name the
    serial code would be loaded for the parallel version, and old tile sizes for new ones.
    """
    body = kernel.body
    twin = FunctionType(body.__code__, body.__globals__, body.__name__, body.__defaults__, body.__closure__)
    twin.__qualname__ = f"{kernel.name.replace('.', '_')}_{variant}_{kernel.digest}"
    twin.__module__ = body.__module__
    return twin
