"""`run`: only kernels."""

from __future__ import annotations

from typing import Any

import click

from bench.cli.measuring import measure
from bench.cli.request import Request, measuring_options
from bench.cli.session import Session
from bench.cli.verb import Verb


@click.command("run", cls=Verb)
@click.argument("words", metavar="[PATTERN | FILE.py]...", nargs=-1)
@click.option(
    "--size",
    "sizes",
    metavar="N,...",
    help="Problem sizes n, by default each kernel's own; `guide families` says what n is.",
)
@measuring_options
@click.pass_obj
def command(session: Session, /, words: tuple[str, ...], mode: str | None, **options: Any) -> int:
    """Measure only kernels, each under its own ceiling.

    PATTERN is a kernel (gemm.blocked), a family (gemm) or a pattern of names (gemv.*); none means all. Only the
    ceilings that these kernels are held against are measured. FILE.py is a file of your own kernels (see `guide
    adding-a-kernel`): measuring it runs its code, in a process of its own.
    """
    files = tuple(word for word in words if word.endswith(".py"))
    patterns = tuple(word for word in words if word not in files)
    request = Request(patterns=patterns or (() if files else ("*",)), files=files, mode=mode or "run", **options)
    return measure(session, request)
