"""The tables of the kernels: one for each dtype and thread count, grouped by family."""

from __future__ import annotations

from dataclasses import replace

from roofline.model.ladder import family_of, steps
from roofline.model.measurement import Measurement
from roofline.model.run import Run
from roofline.plotting.ceiling_label import short_bound, threads_text
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, intensity_unit, printable, rate_unit
from roofline.units import duration, giga

COLUMNS = (
    Column("kernel"),
    Column("n", right=True, spare=1),
    Column("level", spare=2),
    Column("time", right=True, spare=3),
    Column("GFLOP/s", right=True),
    Column("step", right=True, spare=6),
    Column("GB/s", right=True, spare=5),
    Column("flop/B", right=True, spare=7),
    Column("roof", right=True),
    Column("bound", spare=4),
    Column("spread", right=True, spare=8),
    Column("seen", spare=9),
    Column("status", wraps=True),
)
NAME_LENGTH = 48
"""Longer than any of the suite's own names: only what a hostile file says is ever cut."""


def kernel_tables(run: Run) -> tuple[Table, ...]:
    """Return the tables of all measurements.

    Only numbers that may be drawn carry a percentage and a bound, and those above the roof, to tell how far.
    """
    grouped: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for measurement, step in zip(run.measurements, steps(run), strict=True):
        families = grouped.setdefault((measurement.dtype, measurement.threads), {})
        families.setdefault(family_of(measurement.kernel), []).append(_row(run, measurement, step))
    return tuple(
        Table(
            f"Kernels: {printable(dtype)}, {threads_text(threads)}",
            _columns(dtype),
            tuple(tuple(rows) for rows in families.values()),
        )
        for (dtype, threads), families in grouped.items()
    )


def _columns(dtype: str) -> tuple[Column, ...]:
    """Return the columns with the units of the dtype's operations."""
    units = {"GFLOP/s": rate_unit([dtype]), "flop/B": intensity_unit([dtype])}
    return tuple(replace(column, title=units.get(column.title, column.title)) for column in COLUMNS)


def status_text(measurement: Measurement) -> str:
    """Write the status with its reasons, e.g. `invalid: TOO_SHORT`."""
    reasons = " ".join(measurement.status_codes)
    return printable(f"{measurement.status}: {reasons}" if reasons else measurement.status)


def percent_text(percent: float | None) -> str:
    """Write a percentage of the roof so that 0.4 % does not read as nothing; `-` when there is none."""
    if percent is None:
        return "-"
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def times_text(step: float) -> str:
    """Write how many times as fast, with as many digits as that is worth, e.g. `7.6`, `1.22`."""
    if step >= 9.95:
        return f"{step:.0f}"
    return f"{step:.1f}" if step >= 1.995 else f"{step:.2f}" if step >= 0.0995 else f"{step:.2g}"


def factor_text(step: float | None) -> str:
    """Write how many times as fast a step is, e.g. `×7.6`; `-` without one."""
    return "-" if step is None else f"×{times_text(step)}"


def intensity_text(flop_per_byte: float) -> str:
    """Write an arithmetic intensity for a column titled flop/B."""
    return "-" if flop_per_byte == 0 else f"{flop_per_byte:.3g}"


def _row(run: Run, measurement: Measurement, step: float | None) -> Row:
    name = elided(printable(measurement.kernel), NAME_LENGTH)
    head = (name, str(measurement.n), printable(measurement.level) or "-")
    derived = run.derived(measurement)
    register = printable((measurement.vector_register or "-").split(" ")[0])
    if derived is None:
        return (*head, "-", "-", "-", "-", "-", "-", "-", "-", register, status_text(measurement))
    shown = measurement.drawable or measurement.status == "above_roof"
    return (
        *head,
        duration(derived.median_s),
        giga(derived.flop_per_s) if measurement.work.flops else "-",
        factor_text(step),
        giga(derived.byte_per_s),
        intensity_text(derived.flop_per_byte),
        percent_text(derived.percent_of_roof) if shown else "-",
        short_bound(run, derived.bound) if shown else "-",
        f"{100 * derived.spread:.1f} %",
        register,
        status_text(measurement),
    )
