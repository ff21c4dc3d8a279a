"""Options that several verbs of the reading wing share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bench.cli.saved import completed_baseline
from roofline.compare.gate import ON_INCONCLUSIVE

Function = TypeVar("Function", bound=Callable[..., Any])


def judging_options(function: Function) -> Function:
    """Add the options of every verb that judges by rules."""
    for option in reversed(
        (
            click.option(
                "--baseline",
                metavar="NAME",
                shell_complete=completed_baseline,
                help="What regression rules compare with.",
            ),
            click.option(
                "--on-inconclusive",
                type=click.Choice(ON_INCONCLUSIVE),
                help="Where nothing failed and something cannot be decided: exit with 0 (the default), 1 or 3.",
            ),
        )
    ):
        function = option(function)
    return function


def style_options(function: Function) -> Function:
    """Add the options that choose between tables, Markdown and JSON."""
    for option in reversed(
        (
            click.option(
                "--format",
                "style",
                type=click.Choice(["table", "md", "json"]),
                default="table",
                show_default=True,
                help="Tables for the terminal, Markdown, or one JSON object.",
            ),
            click.option("--json", "style", flag_value="json", help="The same as --format json."),
        )
    ):
        function = option(function)
    return function
