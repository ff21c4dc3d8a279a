"""What `list` tells of runs and instruction sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer import Ask
from msgspec.structs import replace
from sample_host import sample_machine

from bench.cli.list import isa_in_words, isas, table_of
from roofline.archive.journal import UNSAVED, Journal
from roofline.archive.store import save
from roofline.model.run import Run


@pytest.fixture
def mixed(run: Run, tmp_path: Path) -> Path:
    """A results folder with a complete run, an interrupted one of no known mode, a journal and a broken file."""
    save(run, tmp_path)
    save(replace(run, id="20261104-101501-0000", plan={"mode": 7}, complete=False, reason="SIGINT"), tmp_path)
    with Journal(replace(run, id="20261104-101502-0000", complete=False), tmp_path) as journal:
        journal.path.with_name("20261104-101503-0000.json").write_text("nonsense")
    return tmp_path


def test_a_list_of_runs_tells_what_was_asked_and_how_it_ended(ask: Ask, mixed: Path) -> None:
    answer = ask("list", "runs", "--results", str(mixed))
    whole, interrupted, unsaved, broken = [line.split() for line in answer.out.splitlines() if line.startswith("2026")]
    assert whole[-2:] == ["default", "complete"]
    assert interrupted[-3:] == ["-", "incomplete:", "SIGINT"]
    assert unsaved[4:6] == ["default", "incomplete:"]
    assert "unreadable:" in broken


def test_a_list_of_runs_as_json_has_mode_and_reason(ask: Ask, mixed: Path) -> None:
    runs = json.loads(ask("list", "runs", "--json", "--results", str(mixed)).out)
    assert [(run["mode"], run["complete"], run["reason"]) for run in runs] == [
        ("default", True, None),
        (None, False, "SIGINT"),
        ("default", False, UNSAVED),
        (None, False, None),
    ]


def test_an_instruction_set_that_a_later_one_of_its_width_covers_says_so() -> None:
    machine = replace(sample_machine(), features=("avx", "avx2", "fma", "sse2"), isas=("scalar", "sse2", "avx2"))
    facts = isas(machine)
    assert [(fact["name"], fact["here"], fact["covered_by"]) for fact in facts] == [
        ("scalar", True, None),
        ("sse2", True, None),
        ("avx", False, "avx2"),
        ("avx2", True, None),
        ("avx512", False, None),
    ]
    told = [row[-1] for row in table_of("Instruction sets", [isa_in_words(fact) for fact in facts]).rows]
    assert told == ["yes", "yes", "covered by avx2", "yes", ""]


def test_an_instruction_set_that_nothing_covers_is_measured() -> None:
    machine = replace(sample_machine(), features=("avx", "sse2"), isas=("scalar", "sse2", "avx"))
    assert {fact["covered_by"] for fact in isas(machine)} == {None}
