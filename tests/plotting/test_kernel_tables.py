from __future__ import annotations

from ladder_run import ladder_run
from msgspec.structs import replace

from roofline.model.run import Run
from roofline.plotting.kernel_tables import NAME_LENGTH, kernel_tables, percent_text
from roofline.plotting.table import Table


def cells(table: Table, *head: str) -> dict[str, str]:
    """The one row that begins with this kernel and level, by column title."""
    titles = [column.title for column in table.columns]
    found = [dict(zip(titles, row, strict=True)) for row in table.rows if (row[0], row[2]) == head]
    assert len(found) == 1
    return found[0]


def test_each_dtype_and_thread_count_has_a_table_and_each_measurement_a_row(run: Run) -> None:
    tables = kernel_tables(run)
    assert [table.title for table in tables] == [
        "Kernels: f64, 1 thread",
        "Kernels: f64, 2 threads",
        "Kernels: f32, 1 thread",
        "Kernels: f32, 2 threads",
    ]
    assert sum(len(table.rows) for table in tables) == len(run.measurements)


def test_kernels_of_one_family_stand_together(run: Run) -> None:
    families = [{row[0].split(".")[0] for row in group} for group in kernel_tables(run)[0].groups]
    assert families == [{"stream"}, {"blas"}, {"gemv"}, {"gemm"}]


def test_a_good_row_shows_rate_percent_and_short_bound(run: Run) -> None:
    row = cells(kernel_tables(run)[0], "gemm.blas", "L3")
    measurement = next(m for m in run.measurements if m.kernel == "gemm.blas" and m.dtype == "f64" and m.threads == 1)
    derived = run.derived(measurement)
    assert derived is not None and derived.percent_of_roof is not None
    assert row["GFLOP/s"] == f"{derived.flop_per_s / 1e9:.1f}"
    assert row["roof"] == f"{derived.percent_of_roof:.0f} %"
    assert (row["bound"], row["status"], row["seen"]) == ("avx512 fma", "ok", "-")


def test_rates_of_int8_are_operations_and_not_flops(run: Run) -> None:
    narrow = replace(run.measurements[0], dtype="i8")
    (table,) = kernel_tables(replace(run, measurements=(narrow,)))
    titles = [column.title for column in table.columns]
    assert {"GOP/s", "op/B"} <= set(titles) and not {"GFLOP/s", "flop/B"} & set(titles)


def test_a_number_that_cannot_be_true_has_a_reason_and_no_percent(run: Run) -> None:
    row = cells(kernel_tables(run)[0], "stream.scale", "L1")
    assert (row["roof"], row["bound"], row["status"]) == ("-", "-", "invalid: TOO_SHORT")


def test_a_number_above_the_roof_says_how_far_above_which_ceiling(run: Run) -> None:
    row = cells(kernel_tables(run)[0], "stream.triad", "L2")
    assert (row["roof"], row["bound"], row["status"]) == ("128 %", "L2 triad", "above_roof: SMALLER_LEVEL")


def test_a_degraded_number_keeps_its_percent_and_says_why(run: Run) -> None:
    row = cells(kernel_tables(run)[1], "stream.add", "L3")
    assert row["status"] == "degraded: STEAL"
    assert row["roof"].endswith(" %")


def test_a_rung_shows_the_factor_of_its_step_and_a_library_none() -> None:
    table = kernel_tables(ladder_run())[0]
    found = {(row[0], row[1]): row[5] for row in table.rows}
    assert table.columns[5].title == "step"
    assert found["gemm.naive", "1000"] == found["gemm.blas", "1000"] == "-"
    assert found["gemm.interchanged", "1000"] == "×7.6"
    assert found["attention.flash", "2048"] == "×4.5"


def test_a_kernel_without_flops_has_bandwidth_but_no_flop_rate(run: Run) -> None:
    row = cells(kernel_tables(run)[0], "stream.copy", "DRAM")
    assert (row["GFLOP/s"], row["flop/B"]) == ("-", "-")
    assert float(row["GB/s"]) > 0


def test_a_measurement_without_samples_is_a_row_without_numbers(run: Run) -> None:
    failed = replace(run.measurements[0], samples_s=(), roof_samples=(), status="failed", status_codes=("HUNG",))
    row = cells(kernel_tables(replace(run, measurements=(failed,)))[0], "stream.copy", "L1")
    assert row["status"] == "failed: HUNG"
    assert {row[title] for title in ("time", "GFLOP/s", "step", "GB/s", "roof", "bound", "spread")} == {"-"}


def test_a_long_or_dangerous_name_is_cut_and_escaped(run: Run) -> None:
    hostile = replace(run.measurements[0], kernel="\x1b[2J" + "x" * 400)
    name = kernel_tables(replace(run, measurements=(hostile,)))[0].rows[0][0]
    assert name.startswith(r"\x1b[2J")
    assert len(name) == NAME_LENGTH


def test_a_small_percentage_does_not_read_as_nothing() -> None:
    assert [percent_text(p) for p in (None, 0.42, 9.94, 9.96, 99.6)] == ["-", "0.4 %", "9.9 %", "10 %", "100 %"]
