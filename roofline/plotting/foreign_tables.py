"""The tables of what another tool has measured."""

from __future__ import annotations

from collections.abc import Sequence

from roofline.archive.foreign import Benchmark
from roofline.model.placement import Placement
from roofline.plotting.ceiling_label import threads_text
from roofline.plotting.kernel_tables import intensity_text, percent_text
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, intensity_unit, printable, rate_unit
from roofline.units import duration, giga

LONGEST_NAME = 120


def benchmark_table(title: str, benchmarks: Sequence[Benchmark]) -> Table:
    """Return the table of benchmarks; rate and percentage are what the file says, which our own exports do."""
    columns = [Column("benchmark"), Column("time", True), Column("spread", True, spare=1), Column("samples", True)]
    told = any(benchmark.flop_per_s or benchmark.percent_of_roof for benchmark in benchmarks)
    if told:
        columns += [Column("GFLOP/s", True), Column("roof", True)]
    return Table(printable(title), tuple(columns), (tuple(_row(benchmark, told) for benchmark in benchmarks),))


def _row(benchmark: Benchmark, told: bool) -> Row:
    head = (
        elided(benchmark.name, LONGEST_NAME),
        duration(benchmark.median_s),
        "-" if benchmark.spread is None else f"{100 * benchmark.spread:.1f} %",
        str(benchmark.samples),
    )
    if not told:
        return head
    rate = "-" if benchmark.flop_per_s is None else giga(benchmark.flop_per_s)
    return (*head, rate, percent_text(benchmark.percent_of_roof))


def placement_table(title: str, placement: Placement) -> Table:
    """Return one row: a benchmark's declared work under the roof of a run."""
    dtypes = [placement.dtype]
    cells = {
        Column("time", True): duration(placement.median_s),
        Column(intensity_unit(dtypes), True): intensity_text(placement.flop_per_byte or 0),
        Column(rate_unit(dtypes), True): _giga(placement.flop_per_s),
        Column("GB/s", True): _giga(placement.byte_per_s),
        Column(f"roof {rate_unit(dtypes)}", True): _giga(placement.roof_flop_per_s),
        Column("roof", True): percent_text(placement.percent_of_roof),
        Column("bound"): printable(placement.bound),
        Column("of"): f"{printable(placement.dtype)}, {threads_text(placement.threads)}",
    }
    return Table(printable(title), tuple(cells), ((tuple(cells.values()),),))


def _giga(rate: float | None) -> str:
    return "-" if rate is None else giga(rate)
