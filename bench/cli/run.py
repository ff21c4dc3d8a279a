"""`run`: only kernels."""

from __future__ import annotations

from typing import Any

import click

from bench.cli.measuring import measure
from bench.cli.request import Request, measuring_options
from bench.cli.session import Session
from bench.cli.verb import Verb


@click.command("run", cls=Verb)
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@measuring_options
@click.option(
    "--size",
    "sizes",
    metavar="N,...",
    help="Problem sizes n, as the kernels' docstrings define them; by default theirs.",
)
@click.pass_obj
def command(session: Session, /, patterns: tuple[str, ...], mode: str | None, **options: Any) -> int:
    """Measure only kernels, each under its own ceiling.

    PATTERN is a kernel (gemm.blocked), a family (gemm) or a pattern of names (gemv.*); none means all. Only the
    ceilings that these kernels are held against are measured.
    """
    return measure(session, Request(patterns=patterns or ("*",), mode=mode or "run", **options))
