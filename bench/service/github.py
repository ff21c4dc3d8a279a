"""GitHub Actions: the files that a step writes for those after it, and a log that takes no commands from names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from roofline.errors import ResultsError
from roofline.plotting.text import elided, printable

SUMMARY_BYTES = 1024 * 1024
"""GitHub shows no summary of a step that is larger."""
VALUE_LENGTH = 400


def output_lines(name: str, value: str, token: Callable[[], str] = lambda: token_hex(16)) -> str:
    """Return what sets one output of a step, in the form in which no value can set another one.

    The value is written as one printable line. `token` returns what no value can know beforehand.
    """
    value = elided(printable(value), VALUE_LENGTH)
    end = f"end_{token()}"
    while end in value:
        end = f"end_{token()}"
    return f"{name}<<{end}\n{value}\n{end}\n"


def write_outputs(outputs: Mapping[str, str], variables: Mapping[str, str]) -> None:
    """Append outputs of the step to the file that GITHUB_OUTPUT names; nothing where it names none.

    Raises ResultsError when the file cannot be written.
    """
    _append(variables, "GITHUB_OUTPUT", "".join(output_lines(name, value) for name, value in outputs.items()))


def write_summary(summary: Callable[[int], str], variables: Mapping[str, str]) -> bool:
    """Append a summary to the file that GITHUB_STEP_SUMMARY names, and return whether it names one.

    `summary` is called with the bytes that are left there. Raises ResultsError when the file cannot be written.
    """
    path = variables.get("GITHUB_STEP_SUMMARY")
    if not path:
        return False
    file = Path(path)
    used = file.stat().st_size if file.is_file() else 0
    return _append(variables, "GITHUB_STEP_SUMMARY", summary(SUMMARY_BYTES - used))


@contextmanager
def no_commands(say: Callable[[str], None]) -> Iterator[None]:
    """Let the runner take no line of the log for a command until the context ends well.

    A kernel, a label or a message may be named like one. When the context ends with an error, the rest of the log
    is no command either.
    """
    token = token_hex(16)
    say(f"::stop-commands::{token}")
    yield
    say(f"::{token}::")


def _append(variables: Mapping[str, str], variable: str, text: str) -> bool:
    path = variables.get(variable)
    if not path:
        return False
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ResultsError(f"{variable} names {path!r}, which cannot be written: {error.strerror}") from error
    return True
