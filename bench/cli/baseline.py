"""`baseline`: names for the runs that others are held against."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import click

from bench.cli.saved import completed, completed_baseline, completed_machine
from bench.cli.session import Session
from bench.cli.verb import Verb
from roofline.archive.baselines import Named, baseline_named, baselines, remove_baseline, set_baseline
from roofline.archive.store import find, load
from roofline.errors import UsageError
from roofline.plotting.table import Column, Table
from roofline.plotting.text import printable

COLUMNS = (
    Column("name"),
    Column("run"),
    Column("set_utc", spare=2),
    Column("revision", spare=1),
    Column("grade", spare=3),
    Column("machine", spare=4),
    Column("state", wraps=True),
)


@click.command("baseline", cls=Verb)
@click.argument("action", metavar="set|show|rm", type=click.Choice(["set", "show", "rm"]))
@click.argument("name", metavar="[NAME]", required=False, shell_complete=completed_baseline)
@click.argument("run_name", metavar="[RUN]", required=False, shell_complete=completed)
@click.option("--force", is_flag=True, help="Also take an incomplete run, or one of grade D.")
@click.option("--machine", metavar="KEY", shell_complete=completed_machine, help="Show or remove only this machine's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@click.pass_obj
def command(
    session: Session,
    /,
    action: str,
    name: str | None,
    run_name: str | None,
    force: bool,
    machine: str | None,
    as_json: bool,
) -> None:
    """Name the runs that others are held against.

    `set NAME [RUN]` names a run (by default the last), and moves a name that exists; `show [NAME]` lists them;
    `rm NAME` forgets a name and leaves the run. Names belong to the machine of their run. `gate --baseline NAME`
    compares with one, and `baseline:NAME` names its run wherever a RUN is named.
    """
    if name is None and action != "show":
        raise UsageError(f"{action} needs a name: python -m bench baseline {action} NAME")
    if action != "set" and (run_name is not None or force):
        raise UsageError(f"{action} takes no run and no --force; `baseline set` does")
    if action == "set":
        if machine is not None:
            raise UsageError("set takes no --machine: a baseline belongs to the machine of its run")
        shown = [_set(name or "", run_name or "last", force, session)]
    elif action == "rm":
        shown = [remove_baseline(name or "", session.results, machine)]
    elif name is not None:
        shown = [named for named in baselines(session.results, machine) if named.baseline.name == name]
        shown = shown or [baseline_named(name, session.results, machine)]
    else:
        shown = baselines(session.results, machine)
    if as_json:
        click.echo(json.dumps([_document(named) for named in shown], indent=1, ensure_ascii=False))
    elif action == "show" and shown:
        session.show([_table(shown)])
    elif action == "show":
        session.note(f"no baselines in {session.results}; set one with: python -m bench baseline set main")
    else:
        did = "is" if action == "set" else "was"
        click.echo(printable(f"{shown[0].baseline.name} {did} run {shown[0].baseline.run} of {shown[0].machine}"))


def _set(name: str, run_name: str, force: bool, session: Session) -> Named:
    path = find(run_name, session.results)
    now_utc = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return set_baseline(name, load(path), path, session.results, now_utc, force)


def _document(named: Named) -> dict[str, Any]:
    baseline = named.baseline
    return {
        "name": baseline.name,
        "run": baseline.run,
        "set_utc": baseline.set_utc,
        "revision": baseline.revision,
        "grade": baseline.grade,
        "machine": named.machine,
        "path": str(named.path),
        "is_there": named.is_there,
    }


def _table(shown: list[Named]) -> Table:
    rows = tuple(
        (
            *map(printable, (b.name, b.run, b.set_utc, b.revision or "-", b.grade or "-", named.machine)),
            "saved" if named.is_there else "deleted: restore the file or set the name anew",
        )
        for named in shown
        for b in [named.baseline]
    )
    return Table("Baselines", COLUMNS, (rows,))
