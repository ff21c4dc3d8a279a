"""`all`: everything, saved and drawn."""

from __future__ import annotations

from typing import Any

import click

from bench.cli.measuring import measure
from bench.cli.request import Request, measuring_options
from bench.cli.session import Session
from bench.cli.verb import Verb


@click.command("all", cls=Verb)
@measuring_options
@click.pass_obj
def command(session: Session, /, mode: str | None, **options: Any) -> int:
    """Measure everything, save it and draw it.

    The ceilings, then every kernel under its own ceiling. One JSON file and the figure (SVG, PNG) go to the
    machine's folder under the results folder; the tables are printed.
    """
    return measure(session, Request(draw=True, mode=mode or "all", **options))
