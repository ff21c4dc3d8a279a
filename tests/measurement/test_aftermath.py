"""A kernel that is right when it is checked, and does something else while it is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import UsageError, WrongResult
from roofline.kernels.check import Expected
from roofline.kernels.kernel import Kernel, kernel
from roofline.measurement.aftermath import Aftermath, Renew, fingerprint, thinned
from roofline.measurement.subject import CHECKED_BYTES, prepare
from roofline.measurement.team import Team
from roofline.model.judging import MOST_UNSEEN
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


def confirmed(known: Kernel, n: int = 1000) -> float | None:
    with Team((), 1) as team:
        subject = prepare(known, n, "f64", team, 1)
        subject.take(3)
        return subject.confirm(1e-3)


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


KEPT: dict[int, float] = {}


def summing(body: Callable[..., Any]) -> Kernel:
    return kernel(
        family="test",
        work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=size),
        arguments=lambda n, dtype, rng: (np.empty(1, dtype), rng.random(n).astype(dtype)),
        reference=lambda total, a: np.array([a.sum()]),
        compiled=False,
    )(body)


@pytest.mark.canary("WRONG")
def test_a_sum_that_is_remembered_is_wrong_on_other_data() -> None:
    def remembered(total, a):  # type: ignore[no-untyped-def]
        """total = sum over i of a[i]"""
        total[0] = KEPT.setdefault(a.ctypes.data, a.sum())

    with pytest.raises(WrongResult, match="is wrong after it was timed"):
        confirmed(summing(remembered))


@pytest.mark.twin("WRONG")
def test_a_sum_that_is_computed_is_right_on_other_data() -> None:
    def computed(total, a):  # type: ignore[no-untyped-def]
        """total = sum over i of a[i]"""
        total[0] = a.sum()

    assert confirmed(summing(computed)) is not None


def test_a_tolerance_that_passes_anything_is_refused() -> None:
    with pytest.raises(UsageError, match=r"would pass with an error of .*, expected at most 0\.05"):
        confirmed(doubling(honest, roundings=lambda n: 1e300))


class Lazy:
    """Doubles its input, and says that a call takes `work_s` times the share that it does: all, when it must."""

    def __init__(self, share: float, work_s: float) -> None:
        self.share, self.work_s = share, work_s
        self.source, self.output = np.arange(1.0, 9.0), np.arange(2.0, 18.0, 2.0)

    def call(self) -> float:
        right = 2 * self.source
        known = np.array_equal(self.output, right)
        self.output[:] = right
        return self.work_s * (self.share if known else 1.0)

    def renew(self) -> Callable[[], Expected]:
        self.source += 1.5
        return lambda: Expected(2 * self.source)

    def aftermath(self, only_writes: bool = True, renew: Renew | None = None) -> Aftermath:
        return Aftermath(
            point="x n=8 f64",
            constant=(),
            sums=(),
            output=self.output if only_writes else None,
            result=self.output,
            expected=lambda: Expected(2 * self.source),
            renew=renew,
            touch=lambda: None,
            tolerance=1e-12,
            alone_s=1e-4,
        )


@pytest.mark.canary("HOIST", "SEEN")
@pytest.mark.parametrize("only_writes", [True, False], ids=["written", "read and written"])
@pytest.mark.parametrize("work_s", [1e-2, 1e-5], ids=["long", "short"])
@pytest.mark.parametrize("share", [1 / 8, 0.55])
def test_a_call_that_finds_its_work_done_takes_longer_on_new_data(
    share: float, work_s: float, only_writes: bool
) -> None:
    lazy = Lazy(share, work_s)
    found = lazy.aftermath(only_writes, lazy.renew).confirm(lazy.call, share * work_s)
    assert found == pytest.approx(1 / share, rel=0.1)
    assert found > MOST_UNSEEN


@pytest.mark.twin("HOIST", "SEEN")
@pytest.mark.parametrize("call_s", [1e-2, 1e-5, 1e-8])
def test_a_call_that_does_all_of_its_work_takes_as_long_on_new_data(call_s: float) -> None:
    lazy = Lazy(1.0, call_s)
    assert lazy.aftermath(renew=lazy.renew).confirm(lazy.call, call_s) == pytest.approx(1)


def test_where_no_other_data_is_made_the_output_is_wiped() -> None:
    lazy = Lazy(1 / 8, 1e-2)
    assert lazy.aftermath().confirm(lazy.call, lazy.work_s / 8) == pytest.approx(8, rel=0.1)
    assert lazy.aftermath(renew=lambda: None).confirm(lazy.call, lazy.work_s / 8) == pytest.approx(8, rel=0.1)
    assert lazy.aftermath(only_writes=False).confirm(lazy.call, lazy.work_s / 8) is None
    assert lazy.aftermath(only_writes=False, renew=lambda: None).confirm(lazy.call, lazy.work_s / 8) is None


def test_a_disturbed_call_on_new_data_is_tried_again() -> None:
    honest, seconds = Lazy(1.0, 1e-2), iter([5e-2, 3e-2, 1e-2])

    def call() -> float:
        honest.call()
        return next(seconds)

    assert honest.aftermath(renew=honest.renew).confirm(call, 1e-2) == pytest.approx(1)


@pytest.mark.canary("WRONG")
def test_a_result_that_stays_the_same_for_other_data_is_refused_though_the_reference_takes_too_long() -> None:
    lazy = Lazy(1.0, 1e-2)
    after = replace(lazy.aftermath(only_writes=False, renew=lambda: lazy.renew() and (lambda: None)), expected=None)
    after.confirm(lazy.call, 1e-2)
    with pytest.raises(WrongResult, match="gives for other data the result that it gave before"):
        after.confirm(lambda: 1e-2, 1e-2)


@given(st.integers(0, 5000), st.integers(0, 2**31))
def test_any_changed_element_changes_the_fingerprint(place: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 100, 5001).astype(np.int8)
    before = fingerprint(values)
    values[place] += 1
    assert fingerprint(values) != before


@pytest.mark.parametrize("order", ["C", "F"])
def test_values_that_change_places_or_signs_change_the_fingerprint(order: str) -> None:
    values = np.array(np.random.default_rng(1).random((40, 50)), order=order)
    seen = {fingerprint(values)}
    for changed in (values[::-1], values[:, ::-1], np.roll(values, 64), -values):
        seen.add(fingerprint(np.array(changed, order=order)))
    assert len(seen) == 5


def test_a_large_result_is_thinned_over_all_of_its_columns() -> None:
    result = np.arange(4096.0**2).reshape(4096, 4096)
    kept = thinned(result)
    assert kept.size < result.size / 32
    assert len(set((kept % 4096).astype(int))) > 4000
    assert thinned(result[:8]).size == 8 * 4096
