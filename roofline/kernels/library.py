"""The libraries that kernels call, held to a number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def blas_threads(threads: int) -> Iterator[None]:
    """Hold the BLAS libraries that are loaded to `threads` threads until the context ends."""
    with threadpool_limits(limits=threads, user_api="blas"):
        yield
