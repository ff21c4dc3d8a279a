from __future__ import annotations

from io import StringIO
from itertools import pairwise

import pytest
from rich.console import Console

from bench.cli.render import show
from roofline.model.run import Run
from roofline.plotting.kernel_tables import kernel_tables
from roofline.plotting.summary import tables
from roofline.plotting.table import Column, Table


def printed(*shown: Table, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None)
    show(shown, console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_kernel_table_fits_100_columns_with_nothing_cut(run: Run) -> None:
    lines = printed(*kernel_tables(run), width=100)
    assert max(len(line) for line in lines) <= 100
    assert not any("…" in line for line in lines)
    assert any("gemm.interchanged" in line and "avx512 fma" in line for line in lines)


def test_a_narrow_terminal_loses_the_least_important_columns_first(run: Run) -> None:
    titles = [set(printed(kernel_tables(run)[0], width=width)[1].split()) for width in (140, 100, 90, 40)]
    assert [wider - narrower for wider, narrower in pairwise(titles)] == [
        {"seen", "spread"},
        {"flop/B", "step"},
        {"n", "time", "GB/s", "bound", "level"},
    ]
    assert titles[-1] == {"kernel", "GFLOP/s", "roof", "status"}


@pytest.mark.parametrize("width", [10, 60, 80, 100])
def test_no_table_is_cut_without_telling(run: Run, width: int) -> None:
    console = Console(file=StringIO(), width=width, color_system=None)
    for table in tables(run):
        left_out = show([table], console).get(table.title.partition(":")[0], [])
        kept = [place for place, column in enumerate(table.columns) if column.title not in left_out]
        assert all(table.columns[place].spare for place in range(len(table.columns)) if place not in kept)
        text = "".join(console.file.getvalue().split())  # type: ignore[attr-defined]
        unwrapped = [place for place in kept if not table.columns[place].wraps]
        assert [row[k] for row in table.rows for k in unwrapped if "".join(row[k].split()) not in text] == []
        assert "…" not in text


def test_whole_tables_are_as_wide_as_they_need(run: Run) -> None:
    console = Console(file=StringIO(), width=60, color_system=None)
    assert show(tables(run), console, whole=True) == {}
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    heading = next(line for line in lines if line.startswith("kernel"))
    assert heading.split() == [column.title for column in kernel_tables(run)[0].columns]


def test_rows_that_are_not_ok_show_their_reason(run: Run) -> None:
    text = " ".join(printed(kernel_tables(run)[0], width=140))
    assert "invalid: TOO_SHORT" in text
    assert "above_roof: SMALLER_LEVEL" in text


def test_markup_in_a_name_is_shown_literally() -> None:
    table = Table("[bold]t", (Column("[red]"),), ((("[link=x]y[/]",),),))
    text = "\n".join(printed(table, width=60))
    assert all(name in text for name in ("[bold]t", "[red]", "[link=x]y[/]"))
