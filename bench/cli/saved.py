"""Names of saved runs, as a shell completes them."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli.session import Session


def completed(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of saved runs that begin so: `last`, then ids and labels, the newest first."""
    from roofline.archive.store import runs  # only when a name is asked for

    session = context.find_object(Session)
    entries = runs(Path("results") if session is None else session.results)[::-1]
    names = ["last", *(name for entry in entries for name in (entry.id, entry.label) if name)]
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]
