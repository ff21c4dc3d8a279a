"""Rules as they are written and read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.compare.metric import METRICS
from roofline.compare.rule import RATIO, REGRESSION, parse_points, parse_rule
from roofline.compare.selector import Selector
from roofline.errors import UsageError

quick = settings(max_examples=100, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("text", "pattern", "metric", "at_least", "limit", "unit"),
    [
        ("gemm.blocked: percent_of_roof >= 55", "gemm.blocked", "percent_of_roof", True, 55.0, "%"),
        ("gemm.blocked:percent_of_ceiling>=55%", "gemm.blocked", "percent_of_ceiling", True, 55.0, "%"),
        ("gemm: gflops >= .5", "gemm", "gflops", True, 0.5, "GFLOP/s"),
        ("stream.*: gbs >= 1e1", "stream.*", "gbs", True, 10.0, "GB/s"),
        ("  gemm.?aive : time_ms <= 3.  ", "gemm.?aive", "time_ms", False, 3.0, "ms"),
        ("*: regression <= 0", "*", REGRESSION, False, 0.0, "%"),
        ("*: regression <= 5 %", "*", REGRESSION, False, 5.0, "%"),
        ("gemm.blocked / gemm.naive >= 3", "gemm.blocked", RATIO, True, 3.0, ""),
        ("gemm.blocked/gemm.naive<=+3", "gemm.blocked", RATIO, False, 3.0, ""),
    ],
)
def test_a_rule_is_read(text: str, pattern: str, metric: str, at_least: bool, limit: float, unit: str) -> None:
    rule = parse_rule(text)
    assert (rule.points, rule.metric, rule.at_least, rule.limit) == (Selector(pattern=pattern), metric, at_least, limit)
    assert (rule.text, rule.unit) == (text.strip(), unit)
    assert (rule.other is not None) == (metric == RATIO)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a[f64]", Selector(pattern="a", dtype="f64")),
        ("a [ dtype = f32 , threads = 2 ]", Selector(pattern="a", dtype="f32", threads=2)),
        ("a[n=384,level=L2]", Selector(pattern="a", n=384, level="L2")),
        ("a.b*[level=DRAM,i8,n=7,threads=1]", Selector(pattern="a.b*", dtype="i8", threads=1, n=7, level="DRAM")),
    ],
)
def test_points_are_read_with_their_conditions(text: str, expected: Selector) -> None:
    assert parse_points(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected a kernel or a pattern"),
        ("gemm", 5, "expected `:` and a metric, or `/` and another kernel"),
        ("gemm >= 3", 6, "found '>= 3', expected `:`"),
        ("gemm: percent >= 3", 7, "unknown metric 'percent'; did you mean 'percent_of_roof'"),
        ("gemm: ratio >= 3", 7, "unknown metric 'ratio'"),
        ("gemm: GFLOPS >= 3", 7, "unknown metric 'GFLOPS'"),
        ("gemm: gflops <= 3", 14, "expected `>=` after gflops"),
        ("gemm: time_ms >= 3", 15, "expected `<=` after time_ms"),
        ("gemm: regression >= 3", 18, "expected `<=` after regression"),
        ("gemm: gflops > 3", 14, "expected `>=`"),
        ("gemm: gflops = 3", 14, "expected `>=`"),
        ("gemm: gflops >= x", 17, "expected a number"),
        ("gemm: gflops >= nan", 17, "expected a number"),
        ("gemm: gflops >= 0", 17, "expected above 0"),
        ("gemm: gflops >= -1", 17, "expected above 0"),
        ("gemm: gflops >= 1e999", 17, "no more than 2^53"),
        ("gemm: regression <= -1", 21, "expected 0 or more"),
        ("gemm: gflops >= 3 GFLOP/s", 19, "the limit is a plain number in GFLOP/s"),
        ("gemm: gflops >= 3%", 18, "the limit is a plain number in GFLOP/s"),
        ("gemm: gflops >= 3 4", 19, "expected the end"),
        ("gemm / naive >= 3%", 18, "the limit is a plain number"),
        ("gemm / : gflops >= 3", 8, "expected a kernel or a pattern"),
        ("gemm / naive / blas >= 3", 14, "expected `>=` or `<=` after ratio"),
        ("gemm[]: gflops >= 3", 6, "expected a dtype"),
        ("gemm[f64: gflops >= 3", 9, "expected `,` or `]`"),
        ("gemm[f64, f32]: gflops >= 3", 11, "dtype is given twice"),
        ("gemm[threads=1, threads=2]: gflops >= 3", 17, "threads is given twice"),
        ("gemm[threads=0]: gflops >= 3", 14, "expected a whole number from 1"),
        ("gemm[n=1.5]: gflops >= 3", 8, "n is '1.5', expected a whole number"),
        ("gemm[n=1e3]: gflops >= 3", 8, "n is '1e3', expected a whole number"),
        ("gemm[size=3]: gflops >= 3", 6, "unknown condition 'size'"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_column_and_what_was_expected(text: str, column: int, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_rule(text)
    assert f"column {column}: " in str(refused.value)
    assert words in str(refused.value)
    assert "guide gate" in str(refused.value)


def test_a_long_wrong_rule_is_not_repeated_whole() -> None:
    with pytest.raises(UsageError) as refused:
        parse_rule("x" * 100_000)
    assert len(str(refused.value)) < 500


PATTERNS = st.text(alphabet="gem.*?_1", min_size=1, max_size=8)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["f64", "f32", "i8"]),
        "threads": st.integers(1, 10**6),
        "n": st.integers(1, 10**12),
        "level": st.sampled_from(["L1", "L2", "DRAM"]),
    },
)
SELECTORS = st.builds(lambda pattern, wanted: Selector(pattern=pattern, **wanted), PATTERNS, CONDITIONS)
LIMITS = st.floats(0.001, 1e9)
BLANKS = st.lists(st.sampled_from(["", " ", "\t "]), min_size=6, max_size=6)


@quick
@given(SELECTORS, st.sampled_from([*METRICS, REGRESSION]), LIMITS, BLANKS)
def test_what_is_written_as_the_grammar_says_is_read_as_it_was_meant(
    points: Selector, metric: str, limit: float, blanks: list[str]
) -> None:
    at_least = metric in METRICS and METRICS[metric].more_is_better
    parts = ["", str(points), ":", metric, ">=" if at_least else "<=", repr(limit)]
    rule = parse_rule("".join(blank + part for blank, part in zip(blanks, parts, strict=True)))
    assert (rule.points, rule.metric, rule.at_least, rule.limit) == (points, metric, at_least, limit)
    assert parse_points(str(points)) == points


@quick
@given(SELECTORS, SELECTORS, st.booleans(), LIMITS)
def test_both_sides_of_a_ratio_are_read(one: Selector, other: Selector, at_least: bool, limit: float) -> None:
    rule = parse_rule(f"{one} / {other} {'>=' if at_least else '<='} {limit!r}")
    assert (rule.points, rule.other, rule.at_least, rule.limit) == (one, other, at_least, limit)


@quick
@given(st.one_of(st.text(max_size=40), st.text(alphabet="gemm.*[]=,:/<>1 %n", max_size=40)))
def test_whatever_is_typed_is_a_rule_or_an_error_with_a_column_inside_it(text: str) -> None:
    try:
        rule = parse_rule(text)
    except UsageError as refused:
        found = re.search(r", column ([0-9]+): ", str(refused).removeprefix(f"rule {text!r}"))
        assert found is not None
        assert 1 <= int(found[1]) <= len(text) + 1
    else:
        assert rule.limit >= 0
