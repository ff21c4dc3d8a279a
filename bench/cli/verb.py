"""What all verbs have in common: the options that are understood before and after the verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


def shared_options() -> list[click.Parameter]:
    """Return the options that are understood before and after the verb; they set fields of the session."""

    def keep(context: click.Context, option: click.Parameter, value: Any) -> None:
        if value and option.name is not None:
            setattr(context.obj, option.name, value)

    def option(*names: str, **settings: Any) -> click.Option:
        return click.Option(names, expose_value=False, callback=keep, **settings)

    return [
        option("--results", type=click.Path(path_type=Path), metavar="DIR", help="Results folder (default: results)."),
        option("-q", "--quiet", is_flag=True, help="No progress and no remarks on stderr."),
        option("-v", "--verbose", is_flag=True, help="Show the traceback of an error."),
        option("--color", type=click.Choice(["auto", "always", "never"]), help="Colours in the output."),
    ]


class Verb(click.Command):
    """A command that also understands the shared options."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.extend(shared_options())
