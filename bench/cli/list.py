"""`list`: what there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.store import runs
from roofline.host import read_machine
from roofline.model.isa import ISAS, isas_of
from roofline.model.machine import Machine
from roofline.plotting.table import Column, Row, Table
from roofline.plotting.text import elided, printable

TITLES = {"kernels": "Kernels", "isas": "Instruction sets", "runs": "Runs"}
PROSE = frozenset({"formula", "state"})
ROOM = {"formula": 64}
"""What prose needs before other columns get any."""
LINES = 2
"""Prose with a room of its own is cut to so many lines of that."""
SPARE = {
    "improves": 4,
    "parallel": 5,
    "levels": 6,
    "needs": 1,
    "label": 1,
    "machine": 2,
    "started_utc": 3,
}
"""What goes first where the terminal is narrow, the highest first; `started_utc` is also in the id of a run."""
JSON_ONLY = frozenset(
    {"family", "compiled", "serial", "fastmath", "dtypes", "sizes", "tiles", "own_work", "digest"}
    | {"path", "covered_by", "complete", "reason", "error"}
)
"""What a table has no room for, and a program may want."""


@click.command("list", cls=Verb)
@click.argument("kind", type=click.Choice(list(TITLES)), default="kernels", metavar="[KIND]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@click.pass_obj
def command(session: Session, /, kind: str, as_json: bool) -> None:
    """List kernels, instruction sets or saved runs.

    KIND is kernels (what can be measured), isas (which of them this host executes) or runs (what is saved).
    """
    facts = kernels() if kind == "kernels" else isas(read_machine()) if kind == "isas" else saved(session.results)
    if as_json:
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
    elif facts:
        session.show([table_of(TITLES[kind], [IN_WORDS[kind](fact) for fact in facts])])
    else:
        session.note(f"no {kind}: {session.results} holds none yet; measure one with: python -m bench all --quick")


def kernels() -> list[dict[str, Any]]:
    """Return what the registry declares, one object for each kernel."""
    from roofline.kernels.registry import all_kernels  # loads Numba: only for who asks for kernels

    return [
        {
            "name": kernel.name,
            "family": kernel.family,
            "formula": kernel.formula,
            "compiled": kernel.compiled,
            "parallel": kernel.parallel,
            "serial": kernel.serial,
            "levels": kernel.levels,
            "fastmath": sorted(kernel.fastmath),
            "improves": kernel.improves,
            "dtypes": list(kernel.dtypes),
            "sizes": list(kernel.sizes),
            "tiles": kernel.tiles is not None,
            "own_work": kernel.own_work is not None,
            "digest": kernel.digest,
        }
        for kernel in all_kernels().values()
    ]


def isas(machine: Machine) -> list[dict[str, Any]]:
    """Return every instruction set of the machine's architecture, and whether it is measured there (`here`).

    One that the machine has is not measured where a later one of the same width covers it: `avx` where there is `avx2`.
    """
    named = {isa.vector_bits: isa.name for isa in isas_of(machine.arch, machine.features)}
    return [
        {
            "name": isa.name,
            "vector_bits": isa.vector_bits,
            "f64_lanes": isa.lanes("f64"),
            "f32_lanes": isa.lanes("f32"),
            "needs": list(isa.needs),
            "here": isa.name in machine.isas,
            "covered_by": named[isa.vector_bits]
            if set(isa.needs) <= set(machine.features) and isa.name not in machine.isas
            else None,
        }
        for isa in ISAS
        if isa.arch == machine.arch
    ]


def saved(results: Path) -> list[dict[str, Any]]:
    """Return the runs in the results folder; a file that cannot be read is listed with its error."""
    return [
        {
            "id": entry.id,
            "label": entry.label,
            "started_utc": entry.started_utc,
            "machine": entry.machine,
            "mode": entry.mode,
            "complete": entry.complete,
            "reason": entry.reason,
            "path": str(entry.path),
            "error": entry.error,
        }
        for entry in runs(results)
    ]


def isa_in_words(fact: dict[str, Any]) -> dict[str, Any]:
    """Return what the table of instruction sets tells of one."""
    covered_by = fact["covered_by"]
    return {**fact, "here": f"covered by {covered_by}" if covered_by else fact["here"]}


def run_in_words(fact: dict[str, Any]) -> dict[str, Any]:
    """Return what the table of runs tells of one: how it ended, in place of whether and why not."""
    ended = "complete" if fact["complete"] else f"incomplete: {fact['reason'] or 'reason unknown'}"
    state = f"unreadable: {fact['error']}" if fact["error"] else ended
    return {**fact, "mode": fact["mode"] or "-", "state": state}


def kernel_in_words(fact: dict[str, Any]) -> dict[str, Any]:
    """Return what the table of kernels tells of one: it improves a form of its own family, which needs no naming."""
    return {**fact, "improves": fact["improves"] and fact["improves"].rpartition(".")[2]}


IN_WORDS = {"kernels": kernel_in_words, "isas": isa_in_words, "runs": run_in_words}
"""How a table tells a fact that `--json` gives in parts."""


def table_of(title: str, facts: list[dict[str, Any]]) -> Table:
    """Return the facts as a table: one column for each key, lists joined, yes for true, nothing for false and None.

    Kernels stand in groups, one for each family.
    """

    def cell(key: str, value: Any) -> str:
        if value is None or value is False:
            return ""
        if value is True:
            return "yes"
        text = printable(" ".join(value) if isinstance(value, list) else str(value))
        return elided(text, LINES * ROOM[key]) if key in ROOM else text

    columns = tuple(
        Column(key.replace("_", " "), wraps=key in PROSE, spare=SPARE.get(key, 0), room=ROOM.get(key, 0))
        for key in facts[0]
        if key not in JSON_ONLY
    )
    groups: dict[str, list[Row]] = {}
    for fact in facts:
        row = tuple(cell(key, value) for key, value in fact.items() if key not in JSON_ONLY)
        groups.setdefault(fact.get("family", ""), []).append(row)
    return Table(title, columns, tuple(map(tuple, groups.values())))
