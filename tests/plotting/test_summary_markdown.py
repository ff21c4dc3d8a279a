"""The page that a CI service shows: complete, literal, and never too large."""

from __future__ import annotations

import re

import pytest
from hostile import TEXTS
from msgspec.structs import replace

from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run
from roofline.plotting.summary_markdown import refusal_markdown, summary_markdown

LIMIT = 1024 * 1024


def outcomes(count: int, result: str = "failed", text: str = "found 2, expected >= 3") -> tuple[Outcome, ...]:
    return tuple(
        Outcome(
            rule=f"gemm.*: gflops >= {place}",
            kernel="gemm.naive",
            point=f"gemm.naive n={place} f64 ×1",
            result=result,
            found=2.0,
            limit=3.0,
            unit="GFLOP/s",
            message=text,
        )
        for place in range(count)
    )


def titles(page: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", page, re.MULTILINE)


def rows(page: str, title: str) -> list[str]:
    section = page[page.index(f"### {title}") :].split("\n### ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_page_holds_verdict_grade_machine_gate_kernels_failures_and_files(run: Run) -> None:
    page = summary_markdown(run, (*outcomes(1, "passed"), *outcomes(1)), files=["results/a/b.json"], limit_bytes=LIMIT)
    found = titles(page)
    assert found[0] == "Roofline: gate failed (1 passed, 1 failed, 0 inconclusive)"
    assert found[1:3] == ["Machine", "Gate"]
    assert found[3].startswith("Kernels: f64")
    assert found[-3:] == ["Failures", "Caveats", "Files"]
    assert "**Grade B**" in page
    assert len(rows(page, "Kernels: f64, 1 thread")) == sum(
        (m.dtype, m.threads) == ("f64", 1) for m in run.measurements
    )
    assert [row.split(" | ")[0] for row in rows(page, "Gate")] == ["| failed", "| passed"]
    assert "user.blur n=512" in page
    assert "- results/a/b.json" in page


def test_without_rules_it_is_a_report_and_with_an_error_there_is_no_verdict(run: Run) -> None:
    assert titles(summary_markdown(run, limit_bytes=LIMIT))[0] == "Roofline: a report, no gate"
    page = summary_markdown(run, error="no kernel fits <b>", limit_bytes=LIMIT)
    assert titles(page)[0] == "Roofline: no verdict: no kernel fits &#60;b&#62;"


@pytest.mark.parametrize("limit_bytes", [LIMIT, 200_000, 60_000])
def test_a_page_that_would_be_too_large_loses_whole_rows_and_says_how_many(run: Run, limit_bytes: int) -> None:
    many = (*outcomes(5000, "inconclusive", "x" * 300), *outcomes(20, "failed", "é" * 300))
    page = summary_markdown(run, many, limit_bytes=limit_bytes)
    assert limit_bytes * 0.8 < len(page.encode()) <= limit_bytes
    shown = rows(page, "Gate")
    assert [row.split(" | ")[0] for row in shown[:20]] == ["| failed"] * 20
    assert all(row.endswith(" |") and row.count(" | ") == 5 for row in shown)
    assert f"_{5020 - len(shown)} of 5020 rows found no room here._" in page
    assert "user.blur n=512" in page


def test_where_there_is_room_for_no_row_the_verdict_is_there(run: Run) -> None:
    for limit_bytes in (1000, 5000, 9000):
        page = summary_markdown(run, outcomes(5000), limit_bytes=limit_bytes)
        assert 0 < len(page.encode()) <= limit_bytes
        assert "gate failed" in page
    assert summary_markdown(run, outcomes(1), limit_bytes=100) == ""


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_text_is_shown_literally(run: Run, text: str) -> None:
    hostile = replace(
        run,
        label=text,
        machine=replace(run.machine, cpu_model=text),
        measurements=tuple(replace(m, kernel=f"a.{text}") for m in run.measurements[:3]),
        failures=(Failure(kind="wrong", point=text, message=text),),
    )
    told = tuple(replace(one, rule=text, point=text, message=text) for one in outcomes(2))
    page = summary_markdown(hostile, told, files=[text], error=text, limit_bytes=LIMIT)
    assert len(page) < 40_000
    assert not re.search(r"<(?!br)|@|(?<!\\)`|\x1b|\x07|\u202e", page)
    assert not re.search(r"(?<!\\)\]\(", page)
    assert not re.search(r"^\s*::", page, re.MULTILINE)
    assert all(row.count(" | ") == 5 for row in rows(page, "Gate"))


@pytest.mark.parametrize("text", TEXTS)
def test_why_there_is_no_run_is_one_literal_line(text: str) -> None:
    page = refusal_markdown(text)
    assert page.startswith("## Roofline: no verdict: ")
    assert page.count("\n") == 1 and page.endswith("\n")
    assert len(page) < 4000
    assert not re.search(r"<|@|(?<!\\)`|\x1b|\x07|\u202e", page)
