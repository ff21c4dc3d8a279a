from __future__ import annotations

from msgspec.structs import replace

from roofline.model.ceiling_caveat import CAVEAT_MEANINGS
from roofline.model.ceilings import Ceilings
from roofline.model.machine import Environment, Machine
from roofline.model.run import Failure, Run
from roofline.plotting.summary import caveats_table, failures_table, machine_line, tables, versions_line


def test_tables_come_in_reading_order(run: Run) -> None:
    titles = [table.title for table in tables(run)]
    assert titles[:4] == ["Machine", "Roof: compute", "Roof: memory, GB/s", "Memory levels"]
    assert titles[-3:-1] == ["Failures", "Caveats"]
    assert titles[-1].startswith("Grade: ")


def test_a_run_that_measured_nothing_shows_where_it_ran_and_no_empty_table() -> None:
    machine = Machine(cpu_model="?", arch="x86_64")
    bare = Run(id="1", started_utc="x", machine=machine, environment=Environment(), reason="SIGINT")
    (only,) = tables(bare)
    assert only.title == "Machine"
    assert dict(only.rows)["run"] == "1, x; INCOMPLETE: SIGINT"


def test_the_machine_line_leaves_out_what_is_unknown(run: Run) -> None:
    assert machine_line(run.machine) == "AMD EPYC (zen4), 2 cores, 8 GiB, kvm"
    assert machine_line(Machine(cpu_model="AMD\nEPYC", arch="x86_64", cores=1)) == r"AMD\nEPYC, 1 core"


def test_hardware_threads_are_named_when_they_are_not_the_cores(run: Run) -> None:
    assert "2 cores, 4 hardware threads" in machine_line(replace(run.machine, hardware_threads=4))


def test_versions_name_the_blas(run: Run) -> None:
    assert versions_line(run).endswith("NumPy 2.4.6, openblas 0.3.30 SkylakeX")


def test_caveats_of_single_numbers_follow_those_of_the_run(run: Run) -> None:
    ceilings = tuple(replace(ceiling, caveats=("NO_FLAT_TOP",)) for ceiling in run.ceilings.compute[:2])
    measurement = replace(run.measurements[0], caveats=("few samples",))
    marked = replace(run, ceilings=Ceilings(compute=ceilings), measurements=(measurement,))
    caveats = caveats_table(marked)
    assert len(caveats.groups[0]) == len(run.caveats)
    assert caveats.groups[1] == (
        ("NO_FLAT_TOP", f"{CAVEAT_MEANINGS['NO_FLAT_TOP']}: {ceilings[0].name}, {ceilings[1].name}"),
        ("few samples", f"stream.copy n={measurement.n} f64 ×1"),
    )


def test_a_caveat_of_many_numbers_counts_them(run: Run) -> None:
    many = tuple(replace(run.ceilings.memory[0], caveats=("NO_FLAT_TOP",), threads=k) for k in range(1, 31))
    doubted = replace(run, ceilings=replace(run.ceilings, memory=many), caveats=(), measurements=())
    ((_, told),) = caveats_table(doubted).rows
    assert told.endswith(f"30 numbers (30 of {many[0].level})")


def test_points_that_failed_for_one_reason_share_a_row_and_only_the_first_are_named(run: Run) -> None:
    alike = tuple(Failure(kind="skipped", point=f"L2 load sse2 ×{k}", message="too little") for k in range(9))
    other = Failure(kind="crashed", point="gemm.naive", message="died")
    (rows,) = failures_table(replace(run, failures=(*alike, other))).groups
    assert rows[0][1] == "L2 load sse2 ×0, L2 load sse2 ×1, L2 load sse2 ×2 and 6 more"
    assert [row[2] for row in rows] == ["too little", "died"]
