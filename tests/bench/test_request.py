"""What a user types, read: problem sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answer import Ask
from sample_host import sample_machine

from bench.cli.request import LARGEST_SIZE, chosen_isas, chosen_sizes
from bench.cli.session import Session
from roofline.errors import NothingMeasured, UnknownName, UsageError
from roofline.measurement.plan import KernelPoint, Plan
from roofline.model.run import Run


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (None, ()),
        ("256", (256,)),
        ("256,1024", (256, 1024)),
        (" 8 , 7 ", (8, 7)),
        ("7,8,7", (7, 8)),
        ("007", (7,)),
        (str(LARGEST_SIZE), (LARGEST_SIZE,)),
    ],
)
def test_sizes_are_read_in_order_and_once_each(text: str | None, sizes: tuple[int, ...]) -> None:
    assert chosen_sizes(text) == sizes


@pytest.mark.parametrize("word", ["0", "-1", "1.5", "1e3", "all", "256x256", "\u0663", "\u00b2", str(LARGEST_SIZE + 1)])
def test_what_is_no_size_is_refused_by_name(word: str) -> None:
    with pytest.raises(UsageError, match="is no problem size; expected whole numbers from 1 to") as refused:
        chosen_sizes(f"256,{word}")
    assert repr(word) in str(refused.value)


@pytest.mark.parametrize("text", ["", ",", "1,", ",1", "1,,2", " "])
def test_nothing_between_commas_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--size .* names nothing between its commas"):
        chosen_sizes(text)


def test_a_bad_size_is_a_usage_error_before_anything_is_measured(ask: Ask, tmp_path: Path) -> None:
    def unwanted(*_: Any, **__: Any) -> Run:
        raise AssertionError("measured")

    answer = ask("run", "gemm", "--size", "12,none", "--results", str(tmp_path), session=Session(launch=unwanted))
    assert answer.code == 2
    assert "--size 'none' is no problem size" in answer.err


def test_sizes_reach_the_plan(ask: Ask, tmp_path: Path) -> None:
    plans: list[Plan] = []

    def remember(plan: Plan, run: Run, *, keep: Callable[..., None], progress: Callable[..., None]) -> Run:
        plans.append(plan)
        raise NothingMeasured("as planned")

    words = ("run", "gemm.naive", "--size", "96,100", "--threads", "1", "--dtype", "f32")
    ask(*words, "--results", str(tmp_path), session=Session(launch=remember))
    (plan,) = plans
    assert [point.n for point in plan.points if isinstance(point, KernelPoint)] == [96, 100]


def test_only_what_numbas_features_allow_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = sample_machine()
    assert "avx512" in chosen_isas(None, machine)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+sse2,+avx2,+fma,-avx512f")
    assert chosen_isas(None, machine) == ("scalar", "sse2", "avx2")
    with pytest.raises(UnknownName, match="NUMBA_CPU_FEATURES"):
        chosen_isas("avx512", machine)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "")
    with pytest.raises(UsageError, match="NUMBA_CPU_FEATURES"):
        chosen_isas(None, machine)
