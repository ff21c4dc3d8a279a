"""Annotations against a reader that does what GitHub's runner does with a line."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hostile import TEXTS
from msgspec.structs import replace
from outcomes_of import outcome

from bench.exit_codes import FATAL_KINDS
from bench.service.annotation import MOST, annotations_of
from bench.service.judgement import Judgement
from roofline.errors import UsageError
from roofline.model.outcome import Outcome
from roofline.model.run import Failure, Run

Command = tuple[str, dict[str, str], str]


def commands(run: Run, *outcomes: Outcome, **fields: object) -> list[Command]:
    judgement = Judgement(replace(run, **{"failures": (), **fields}), outcomes)
    return [as_read(annotation.command()) for annotation in annotations_of(judgement, FATAL_KINDS)]


def as_read(line: str) -> Command:
    """Return what the runner makes of a line: the command, its properties, its message."""
    assert len(line.splitlines()) == 1
    found = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
    assert found is not None, line
    properties = dict(pair.split("=", 1) for pair in (found[2] or "").split(","))
    return found[1], {name: unquote(value) for name, value in properties.items()}, unquote(found[3])


def test_one_annotation_for_each_rule_tells_the_points_that_failed(run: Run) -> None:
    failed = [outcome(point=f"gemm.naive n={n} f64 ×1") for n in range(7)]
    (told,) = commands(run, *failed, outcome("passed"))
    level, properties, message = told
    assert level == "error"
    assert properties == {"title": "Roofline gate: gemm.*: gflops >= 3"}
    assert message.splitlines()[0] == "7 of 8 points failed"
    assert message.splitlines()[1] == "gemm.naive n=0 f64 ×1: found 2, expected >= 3"
    assert message.splitlines()[-1] == "and 3 more"


def test_what_is_inconclusive_warns_and_what_passed_is_silent(run: Run) -> None:
    found = commands(run, outcome("inconclusive", "a"), outcome("passed", "b"), outcome("failed", "c"))
    assert [level for level, *_ in found] == ["error", "warning"]


def test_kernels_that_failed_are_told_by_kind_and_skipped_ones_are_not(run: Run) -> None:
    kinds = ("wrong", "wrong", "crashed", "skipped")
    failures = tuple(Failure(kind=kind, point=f"p{place}", message="m") for place, kind in enumerate(kinds))
    titles = [properties["title"] for _, properties, _ in commands(run, failures=failures)]
    assert titles == ["Roofline: 2 wrong", "Roofline: 1 crashed"]


def test_why_there_is_no_verdict_is_told(run: Run) -> None:
    (told,) = annotations_of(Judgement(replace(run, failures=()), error=UsageError("no such kernel")), FATAL_KINDS)
    assert as_read(told.command()) == ("error", {"title": "Roofline: no verdict"}, "no such kernel")


def test_there_are_never_more_than_are_shown_and_errors_come_first(run: Run) -> None:
    many = [outcome("inconclusive" if place % 2 else "failed", f"rule {place}") for place in range(5000)]
    found = commands(run, *many)
    assert len(found) == MOST == 10
    assert {level for level, *_ in found} == {"error"}
    assert found[-1][1]["title"] == "4991 more: all are in the summary"
    assert len(commands(run, *many[:20:2])) == 10
    assert "more" not in commands(run, *many[:20:2])[-1][1]["title"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_text_is_one_command_and_no_other(run: Run, text: str) -> None:
    failure = Failure(kind="wrong", point=text, message=text)
    found = commands(run, outcome(rule=text, point=text, message=text), failures=(failure,))
    assert [level for level, *_ in found] == ["error", "error"]
    assert {tuple(properties) for _, properties, _ in found} == {("title",)}
    assert all(len(line) < 10_000 for *_, line in found)


def test_what_separates_is_escaped(run: Run) -> None:
    judgement = Judgement(replace(run, failures=()), (outcome(rule="a,b:c%d", point="50 %: x,y\r\n::error::z"),))
    (annotation,) = annotations_of(judgement, FATAL_KINDS)
    line = annotation.command()
    assert line.startswith("::error title=Roofline gate%3A a%2Cb%3Ac%25d::")
    assert "50 %25: x,y\\r\\n::error::z: found" in line
    assert "%0A" in line
