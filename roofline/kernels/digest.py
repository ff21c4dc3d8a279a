"""The digest of a function: the same on every checkout while the code that runs is the same."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from roofline.errors import UsageError
from roofline.kernels.origin import is_users

CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None))
"""What the compiler writes into code as it is."""


def digest_of(body: Callable[..., Any], options: Sequence[Any] = ()) -> str:
    """Return 16 hex digits over a function's code, the constants, arrays and functions it uses, and `options`.

    Decorators, docstrings, comments and blank lines do not count; neither do the file's path and the lines' numbers.
    Of the modules that it reads from, those of installed packages do not count.
    Raises UsageError when the function has no source file.
    """
    lines = [repr(tuple(options))]
    _collect(body, lines, set())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _collect(function: Callable[..., Any], lines: list[str], seen: set[Callable[..., Any]]) -> None:
    seen.add(function)
    definition, code_lines = _source_of(function)
    lines += code_lines
    for implementation in getattr(function, "implementations", ()):  # what compiled code runs in its place
        _collect(implementation, lines, seen)
    for name, value in sorted(_values_used(function, definition).items()):
        _collect_value(name, value, function, lines, seen)


def _collect_value(
    name: str, value: Any, reader: Callable[..., Any], lines: list[str], seen: set[Callable[..., Any]]
) -> None:
    used = getattr(value, "py_func", value)  # a compiled function
    if isinstance(value, CONSTANTS):
        lines.append(f"{name} = {value!r}")
    elif isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        lines.append(f"{name} = {value.dtype.descr} {value.shape} {content}")
    elif isinstance(value, tuple) and not all(isinstance(one, CONSTANTS) for one in value):
        for place, one in enumerate(value):
            _collect_value(f"{name}[{place}]", one, reader, lines, seen)
    elif isinstance(value, tuple):
        lines.append(f"{name} = {value!r}")
    elif inspect.isfunction(used) and used not in seen and _is_own(used.__module__, reader):
        _collect(used, lines, seen)


def _values_used(function: Callable[..., Any], definition: ast.FunctionDef) -> dict[str, Any]:
    """Return what a function reads by name, from its module, from around it and from the modules it names."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    used = {name: function.__globals__[name] for name in names if name in function.__globals__}
    used |= {name: cell.cell_contents for name, cell in cells}
    modules = {
        name for name, value in used.items() if isinstance(value, ModuleType) and _is_own(value.__name__, function)
    }
    for node in ast.walk(definition):
        path = _dotted(node)
        if path and path[0] in modules:
            module, rest = used[path[0]], list(path[1:])
            while rest and isinstance(module, ModuleType) and hasattr(module, rest[0]):
                module = getattr(module, rest.pop(0))
            used[".".join(path)] = module
    return used


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and that of the functions written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """Return the names of `a.b.c`; nothing of any other expression, nor of a name alone."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if names and isinstance(node, ast.Name) else ()


def _is_own(module: str, reader: Callable[..., Any]) -> bool:
    """Return whether what is in a module belongs to whose function reads it: not to Python, nor to a package."""
    if _package(module) == _package(reader.__module__):
        return True
    return _package(reader.__module__) != _package(__name__) and is_users(
        getattr(sys.modules.get(module), "__file__", None)
    )


def _package(module: str) -> str:
    return module.partition(".")[0]


def _source_of(function: Callable[..., Any]) -> tuple[ast.FunctionDef, list[str]]:
    """Return a function's definition, and its lines of code."""
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
    return definition, [line for line in lines if line and not line.lstrip().startswith("#")]
