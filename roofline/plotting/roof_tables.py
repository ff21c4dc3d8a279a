"""The tables of the roof: compute ceilings, memory ceilings, levels."""

from __future__ import annotations

from roofline.model.ceilings import PATTERN_WRITE_SHARE, Ceiling, ComputeCeiling, MemoryCeiling
from roofline.model.isa import DTYPE_BITS, ISAS
from roofline.model.run import Level, Run
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import printable, rate_unit
from roofline.units import duration, frequency, giga, memory_size

FLOPS_OF_OP = {"fma": 2, "mul_add": 2, "add": 1, "mul": 1, "dot": 2}
PATTERNS = (*PATTERN_WRITE_SHARE, *(f"nt_{pattern}" for pattern in PATTERN_WRITE_SHARE))
"""Columns in their order: plain patterns, then those with non-temporal stores."""


def compute_table(run: Run) -> Table:
    """Return the compute ceilings, grouped by dtype and thread count, with their distance from whole ports."""
    units = ", ".join(dict.fromkeys(rate_unit([ceiling.dtype]) for ceiling in run.ceilings.compute)) or "GFLOP/s"
    columns = (
        Column("isa"),
        Column("op"),
        Column("dtype"),
        Column("threads", right=True),
        Column(units, right=True),
        Column("flop/cycle", right=True, spare=2),
        Column("held clock", right=True, spare=3),
        Column("op/cycle (off ports)", right=True, spare=1),
        Column("sustained", right=True, spare=4),
        Column("launches", right=True, spare=5),
        Column("chains", right=True, spare=7),
        Column("audited", spare=6),
    )
    grouped: dict[tuple[str, int], list[Row]] = {}
    for ceiling in run.ceilings.compute:
        row = (
            printable(ceiling.isa),
            printable(ceiling.op),
            printable(ceiling.dtype),
            str(ceiling.threads),
            giga(ceiling.flop_per_s),
            f"{ceiling.flop_per_cycle:.2f}",
            frequency(ceiling.clock_hz),
            _ports(run.machine.arch, ceiling),
            _sustained(ceiling),
            _launches(ceiling),
            str(ceiling.chains),
            _audited(ceiling),
        )
        grouped.setdefault((ceiling.dtype, ceiling.threads), []).append(row)
    return Table("Roof: compute", columns, tuple(tuple(rows) for rows in grouped.values()))


def memory_table(run: Run) -> Table:
    """Return, for each level and thread count, the best bandwidth of each access pattern."""
    measured = {ceiling.pattern for ceiling in run.ceilings.memory}
    patterns = [pattern for pattern in PATTERNS if pattern in measured] + sorted(measured - {*PATTERNS})
    columns = (
        Column("level"),
        Column("threads", right=True),
        *(Column(printable(pattern), right=True, spare=1) for pattern in patterns),
        Column("best", spare=2),
        Column("B/cycle", right=True, spare=3),
        Column("sustained", right=True, spare=4),
        Column("launches", right=True, spare=5),
        Column("set/thread", right=True, spare=6),
        Column("audited", spare=7),
    )
    groups = tuple(
        tuple(
            _memory_row(run, level, threads, patterns, best)
            for threads in run.ceilings.threads
            if (best := run.ceilings.best_memory(level, threads)) is not None
        )
        for level in run.ceilings.levels
    )
    return Table("Roof: memory, GB/s", columns, groups)


def levels_table(run: Run) -> Table:
    """Return the memory levels: what the operating system reports beside what was measured."""
    columns = (
        Column("level"),
        Column("reported", right=True),
        Column("effective", right=True),
        Column("between", right=True, spare=4),
        Column("by bandwidth", right=True, spare=4),
        Column("by latency", right=True, spare=4),
        Column("latency", right=True),
        Column("cycles", right=True, spare=2),
        Column("GB/s", right=True, spare=1),
        Column("shared by", right=True, spare=6),
        Column("set/thread", right=True, spare=5),
        Column("agreement", wraps=True),
    )
    return Table("Memory levels", columns, (tuple(_level_row(level) for level in run.levels),))


def _memory_row(run: Run, level: str, threads: int, patterns: list[str], best: MemoryCeiling) -> Row:
    of_pattern = [run.ceilings.best_memory(level, threads, (pattern,)) for pattern in patterns]
    return (
        printable(level),
        str(threads),
        *("-" if ceiling is None else giga(ceiling.byte_per_s) for ceiling in of_pattern),
        printable(f"{best.pattern} {best.isa}"),
        f"{best.byte_per_cycle:.1f}",
        _sustained(best),
        _launches(best),
        memory_size(best.working_set_bytes),
        _audited(best),
    )


def _level_row(level: Level) -> Row:
    if level.skipped is not None:
        agreement = printable(f"skipped: {level.skipped}")
    else:
        agreement = {None: "-", True: "agrees", False: "differs by more than 2x"}[level.agrees]
    return (
        printable(level.name),
        _size(level.reported_bytes),
        _size(level.effective_bytes),
        _between(level.effective_interval_bytes),
        _size(level.bandwidth_bytes),
        _size(level.latency_bytes),
        "-" if level.latency_s is None else duration(level.latency_s),
        "-" if level.latency_cycles is None else f"{level.latency_cycles:.1f}",
        "-" if level.byte_per_s is None else giga(level.byte_per_s),
        str(level.shared_by),
        _size(level.working_set_bytes),
        agreement,
    )


def _size(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else memory_size(size_bytes)


def _between(interval: tuple[int, int] | None) -> str:
    """Write the sizes between which a capacity lies, in one unit where that is short, e.g. `10 to 14.2 MiB`."""
    if interval is None:
        return "-"
    low, high = map(memory_size, interval)
    same = low.split(" ")[-1] == high.split(" ")[-1]
    return f"{low.split(' ')[0] if same else low} to {high}"


def _audited(ceiling: Ceiling) -> str:
    return "yes" if ceiling.audited else "NO"


def _sustained(ceiling: Ceiling) -> str:
    return giga(ceiling.sustained_per_s) if ceiling.sustained_per_s else "-"


def _launches(ceiling: Ceiling) -> str:
    """Write how many launches of a worker measured it, and how far their best samples lie apart in all."""
    count = len(ceiling.launches)
    return f"{count} ({100 * ceiling.spread:.1f} %)" if count > 1 else str(count or "-")


def _ports(arch: str, ceiling: ComputeCeiling) -> str:
    """Write vector operations per cycle and their distance from the nearest whole number, the ports at work."""
    isa = next((isa for isa in ISAS if isa.name == ceiling.isa and isa.arch == arch), None)
    widened = ceiling.op == "dot" and ceiling.audit is not None and len(ceiling.audit.instructions) > 1
    known = ceiling.op in FLOPS_OF_OP and ceiling.dtype in DTYPE_BITS
    if isa is None or not known or widened:  # several instructions make one dot product
        return "-"
    per_cycle = ceiling.flop_per_cycle / (FLOPS_OF_OP[ceiling.op] * isa.lanes(ceiling.dtype))
    ports = max(1, round(per_cycle))
    return f"{per_cycle:.2f} ({100 * (per_cycle / ports - 1):+.1f} %)"
