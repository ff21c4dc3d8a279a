"""`ceilings`: only the roof."""

from __future__ import annotations

from typing import Any

import click

from bench.cli.measuring import measure
from bench.cli.request import Request, measuring_options
from bench.cli.session import Session
from bench.cli.verb import Verb


@click.command("ceilings", cls=Verb)
@click.option("--isa", "isas", metavar="NAME,...", help="Instruction sets; by default every one that the host has.")
@measuring_options
@click.pass_obj
def command(session: Session, /, mode: str | None, **options: Any) -> int:
    """Measure only the roof.

    The compute ceilings of every instruction set and the bandwidth of every memory level, saved as a run.
    """
    return measure(session, Request(patterns=(), mode=mode or "ceilings", **options))
