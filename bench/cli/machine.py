"""`machine`: what the host is and what this process may use of it."""

from __future__ import annotations

import json
from typing import Any

import click
import msgspec

from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.host import host_caveats, memory_budget_bytes, read_environment, read_machine, usable_cpus
from roofline.model.machine import Environment, Machine
from roofline.model.run import Caveat
from roofline.plotting.summary import machine_line
from roofline.plotting.table import Column, Table
from roofline.plotting.text import printable
from roofline.units import memory_size


@click.command("machine", cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(session: Session, /, as_json: bool) -> None:
    """Show what the host is and what this process may use of it.

    CPU, caches, instruction sets and memory as the system reports them; cores and memory within affinity and cgroup
    limits; and what would make numbers measured here less trustworthy.
    """
    machine, environment = read_machine(), read_environment()
    caveats = host_caveats(machine, environment)
    cpus, budget_bytes = usable_cpus(), memory_budget_bytes()
    if as_json:
        document = {
            "key": machine.key,
            "machine": machine,
            "environment": environment,
            "may_use": {"cpus": cpus, "memory_bytes": budget_bytes},
            "caveats": caveats,
        }
        click.echo(json.dumps(msgspec.to_builtins(document), indent=1, ensure_ascii=False))
    else:
        session.show([facts_table(machine, environment, cpus, budget_bytes), caveats_table(caveats)])


def facts_table(machine: Machine, environment: Environment, cpus: tuple[int, ...], budget_bytes: int | None) -> Table:
    """Return what is known of the host, one fact a row; what is unknown says so."""
    caches = ", ".join(
        f"{cache.name} {memory_size(cache.size_bytes)}"
        + (f" for {cache.shared_by} threads" if cache.shared_by > 1 else "")
        for cache in machine.caches
    )
    facts: dict[str, Any] = {
        "machine": machine_line(machine),
        "key": machine.key,
        "system": machine.system,
        "architecture": machine.arch,
        "executes": " ".join(machine.isas),
        "sockets": machine.sockets,
        "NUMA nodes": machine.numa_nodes,
        "caches reported": caches,
        "cores to use": f"{len(cpus)}: CPUs {', '.join(map(str, cpus))}",
        "memory to use": None if budget_bytes is None else memory_size(budget_bytes),
        "CPU quota": environment.cgroup_cpus or "none",
        "governor": environment.governor,
        "turbo": environment.turbo,
        "SMT": environment.smt,
        "huge pages": environment.transparent_huge_pages,
        "load": environment.load_1min,
        "steal": None if environment.steal_share is None else f"{100 * environment.steal_share:.2g} %",
        "variables": ", ".join(f"{name}={value}" for name, value in environment.variables.items()) or "none",
    }
    rows = tuple((name, _fact(value)) for name, value in facts.items())
    return Table("Machine", (Column("what"), Column("found", wraps=True)), (rows,))


def caveats_table(caveats: tuple[Caveat, ...]) -> Table:
    """Return what would make numbers less trustworthy, and how to mend it."""
    rows = tuple((printable(caveat.code), printable(caveat.message)) for caveat in caveats)
    return Table("Caveats", (Column("code"), Column("what to know", wraps=True)), (rows,))


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "unknown" if value in (None, "") else printable(str(value))
