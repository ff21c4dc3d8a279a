"""What `list` tells of runs and instruction sets."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from answer import Ask
from msgspec.structs import replace
from rich.console import Console
from sample_host import sample_machine

from bench.cli.list import isa_in_words, isas, kernel_in_words, kernels, table_of
from bench.cli.render import show
from roofline.archive.journal import UNSAVED, Journal
from roofline.archive.store import save
from roofline.errors import UnknownName
from roofline.kernels.registry import all_kernels, select
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


def test_the_list_of_kernels_fits_a_narrow_terminal() -> None:
    out = io.StringIO()
    show([table_of("Kernels", kernels())], Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80


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


@pytest.mark.parametrize("width", [100, 120])
def test_the_list_of_kernels_gives_each_formula_its_room_and_each_family_its_group(width: int) -> None:
    table = table_of("Kernels", list(map(kernel_in_words, kernels())))
    console = Console(file=io.StringIO(), width=width, color_system=None)
    left_out = show([table], console)["Kernels"]
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert "levels" in left_out
    assert len(lines) <= 2 * len(table.rows) + len(table.groups) + 4
    assert {row[0] for row in table.rows} <= {line.split(" ")[0] for line in lines}
    assert [group[0][0].partition(".")[0] for group in table.groups] == list(
        dict.fromkeys(kernel.family for kernel in all_kernels().values())
    )


def test_a_pipe_gets_every_kernel_in_two_lines_or_so() -> None:
    table = table_of("Kernels", list(map(kernel_in_words, kernels())))
    console = Console(file=io.StringIO(), width=120, color_system=None)
    assert show([table], console, whole=True) == {}
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) <= 2 * len(table.rows) + len(table.groups)


def test_the_list_of_kernels_as_json_tells_how_each_is_declared() -> None:
    facts = {fact["name"]: fact for fact in kernels()}
    assert facts["gemm.parallel"]["serial"] is False and facts["gemm.parallel"]["tiles"] is True
    assert facts["attention.naive"]["own_work"] is True and facts["attention.naive"]["sizes"]
    assert facts["quantised.gemv_i8"]["dtypes"] == ["i8"]


def test_an_unknown_kernel_is_answered_with_the_nearest_and_the_families() -> None:
    with pytest.raises(UnknownName) as caught:
        select(["gemm.naiv"])
    message = str(caught.value)
    assert "did you mean 'gemm.naive'" in message and "families: attention, blas, conv" in message
    assert "python -m bench list kernels" in message
    assert len(message) < 400
