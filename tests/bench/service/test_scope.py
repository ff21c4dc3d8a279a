"""What `ci` measures: what its plan says, else the kernels that its rules name, else the quick suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from answer import Ask
from sample_host import sample_machine

from bench.cli.request import Request
from bench.cli.session import Session
from bench.modes import MODES
from bench.plans import plan_for
from bench.service.scope import request_for
from roofline.compare.rule import parse_rule
from roofline.errors import MachineBusy, UsageError
from roofline.kernels.registry import select
from roofline.measurement.plan import KernelPoint, Plan

QUICK = {kernel.name for kernel in select(MODES["quick"].kernels)}
GEMM = {kernel.name for kernel in select(["gemm.*"])}
RATIO = "gemm.blocked / gemm.naive >= 3"


def request(*rules: str, plan: str | None = None) -> Request:
    return request_for(plan, [parse_rule(rule) for rule in rules])


def points(asked: Request) -> list[KernelPoint]:
    """Return the kernels' points that a request means on the sample machine."""
    plan = plan_for(
        asked.mode,
        machine=sample_machine(),
        cpus=(0, 1),
        threads=(1, 2),
        dtypes=asked.dtypes.split(","),
        isas=("scalar", "avx2"),
        patterns=asked.patterns,
        sizes=[int(word) for word in (asked.sizes or "").split(",") if word],
        budget_s=None,
        memory_budget_bytes=2**33,
    )
    return [point for point in plan.points if isinstance(point, KernelPoint)]


@pytest.mark.parametrize(
    ("rules", "kernels"),
    [
        ((RATIO,), {"gemm.blocked", "gemm.naive"}),
        (("gemm.*: regression <= 5",), GEMM),
        (("gemm: regression <= 5",), GEMM),
        (("gemm.naiv?: gflops >= 1", "stream.triad: gbs >= 1"), {"gemm.naive", "stream.triad"}),
        (("gemm.* / gemm.naive >= 1", "blas.dot: time_ms <= 3"), GEMM | {"blas.dot"}),
        (("*: percent_of_roof >= 1",), QUICK),
        (("*: percent_of_roof >= 1", RATIO), QUICK | {"gemm.blocked"}),
        ((), QUICK),
    ],
)
def test_the_kernels_of_the_rules_are_measured_and_no_others(rules: tuple[str, ...], kernels: set[str]) -> None:
    assert {point.kernel for point in points(request(*rules))} == kernels


def test_what_all_rules_ask_of_a_point_is_measured_and_nothing_else() -> None:
    asked = request("gemm.blocked[f64, threads=2, n=512] / gemm.naive[dtype=f64, threads=2, n=96] >= 3")
    assert (asked.dtypes, asked.threads, asked.sizes) == ("f64", "2", "512,96")
    assert {(point.dtype, point.n) for point in points(asked)} == {("f64", 512), ("f64", 96)}


def test_what_only_some_rules_ask_for_narrows_nothing() -> None:
    asked = request("gemm.blocked[f32, threads=3, n=512]: gflops >= 1", "gemm.naive: gflops >= 1")
    assert set(asked.dtypes.split(",")) == set(Request.dtypes.split(","))
    assert set(asked.threads.split(",")) == {"1", "all", "3"}
    assert asked.sizes is None


@pytest.mark.parametrize(
    ("plan", "mode", "patterns"),
    [
        ("quick", "quick", ("*",)),
        (" all ", "all", ("*",)),
        ("thorough", "thorough", ("*",)),
        ("stream, gemv.*", "run", ("stream", "gemv.*")),
    ],
)
def test_a_plan_that_is_typed_wins_over_the_rules(plan: str, mode: str, patterns: tuple[str, ...]) -> None:
    asked = request(RATIO.replace("naive", "naive[f32, n=99]"), plan=plan)
    assert (asked.mode, asked.patterns, asked.dtypes, asked.sizes) == (mode, patterns, Request.dtypes, None)


@pytest.mark.parametrize("plan", ["", " ", "gemm,,stream", "gemm,"])
def test_a_plan_that_names_nothing_is_refused(plan: str) -> None:
    with pytest.raises(UsageError, match="names nothing between its commas"):
        request(RATIO, plan=plan)


@pytest.mark.parametrize(
    ("words", "kernels"),
    [
        ([RATIO], {"gemm.blocked", "gemm.naive"}),
        ([], {"blas.dot"}),
        ([RATIO, "--plan", "stream.copy"], {"stream.copy"}),
    ],
)
def test_the_job_measures_that(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], kernels: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.bench]\ngate = ["blas.dot: gflops >= 1"]\n')
    seen: list[Plan] = []

    def launch(plan: Plan, *args: object, **settings: object) -> None:
        seen.append(plan)
        raise MachineBusy("seen enough")

    assert ask("ci", *words, "--provider", "plain", session=Session(launch=launch)).code == 75
    assert {point.kernel for point in seen[0].points if isinstance(point, KernelPoint)} == kernels
