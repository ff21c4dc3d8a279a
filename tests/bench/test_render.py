from __future__ import annotations

from io import StringIO

from rich.console import Console

from bench.cli.render import show
from roofline.model.run import Run
from roofline.plotting.kernel_tables import kernel_tables
from roofline.plotting.table import Column, Table


def printed(*tables: Table, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None)
    show(tables, console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_kernel_table_fits_100_columns_with_nothing_cut(run: Run) -> None:
    lines = printed(*kernel_tables(run), width=100)
    assert max(len(line) for line in lines) <= 100
    assert not any("…" in line for line in lines)
    assert any("gemm.interchanged" in line and "avx512 fma" in line for line in lines)


def test_a_narrow_terminal_loses_the_spare_columns_only(run: Run) -> None:
    wide, narrow = (printed(kernel_tables(run)[0], width=width)[1] for width in (140, 90))
    assert set(wide.split()) - set(narrow.split()) == {"spread", "seen"}


def test_rows_that_are_not_ok_show_their_reason(run: Run) -> None:
    text = " ".join(printed(kernel_tables(run)[0], width=140))
    assert "invalid: TOO_SHORT" in text
    assert "above_roof: SMALLER_LEVEL" in text


def test_markup_in_a_name_is_shown_literally() -> None:
    table = Table("[bold]t", (Column("[red]"),), ((("[link=x]y[/]",),),))
    text = "\n".join(printed(table, width=60))
    assert all(name in text for name in ("[bold]t", "[red]", "[link=x]y[/]"))
