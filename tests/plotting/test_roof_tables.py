from __future__ import annotations

from msgspec.structs import replace

from roofline.model.ceilings import Audit, Ceilings
from roofline.model.run import Level, Run
from roofline.plotting.roof_tables import compute_table, levels_table, memory_table
from roofline.plotting.table import Table


def rows(table: Table) -> list[dict[str, str]]:
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def test_a_compute_ceiling_says_how_far_it_is_from_whole_ports(run: Run) -> None:
    avx2, avx512 = (
        next(row for row in rows(compute_table(run)) if (row["isa"], row["dtype"], row["threads"]) == (isa, "f64", "1"))
        for isa in ("avx2", "avx512")
    )
    assert avx2["op/cycle (off ports)"] == "2.00 (-0.0 %)"
    assert avx512["op/cycle (off ports)"] == "1.00 (+0.1 %)"
    assert (avx2["GFLOP/s"], avx2["held clock"], avx2["chains"]) == ("58.6", "3.66 GHz", "12")


def test_an_isa_that_this_version_does_not_know_has_no_ports(run: Run) -> None:
    strange = replace(run.ceilings.compute[0], isa="amx")
    table = compute_table(replace(run, ceilings=Ceilings(compute=(strange,))))
    assert rows(table)[0]["op/cycle (off ports)"] == "-"


def test_operations_on_whole_numbers_are_no_flops_and_several_instructions_for_one_have_no_ports(run: Run) -> None:
    found = next(c for c in run.ceilings.compute if (c.isa, c.dtype, c.threads) == ("avx512", "f32", 1))
    for instructions, ports in (({"vpdpbusd": 16}, "1.00"), ({"vpmaddwd": 32, "vpaddd": 32}, "-")):
        audit = Audit(instructions=instructions, register="zmm")
        dot = replace(found, dtype="i8", op="dot", flop_per_cycle=128.0, audit=audit)
        (row,) = rows(compute_table(replace(run, ceilings=Ceilings(compute=(dot,)))))
        assert row["GOP/s"] != ""
        assert row["op/cycle (off ports)"].split(" ")[0] == ports
        both = compute_table(replace(run, ceilings=Ceilings(compute=(found, dot))))
        assert "GFLOP/s, GOP/s" in [column.title for column in both.columns]


def test_a_ceiling_without_audit_stands_out(run: Run) -> None:
    unproved = replace(run.ceilings.compute[0], audited=False)
    assert rows(compute_table(replace(run, ceilings=Ceilings(compute=(unproved,)))))[0]["audited"] == "NO"


def test_each_pattern_has_its_own_best_bandwidth_over_all_widths(run: Run) -> None:
    dram = next(row for row in rows(memory_table(run)) if (row["level"], row["threads"]) == ("DRAM", "1"))
    for pattern in ("load", "store", "copy", "triad", "nt_store", "nt_copy", "nt_triad"):
        best = max(c.byte_per_s for c in run.ceilings.memory if (c.level, c.pattern, c.threads) == ("DRAM", pattern, 1))
        assert dram[pattern] == f"{best / 1e9:.1f}", pattern


def test_a_pattern_that_no_level_measured_has_no_column(run: Run) -> None:
    loads = tuple(ceiling for ceiling in run.ceilings.memory if ceiling.pattern in ("load", "gather"))
    gather = replace(loads[0], pattern="gather")
    row = rows(memory_table(replace(run, ceilings=Ceilings(memory=(*loads, gather)))))[0]
    assert "copy" not in row
    assert "gather" in row


def test_a_skipped_level_says_why(run: Run) -> None:
    levels = (*run.levels[:3], Level(name="DRAM", skipped="60 % of the memory limit is\ntoo small"))
    last = rows(levels_table(replace(run, levels=levels)))[-1]
    assert last["agreement"] == r"skipped: 60 % of the memory limit is\ntoo small"
    assert last["reported"] == "-"


def test_a_level_that_disagrees_with_the_report_says_so(run: Run) -> None:
    levels = (replace(run.levels[2], agrees=False),)
    row = rows(levels_table(replace(run, levels=levels)))[0]
    assert (row["reported"], row["effective"]) == ("32 MiB", "16 MiB")
    assert row["agreement"] == "differs by more than 2x"
