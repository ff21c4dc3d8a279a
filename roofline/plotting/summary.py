"""Everything that is printed about a run, as tables in reading order."""

from __future__ import annotations

import re
from collections import Counter

from roofline.model.ceiling_caveat import CAVEAT_MEANINGS
from roofline.model.grade import grade_of
from roofline.model.guard import GUARDS
from roofline.model.machine import Machine
from roofline.model.run import Run
from roofline.plotting.kernel_tables import kernel_tables
from roofline.plotting.roof_tables import compute_table, levels_table, memory_table
from roofline.plotting.table import Column, Table
from roofline.plotting.text import printable
from roofline.units import memory_size

FEW = 4
"""Points that a row of failures names."""
NAMED = 8
"""More numbers with one caveat are counted, not named."""


def tables(run: Run) -> tuple[Table, ...]:
    """Return all tables of a run that have rows: machine, roof, levels, kernels, failures, caveats, grade."""
    return tuple(
        table
        for table in (
            machine_table(run),
            *roof_tables(run),
            *kernel_tables(run),
            failures_table(run),
            caveats_table(run),
            grade_table(run),
        )
        if table.rows
    )


def roof_tables(run: Run) -> tuple[Table, ...]:
    """Return the tables of the ceilings and of the levels that have rows."""
    return tuple(table for table in (compute_table(run), memory_table(run), levels_table(run)) if table.rows)


def machine_line(machine: Machine) -> str:
    """Write the machine in one line, e.g. `AMD EPYC (zen4), 2 cores, 8 GiB, kvm`. What is unknown is left out."""
    name = machine.cpu_model + (f" ({machine.microarchitecture})" if machine.microarchitecture else "")
    facts = [name]
    if machine.cores is not None:
        facts.append(f"{machine.cores} core{'' if machine.cores == 1 else 's'}")
    if machine.hardware_threads is not None and machine.hardware_threads != machine.cores:
        facts.append(f"{machine.hardware_threads} hardware threads")
    if machine.memory_bytes is not None:
        facts.append(memory_size(machine.memory_bytes))
    if machine.virtualisation not in (None, "none"):
        facts.append(machine.virtualisation)
    return printable(", ".join(facts))


def versions_line(run: Run) -> str:
    """Write the versions that produce the machine code, e.g. `Python 3.11.13, Numba 0.68.1, LLVM 20.1.8`."""
    environment = run.environment
    named = {
        "Python": environment.python,
        "Numba": environment.numba,
        "LLVM": environment.llvm,
        "NumPy": environment.numpy,
    }
    parts = [f"{name} {version}" for name, version in named.items() if version is not None]
    parts += [f"for {environment.target_cpu}"] if environment.target_cpu else []
    parts += [" ".join(filter(None, (blas.name, blas.version, blas.architecture))) for blas in environment.blas]
    return printable(", ".join(parts))


def machine_table(run: Run) -> Table:
    """Return where and when the run was measured, one fact a row."""
    isas = " ".join(run.machine.isas)
    caches = ", ".join(f"{cache.name} {memory_size(cache.size_bytes)}" for cache in run.machine.caches)
    state = "" if run.complete else f"; INCOMPLETE: {run.reason or 'reason unknown'}"
    resumed = f"; goes on from {run.resumed_from}" if run.resumed_from else ""
    facts = {
        "machine": machine_line(run.machine),
        "executes": isas,
        "caches": caches,
        "versions": versions_line(run),
        "run": f"{run.id}, {run.started_utc}{f', {run.label}' if run.label else ''}{resumed}{state}",
        "revision": run.revision or "",
    }
    rows = tuple((name, printable(fact)) for name, fact in facts.items() if fact)
    return Table("Machine", (Column("what"), Column("found", wraps=True)), (rows,))


def failures_table(run: Run) -> Table:
    """Return the points that have no number, and why; those with the same reason in one row."""
    columns = (Column("kind"), Column("point", wraps=True), Column("why", wraps=True))
    points: dict[tuple[str, str], list[str]] = {}
    for failure in run.failures:
        points.setdefault((failure.kind, failure.message), []).append(failure.point)
    rows = tuple((printable(kind), printable(_few(names)), printable(why)) for (kind, why), names in points.items())
    return Table("Failures", columns, (rows,))


def _few(names: list[str]) -> str:
    """Write the names, of many the first ones and how many there are."""
    if len(names) <= FEW:
        return ", ".join(names)
    return f"{', '.join(names[: FEW - 1])} and {len(names) - FEW + 1} more"


def caveats_table(run: Run) -> Table:
    """Return what the reader of the numbers must know: first of the whole run, then of single numbers, by code."""
    columns = (Column("code"), Column("what to know", wraps=True))
    of_run = [(printable(caveat.code), printable(caveat.message)) for caveat in run.caveats]
    numbers: dict[str, list[str]] = {}
    for ceiling in run.ceilings.all:
        for code in ceiling.caveats:
            numbers.setdefault(code, []).append(ceiling.name)
    for measurement in run.measurements:
        for code in measurement.caveats:
            name = f"{measurement.kernel} n={measurement.n} {measurement.dtype} ×{measurement.threads}"
            numbers.setdefault(code, []).append(name)
    of_numbers = [(printable(code), printable(_told(code, names))) for code, names in numbers.items()]
    return Table("Caveats", columns, tuple(filter(None, (tuple(of_run), tuple(of_numbers)))))


def grade_line(run: Run) -> str:
    """Write the grade with all that costs better ones, in one line."""
    grade = grade_of(run)
    return printable(f"Grade {grade.letter}, {grade.meaning}. {'; '.join(grade.reasons)}")


def grade_table(run: Run) -> Table:
    """Return how far the numbers can be trusted, and what costs better grades; no rows where nothing was measured."""
    if not (run.ceilings.all or run.measurements):
        return Table("Grade", (), ())
    grade = grade_of(run)
    rows = tuple((printable(reason),) for reason in grade.reasons or ("nothing was found against it",))
    return Table(f"Grade: {grade.letter}, {grade.meaning}", (Column("because", wraps=True),), (rows,))


def _told(code: str, names: list[str]) -> str:
    guard = GUARDS.get(code)
    meaning = CAVEAT_MEANINGS.get(code) or (f"{guard.catches}; {guard.remedy}" if guard else None)
    return f"{f'{meaning}: ' if meaning else ''}{_grouped(names)}"


def _grouped(names: list[str]) -> str:
    """Write the names; of more than a few only how many there are of each level, ISA or family."""
    if len(names) <= NAMED:
        return ", ".join(names)
    counted = Counter(re.split(r"[ .]", name, maxsplit=1)[0] for name in names)
    return f"{len(names)} numbers ({', '.join(f'{count} of {what}' for what, count in counted.items())})"
