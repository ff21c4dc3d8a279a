"""A kernel that is right when it is checked, and does something else while it is timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import UsageError, WrongResult
from roofline.kernels.check import Expected
from roofline.kernels.kernel import Kernel, kernel
from roofline.measurement.aftermath import Aftermath, fingerprint, thinned
from roofline.measurement.subject import CHECKED_BYTES, prepare
from roofline.measurement.team import Team
from roofline.model.work import Work

CALLS = [0]
LARGEST_CHECKED = CHECKED_BYTES // 16
"""Elements of each of two vectors."""


def doubling(body: Callable[..., Any], roundings: Callable[[int], float] = lambda n: 1) -> Kernel:
    """Return a kernel b = 2 a with this body, which Python runs."""
    CALLS[0] = 0

    def twice(b, a):  # type: ignore[no-untyped-def]
        """b = a + a"""
        CALLS[0] += 1
        body(b, a)

    return kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
        arguments=lambda n, dtype, rng: (np.empty(n, dtype), rng.random(n).astype(dtype)),
        reference=lambda b, a: a + a,
        roundings=roundings,
        compiled=False,
    )(twice)


def honest(b: Any, a: Any) -> None:
    b[:] = a + a


def changes_its_input(b: Any, a: Any) -> None:
    b[:] = a + a
    if CALLS[0] > 1:
        a[7] += 1


def writes_once(b: Any, a: Any) -> None:
    if CALLS[0] <= 2:
        b[:] = a + a


def writes_something_else(b: Any, a: Any) -> None:
    b[:] = a + a if CALLS[0] == 1 else 1.5


def sums_a_part_where_it_is_large(b: Any, a: Any) -> None:
    b[:] = a + a
    if a.size > LARGEST_CHECKED:
        b[: a.size // 3] = a[: a.size // 3]


def confirmed(known: Kernel, n: int = 1000) -> None:
    with Team((), 1) as team:
        subject = prepare(known, n, "f64", team, 1)
        subject.take(3)
        subject.confirm(1e-3)


@pytest.mark.twin("WRONG")
@pytest.mark.parametrize("n", [1, 1000, 3 * 2**19])
def test_an_honest_kernel_is_confirmed(n: int) -> None:
    confirmed(doubling(honest), n)


@pytest.mark.canary("WRONG")
@pytest.mark.parametrize(
    ("body", "n", "words"),
    [
        (changes_its_input, 1000, "changed an input, number 0, when it was timed"),
        (writes_once, 1000, "left its output unwritten"),
        (writes_something_else, 1000, "is wrong after it was timed"),
        (sums_a_part_where_it_is_large, 3 * 2**19, "is wrong after it was timed"),
    ],
)
def test_what_is_only_right_when_it_is_checked_is_refused(body: Callable[..., Any], n: int, words: str) -> None:
    with pytest.raises(WrongResult, match=words):
        confirmed(doubling(body), n)


def test_a_tolerance_that_passes_anything_is_refused() -> None:
    with pytest.raises(UsageError, match=r"would pass with an error of .*, expected at most 0\.05"):
        confirmed(doubling(honest, roundings=lambda n: 1e300))


@pytest.mark.parametrize(("wiped_s", "ratio"), [(2e-3, 2.0), (1e-3, 1.0)])
def test_a_call_on_a_wiped_output_is_compared_with_the_timed_ones(wiped_s: float, ratio: float) -> None:
    output = np.zeros(4)

    def call() -> float:
        output[:] = 1.0
        return wiped_s

    after = Aftermath("x n=4 f64", (), (), output, lambda: output, lambda: Expected(np.ones(4)), 1e-12)
    assert after.confirm(call, 1e-3) == pytest.approx(ratio)
    assert after.confirm(call, 1e-6) is None  # too short to tell it from cold caches


@given(st.integers(0, 5000), st.integers(0, 2**31))
def test_any_changed_element_changes_the_fingerprint(place: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 100, 5001).astype(np.int8)
    before = fingerprint(values)
    values[place] += 1
    assert fingerprint(values) != before


def test_a_large_result_is_thinned_over_all_of_its_columns() -> None:
    result = np.arange(4096.0**2).reshape(4096, 4096)
    kept = thinned(result)
    assert kept.size < result.size / 32
    assert len(set((kept % 4096).astype(int))) > 4000
    assert thinned(result[:8]).size == 8 * 4096
