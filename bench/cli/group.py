"""The verbs, loaded one at a time: `--help` imports none of them."""

from __future__ import annotations

from importlib import import_module

import click

import roofline
from bench.cli.verb import shared_options
from roofline.errors import UnknownName

VERBS = {
    "all": "Measure everything, save it and draw it.",
    "ceilings": "Measure only the roof.",
    "run": "Measure only kernels, each under its own ceiling.",
    "ab": "Measure two versions of kernels against each other.",
    "resume": "Measure what an interrupted run still lacks.",
    "machine": "Show what the host is and what this process may use of it.",
    "doctor": "Say what would make numbers measured here untrustworthy.",
    "list": "List kernels, instruction sets or saved runs.",
    "show": "Show a saved run.",
    "compare": "Say what changed between two saved runs.",
    "verify": "Derive every number of a run or trial again from its raw samples.",
    "export": "Write a saved run in another tool's format.",
    "import": "Show a benchmark file of pytest-benchmark, pyperf or Google Benchmark.",
    "gate": "Pass or fail a saved run by rules.",
    "ci": "Measure and gate in a CI service, and tell it what came out.",
    "baseline": "Name the runs that others are held against.",
    "history": "Show how the kernels of a machine fared from run to run.",
    "plot": "Draw the roofline of a saved run.",
    "guide": "Read the documentation.",
    "completion": "Print the completion script of a shell.",
}
"""Every verb with its one-line help, in the order of `--help`. Verb `x` is `bench.cli.x.command`."""


class VerbGroup(click.Group):
    """Loads the module of a verb when the verb is used, and says what is near when it does not exist."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all verbs in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the verb's command, or None."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"bench.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb and what follows it. Raises UnknownName for a verb that does not exist."""
        if args[0] not in VERBS and not ctx.resilient_parsing:
            raise UnknownName("verb", args[0], VERBS, f"see {ctx.command_path} --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their one-line help, importing none."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def program() -> VerbGroup:
    """Return the command-line program."""
    return VerbGroup(
        name="roofline",
        help="Measure this machine's roofline and put kernels on it. Every number carries its proof.",
        epilog="Start with: all --quick. A RUN is named by path, id, label, last or last~1.",
        subcommand_metavar="VERB [ARGS]...",
        no_args_is_help=False,
        params=[
            *shared_options(),
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_version,
                help="Show the version.",
            ),
        ],
    )


def _print_version(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"roofline-suite {roofline.__version__}")
        context.exit()
