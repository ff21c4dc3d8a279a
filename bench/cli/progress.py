"""Progress on stderr: drawn only when told of, so that nothing runs beside a sample."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from bench.cli.text import one_line

if TYPE_CHECKING:
    from roofline.measurement.launch import Progress

LINE_EVERY_S = 5.0
"""Seconds between two lines where there is no terminal to draw a bar on."""

Report = Callable[["Progress"], None]


@contextmanager
def progress(
    quiet: bool, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Report]:
    """Lend a function that shows each Progress on `stream` (default: stderr).

    On a terminal it draws a bar; elsewhere it writes a line now and then; with `quiet` it does nothing.
    """
    stream = stream or sys.stderr
    if quiet:
        yield lambda step: None
    elif stream.isatty():
        with _bar(stream) as report:
            yield report
    else:
        yield _lines(stream, clock)


@contextmanager
def _bar(stream: TextIO) -> Iterator[Report]:
    import rich.progress
    from rich.console import Console

    columns: tuple[Any, ...] = (
        rich.progress.BarColumn(bar_width=30),
        rich.progress.TextColumn("{task.percentage:>3.0f} %"),
        rich.progress.TextColumn("{task.fields[remaining]}"),
        rich.progress.TextColumn("{task.description}", markup=False),
    )
    with rich.progress.Progress(*columns, console=Console(file=stream), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, remaining="")

        def report(step: Progress) -> None:
            left = f"{step.remaining_s:.0f} s left"
            bar.update(task, completed=step.done, description=one_line(step.point), remaining=left)
            bar.refresh()

        yield report


def _lines(stream: TextIO, clock: Callable[[], float]) -> Report:
    last_s = clock()

    def report(step: Progress) -> None:
        nonlocal last_s
        if clock() - last_s >= LINE_EVERY_S:
            last_s = clock()
            click.echo(f"{100 * step.done:3.0f} %  {step.remaining_s:.0f} s left  {one_line(step.point)}", file=stream)

    return report
