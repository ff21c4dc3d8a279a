"""`completion`: the shell completes verbs, options, choices and saved runs."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from bench.cli.verb import Verb

COMPLETE_VARIABLE = "_ROOFLINE_COMPLETE"
"""Set by the printed script when it asks the program for candidates."""


@click.command("completion", cls=Verb)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    It completes the installed command `roofline`. For bash: eval "$(roofline completion bash)" in ~/.bashrc.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # the choices are click's own
    completion = kind(context.find_root().command, {}, "roofline", COMPLETE_VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
