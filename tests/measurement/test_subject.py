"""A kernel made ready to be timed."""

from __future__ import annotations

import numpy as np
import pytest

from roofline.errors import UsageError
from roofline.kernels.kernel import Kernel, kernel
from roofline.kernels.registry import all_kernels
from roofline.measurement.subject import Subject, prepare
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


def test_every_call_alone_finds_the_threads_asleep_on_data_seen_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[str] = []
    taken = Subject.take
    monkeypatch.setattr(Subject, "settle", lambda self: did.append("settle"))
    monkeypatch.setattr(Subject, "take", lambda self, repeats: did.append("take") or taken(self, repeats))
    with Team((), 1) as team:
        prepare(counted(), 100, "f64", team, 1).confirm(1e-6)
    assert did == ["settle", "take"] * (len(did) // 2)
    assert len(did) >= 6  # at least two calls on known data, and one on new


def declaring(read: float, written: float, fresh: float) -> Kernel:
    """Return a kernel of two arrays that declares so many times the bytes of one as read, written and allocated."""
    return kernel(
        family="test",
        name="twice",
        work=lambda n, size: Work(
            flops=n,
            read_bytes=int(read * n * size),
            write_bytes=int(written * n * size),
            allocate_bytes=int(fresh * n * size),
        ),
        arguments=lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype)),
        reference=lambda b, a: a + a,
        compiled=False,
    )(counted().body)


@pytest.mark.canary("COUNTED_TWICE")
@pytest.mark.parametrize(
    ("work", "words"),
    [((4, 1, 1), "touches in all"), ((1.3, 1, 1), "touches in all"), ((1, 1.3, 1), "writes")],
)
def test_more_bytes_than_the_arrays_have_are_refused_before_anything_is_timed(
    work: tuple[float, float, float], words: str
) -> None:
    with Team((), 1) as team, pytest.raises(UsageError, match=f"COUNTED_TWICE: test.twice declares .* {words}"):
        prepare(declaring(*work), 5000, "f64", team, 1)


@pytest.mark.twin("COUNTED_TWICE")
@pytest.mark.parametrize("work", [(1, 1, 1), (2, 1, 0)])
def test_as_many_bytes_as_the_arrays_have_are_believed(work: tuple[float, float, float]) -> None:
    with Team((), 1) as team:
        prepare(declaring(*work), 5000, "f64", team, 1)


@pytest.mark.canary("DECLARED")
@pytest.mark.twin("DECLARED")
def test_only_the_suites_own_work_has_been_counted() -> None:
    assert not counted().is_of_the_suite
    assert all(known.is_of_the_suite for known in all_kernels().values())


@pytest.mark.twin("COUNTED_TWICE")
def test_no_kernel_of_the_suite_declares_more_than_its_arrays_have() -> None:
    for known in all_kernels().values():
        n = 500 if known.work_of(500, known.dtypes[0]).footprint_bytes < 4e7 else 60
        arguments = known.make_arguments(n, known.dtypes[0], np.random.default_rng(1))
        sizes = [value.nbytes for value in arguments if isinstance(value, np.ndarray)]
        work = known.work_of(n, known.dtypes[0])
        assert work.footprint_bytes <= sum(sizes), known.name
        assert work.write_bytes <= sizes[0], known.name
