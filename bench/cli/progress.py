"""Progress on stderr: drawn only when told of, so that nothing runs beside a sample."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from bench.cli.session import Session
from bench.cli.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from roofline.measurement.progress import Progress

LINE_EVERY_S = 5.0
"""Seconds between two lines where there is no terminal to draw a bar on ..."""
SAME_LINE_EVERY_S = 60.0
"""... and before one that says nothing new: a log tells that the run is alive, and is no list of equal lines."""

Report = Callable[["Progress"], None]
Falling = Callable[[float], float]


@contextmanager
def progress(
    session: Session, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Report]:
    """Lend a function that shows each Progress on `stream` (default: stderr).

    On a terminal it draws a bar; elsewhere it writes a line now and then; where the session is quiet it does nothing.
    """
    stream = stream or sys.stderr
    if session.quiet:
        yield lambda step: None
    elif stream.isatty():
        with _bar(session.console(stream)) as report:
            yield _harmless(report)
    else:
        yield _harmless(_lines(stream, clock))


def _harmless(report: Report) -> Report:
    """Fall silent for good when nobody can read any more: a closed stderr must not cost the run."""
    silent = False

    def harmless(step: Progress) -> None:
        nonlocal silent
        try:
            if not silent:
                report(step)
        except OSError:
            silent = True

    return harmless


@contextmanager
def _bar(console: Console) -> Iterator[Report]:
    import rich.progress

    falling = _falling()
    columns: tuple[Any, ...] = (
        rich.progress.BarColumn(bar_width=30),
        rich.progress.TextColumn("{task.percentage:>3.0f} %"),
        rich.progress.TextColumn("{task.fields[remaining]}"),
        rich.progress.TextColumn("{task.description}", markup=False),
    )
    with rich.progress.Progress(*columns, console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, remaining="")

        def report(step: Progress) -> None:
            left = _left(falling(step.remaining_s))
            bar.update(task, completed=step.done, description=one_line(step.point), remaining=left)
            bar.refresh()

        yield report


def _lines(stream: TextIO, clock: Callable[[], float]) -> Report:
    last_s, last = clock(), ""
    falling = _falling()

    def report(step: Progress) -> None:
        nonlocal last_s, last
        left_s = falling(step.remaining_s)
        parts = (f"{100 * step.done:3.0f} %", _left(left_s), one_line(step.point))
        line = "  ".join(part for part in parts if part)
        now_s = clock()
        if now_s - last_s >= (LINE_EVERY_S if line != last else SAME_LINE_EVERY_S):
            last_s, last = now_s, line
            click.echo(line, file=stream)

    return report


def _left(seconds: float) -> str:
    return f"{seconds:.0f} s left" if math.isfinite(seconds) else ""


def _falling() -> Falling:
    """Return a function of the seconds that are left, at most, whose answers never rise until they have run out."""
    least_s = math.inf

    def falling(remaining_s: float) -> float:
        nonlocal least_s
        least_s = remaining_s if least_s < 1 else min(least_s, remaining_s)
        return least_s

    return falling
