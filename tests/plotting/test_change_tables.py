"""The tables of a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hostile import TEXTS
from msgspec.structs import replace
from sample_run import sample_run

from roofline.compare.change import Change
from roofline.compare.comparison import Comparison, compared
from roofline.model.run import Run
from roofline.plotting.change_tables import comparison_tables, factor, lines, verdict_text
from roofline.plotting.table import Table, to_markdown

AFTER_ID = "20261105-101500-c3d4"


def after_of(run: Run, **times: float) -> Run:
    """Return a later run, whose kernels of these families take so many times as long."""
    moved = tuple(
        replace(m, samples_s=tuple(times.get(m.kernel.split(".")[0], 1.0) * sample_s for sample_s in m.samples_s))
        for m in run.measurements
    )
    return replace(run, id=AFTER_ID, started_utc="2026-11-05T10:15:00Z", label="after", measurements=moved)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    run = sample_run()
    return compared(run, after_of(run, gemm=0.5, gemv=3.0))


def cells(tables: tuple[Table, ...], kernel: str) -> Iterator[dict[str, str]]:
    for table in tables[1:]:
        titles = [column.title for column in table.columns]
        yield from (dict(zip(titles, row, strict=True)) for row in table.rows if row[0] == kernel)


def test_the_runs_stand_first_and_then_a_table_for_each_dtype_and_thread_count(comparison: Comparison) -> None:
    runs, *changes = comparison_tables(comparison)
    assert [row[:3] for row in runs.rows] == [
        ("before", "20261104-101500-a1b2", "sample"),
        ("after", AFTER_ID, "after"),
    ]
    assert [table.title for table in changes][:2] == ["Changes: f64, 1 thread", "Changes: f64, 2 threads"]
    assert sum(len(table.rows) for table in changes) == len(comparison.points)


def test_a_row_shows_both_sides_the_ratio_its_interval_and_the_verdict(comparison: Comparison) -> None:
    row = next(cells(comparison_tables(comparison), "gemm.blocked"))
    assert row["speed-up"] == "×2.0"
    assert row["verdict"] == "faster"
    assert (row["by"], row["code"], row["level"]) == ("roof", "same source", "L3")
    assert [" → " in row[title] for title in ("time", "GFLOP/s", "roof")] == [True] * 3
    assert " → " not in row["flop/B"]
    low, high = (float(end) for end in row["95 % interval"].split(" to "))
    assert low < 2 < high


def test_only_what_changed_is_shown_when_nothing_else_is_asked_for(comparison: Comparison) -> None:
    shown = comparison_tables(comparison, only_changed=True)
    families = {row[0].split(".")[0] for table in shown[1:] for row in table.rows}
    assert families == {"gemm", "gemv"}


def test_the_lines_below_count_the_verdicts_and_name_what_is_in_one_run(comparison: Comparison) -> None:
    gone = comparison.after.measurements[0]
    counted, only = lines(replace(comparison, only_after=(replace(gone, kernel="a\n.b"),)))
    assert counted.endswith("inconclusive") and f"{comparison.counts['faster']} faster" in counted
    assert only == f"only in AFTER: a\\n.b n={gone.n} f64 ×1 in L1"


@pytest.mark.parametrize(
    ("verdict", "fields", "text"),
    [
        ("faster", {}, "faster"),
        ("same", {"within": 0.075}, "same within 7.5 %"),
        ("inconclusive", {"smallest_effect": 0.1234}, "inconclusive (could have seen 12 %)"),
        ("inconclusive", {"smallest_effect": 159.4}, "inconclusive (could have seen a factor of 160)"),
        ("inconclusive", {"smallest_effect": 0.02, "reason": "no roof"}, "inconclusive (no roof)"),
    ],
)
def test_verdicts_are_words(verdict: str, fields: dict[str, object], text: str) -> None:
    change = replace(Change(speedup=1.0, interval=None, verdict=verdict, smallest_effect=None, basis="time"), **fields)
    assert verdict_text(change) == text


def test_across_nothing_is_called_faster() -> None:
    run = sample_run()
    elsewhere = replace(after_of(run, gemm=0.5), machine=replace(run.machine, cores=8))
    row = next(cells(comparison_tables(compared(run, elsewhere, across=True)), "gemm.blocked"))
    assert row["verdict"] == "nearer to its roof"
    assert row["roof ratio"] == "×2.0"


def test_ratios_have_the_digits_that_tell_them_from_one() -> None:
    assert [factor(value) for value in (0.98765, 1.0234, 7.6543, 123.4, 12345.6, 0.0123)] == [
        "0.988",
        "1.023",
        "7.65",
        "123",
        "12346",
        "0.0123",
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_names_stay_one_cell_of_one_line(name: str) -> None:
    run = sample_run()
    one = replace(run, label=None, measurements=(replace(run.measurements[0], kernel=name, status_codes=(name,)),))
    tables = comparison_tables(compared(one, after_of(one)))
    text = "\n".join(map(to_markdown, tables))
    assert text.replace("\n", "").isprintable()
    assert all(line.count("|") - line.count(r"\|") == 13 for line in text.splitlines() if "same" in line)
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(", text)
