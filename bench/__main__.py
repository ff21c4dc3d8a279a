"""Runs a verb, and turns every error into one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from bench.cli.completion import COMPLETE_VARIABLE
from bench.cli.group import program
from bench.cli.session import Session
from bench.cli.text import one_line
from bench.exit_codes import exit_code_of
from roofline.errors import RooflineError
from roofline.measurement.interruption import CAUGHT, Interruption

INTERNAL_ERROR = 70
CANNOT_WRITE = 73
INTERRUPTED = 130


def main(args: Sequence[str] | None = None, session: Session | None = None) -> int:
    """Run the program and return its exit code. No exception leaves it."""
    words = list(sys.argv[1:] if args is None else args)
    session = session or Session()
    session.argv = tuple(words)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot write µ must not lose a run
    try:
        code = _run(words, session)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return 0  # `| head -1` has what it wanted
    except Interruption as stop:
        return _fail(str(stop), 128 + stop.number, session)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, session)
    except click.UsageError as error:
        hint = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        return _fail(error.format_message().rstrip(".") + hint, 2, session)
    except click.ClickException as error:
        return _fail(error.format_message(), 2, session)
    except RooflineError as error:
        return _fail(str(error), exit_code_of(error), session)
    except OSError as error:
        return _fail(f"the system refused: {error}; make room, or give more of it", CANNOT_WRITE, session)
    except Exception as error:  # the edge: whatever it is, a user gets a line and a code
        what = f"internal error: {type(error).__name__}: {error}"
        hint = "" if session.verbose else "; run again with -v for the traceback and report it"
        return _fail(what + hint, INTERNAL_ERROR, session)


def _open_closed_streams() -> None:
    """Put the null device where a shell has closed a standard stream (`>&-`): what is said there is lost, no more."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  open until the end


def _run(args: list[str], session: Session) -> int:
    name = "roofline" if sys.argv[0].endswith("roofline") else "python -m bench"
    group = program()
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(group, {"obj": session}, "roofline", COMPLETE_VARIABLE, instruction)
    try:
        with group.make_context(name, args or ["--help"], obj=session) as context:
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code


def _fail(message: str, code: int, session: Session) -> int:
    with contextlib.suppress(OSError):  # stderr may be closed; the exit code still tells
        if session.verbose:
            traceback.print_exc()
        click.echo(f"error: {one_line(message)}", err=True)
    return code


def run() -> NoReturn:
    """Run the program and end the process with its exit code, which a signal that comes now no longer changes."""
    code = main()
    for number in CAUGHT:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


if __name__ == "__main__":
    run()
