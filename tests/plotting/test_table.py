from __future__ import annotations

import pytest

from roofline.errors import UsageError
from roofline.plotting.table import Column, Table, to_markdown

COLUMNS = (Column("kernel"), Column("GFLOP/s", right=True))


def test_markdown_has_a_heading_a_rule_and_one_line_for_each_row() -> None:
    table = Table("Kernels: f64", COLUMNS, ((("gemm.blas", "49.8"),), (("a\nb|c", "-"),)))
    assert to_markdown(table).splitlines() == [
        "### Kernels: f64",
        "",
        "| kernel | GFLOP/s |",
        "| :--- | ---: |",
        "| gemm.blas | 49.8 |",
        r"| a\\nb\|c | - |",
    ]


def test_a_row_with_too_few_cells_is_refused_with_both_counts() -> None:
    with pytest.raises(UsageError, match="1 cells, expected 2"):
        Table("Kernels", COLUMNS, ((("gemm.blas",),),))


def test_rows_come_group_after_group() -> None:
    table = Table("t", (Column("x"),), ((("1",), ("2",)), (), (("3",),)))
    assert table.rows == (("1",), ("2",), ("3",))
