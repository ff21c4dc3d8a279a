"""The digest of a function: the same on every checkout while the code that runs is the same."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from roofline.errors import UsageError

CONSTANTS = (bool, int, float, str, tuple)


def digest_of(body: Callable[..., Any], options: Sequence[Any] = ()) -> str:
    """Return 16 hex digits over a function's code, the constants and functions it uses, and `options`.

    Decorators, docstrings, comments and blank lines do not count; neither do the file's path and the lines' numbers.
    Raises UsageError when the function has no source file.
    """
    lines = [repr(tuple(options))]
    _collect(body, lines, set())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _collect(function: Callable[..., Any], lines: list[str], seen: set[Callable[..., Any]]) -> None:
    seen.add(function)
    lines += _code_lines(function)
    for implementation in getattr(function, "implementations", ()):  # what compiled code runs in its place
        _collect(implementation, lines, seen)
    for name, value in sorted(_names_used(function).items()):
        used = getattr(value, "py_func", value)  # a compiled function of the same project
        if isinstance(value, CONSTANTS):
            lines.append(f"{name} = {value!r}")
        elif inspect.isfunction(used) and _same_project(used, function) and used not in seen:
            _collect(used, lines, seen)


def _names_used(function: Callable[..., Any]) -> dict[str, Any]:
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    used = {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    return used | {name: cell.cell_contents for name, cell in cells}


def _same_project(used: Callable[..., Any], function: Callable[..., Any]) -> bool:
    """Return whether a function belongs to the same package, or lies beside a user's file of kernels."""
    if _package(used) == _package(function):
        return True
    beside = [getattr(inspect.getmodule(one), "__file__", None) for one in (used, function)]
    return None not in beside and len({Path(str(file)).resolve().parent for file in beside}) == 1


def _package(function: Callable[..., Any]) -> str:
    return function.__module__.partition(".")[0]


def _code_lines(function: Callable[..., Any]) -> list[str]:
    try:
        source = dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise UsageError(f"{function.__qualname__} has no source ({error}); define kernels in a file") from error
    definition = next((node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)), None)
    if definition is None:
        raise UsageError(f"{function.__qualname__} is not written with def; a kernel must be")
    first, *rest = definition.body
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    skipped = range(first.lineno, (first.end_lineno or 0) + 1) if documented and rest else range(0)
    numbered = enumerate(source.splitlines(), start=1)
    lines = [line.rstrip() for number, line in numbered if number >= definition.lineno and number not in skipped]
    return [line for line in lines if line and not line.lstrip().startswith("#")]
