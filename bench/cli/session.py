"""One invocation of the program: where results are, how much is said, and in which colours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from bench.cli.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from roofline.plotting.table import Table

PIPED_COLUMNS = 120
"""Width of what is printed when nobody looks at it in a terminal, unless COLUMNS says otherwise."""


@dataclass
class Session:
    """What the options that every verb shares have set, and the seam where a test passes its own launcher."""

    results: Path = Path("results")
    """The results folder."""
    quiet: bool = False
    """Nothing on stderr but errors."""
    verbose: bool = False
    """Errors come with their traceback."""
    color: str = "auto"
    """`auto`, `always` or `never`; NO_COLOR turns `auto` into `never`."""
    argv: tuple[str, ...] = ()
    """What the program was called with, for the record."""
    launch: Callable[..., Any] | None = None
    """Measures a plan, called as `roofline.measurement.launch.launch` is; None means that one."""
    tried: Callable[..., Any] | None = None
    """Compares two versions, called as `bench.trial.tried` is; None means that one."""

    def console(self, stream: TextIO) -> Console:
        """Return a rich console that honours the choice of colour and does not cut piped text at 80 columns."""
        from rich.console import Console

        class PipeConsole(Console):
            """Leaves a closed pipe to the program's edge instead of exiting with 1, which means something else here."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        colourless = self.color == "never" or (self.color == "auto" and bool(os.environ.get("NO_COLOR")))
        terminal = stream.isatty()
        always = self.color == "always"
        return PipeConsole(
            file=stream,
            force_terminal=always or terminal,
            color_system=None if colourless or not (always or terminal) else "standard" if always else "auto",
            width=_width(terminal),
            no_color=colourless,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def show(self, tables: Iterable[Table], markdown: bool = False) -> None:
        """Print the tables that have rows on stdout, for the terminal or as Markdown.

        Where a terminal is too narrow for all columns, a remark says which are missing; a pipe gets them all.
        """
        from bench.cli.render import show  # loads rich
        from roofline.plotting.table import to_markdown

        shown = [table for table in tables if table.rows]
        if markdown:
            click.echo("\n".join(map(to_markdown, shown)))
        else:
            console = self.console(sys.stdout)
            whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ
            if left_out := show(shown, console, whole):
                named = "; ".join(f"{', '.join(titles)} of {about}" for about, titles in left_out.items())
                self.note(
                    f"{console.width} columns are too few, left out: {named}; a wider terminal shows them, or "
                    f"a pipe as in `| less -S`"
                )

    def note(self, message: str) -> None:
        """Say `message` on stderr, in one line, unless the user asked for quiet."""
        if not self.quiet:
            with suppress(OSError):  # nobody reads stderr: no reason to lose what goes to stdout
                click.echo(one_line(message), err=True)


def _width(terminal: bool) -> int:
    """Return how many columns the output has: what COLUMNS says, unless that is no width, as the 0 of some services."""
    columns = os.environ.get("COLUMNS", "")
    said = columns.isdecimal() and int(columns) > 0
    return shutil.get_terminal_size().columns if terminal or said else PIPED_COLUMNS
