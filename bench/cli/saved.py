"""Names of saved runs and of baselines, as a shell completes them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from bench.cli.session import Session
from roofline.archive.identity import BASELINE
from roofline.errors import ArchiveError


def completed(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of saved runs that begin so: `last`, baselines, then ids and labels, the newest first."""
    from roofline.archive.store import runs  # only when a name is asked for

    results = _results(context)
    entries = runs(results)[::-1]
    labels = (name for entry in entries for name in (entry.id, entry.label) if name)
    names = ["last", *(f"{BASELINE}{name}" for name in _baselines(results)), *labels]
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]


def completed_baseline(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of baselines that begin so."""
    return [name for name in _baselines(_results(context)) if name.startswith(begun)]


def completed_machine(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the keys of machines that begin so: the folders of the results that hold runs."""
    keys = {path.parent.name for path in _results(context).glob("*/*.json")}
    return sorted(key for key in keys if key.startswith(begun))


def _results(context: click.Context) -> Path:
    session = context.find_object(Session)
    return Path("results") if session is None else session.results


def _baselines(results: Path) -> list[str]:
    from roofline.archive.baselines import baselines

    with suppress(ArchiveError):  # a shell that completes shows no errors
        return list(dict.fromkeys(named.baseline.name for named in baselines(results)))
    return []
