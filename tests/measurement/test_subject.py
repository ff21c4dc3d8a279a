"""A kernel made ready to be timed."""

from __future__ import annotations

import numpy as np
import pytest

from roofline.kernels.kernel import Kernel, kernel
from roofline.measurement.subject import prepare
from roofline.measurement.team import Team
from roofline.model.work import Work

CALLS: list[int] = []


def counted() -> Kernel:
    """Return a kernel that notes each of its calls."""

    @kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
        arguments=lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype)),
        reference=lambda b, a: a + a,
        compiled=False,
    )
    def twice(b, a):  # type: ignore[no-untyped-def]
        """b = a + a"""
        CALLS.append(a.size)
        b[:] = a + a

    return twice


@pytest.mark.canary("POOL")
def test_a_kernel_has_run_once_before_its_first_sample_so_that_its_threads_are_there() -> None:
    CALLS.clear()
    with Team((), 1) as team:
        prepare(counted(), 100, "f64", team, 1)
        assert CALLS == [100]


@pytest.mark.twin("POOL")
def test_a_sample_holds_exactly_its_repeats() -> None:
    with Team((), 1) as team:
        subject = prepare(counted(), 100, "f64", team, 1)
        CALLS.clear()
        subject.take(7)
        assert len(CALLS) == 7
