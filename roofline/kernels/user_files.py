"""Kernels of a user's own files. Loading such a file runs its code: only worker processes do it."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from roofline.errors import UsageError
from roofline.kernels import registry
from roofline.kernels.kernel import Kernel

_PREFIX = "roofline_user_"


def load_user_files(files: Sequence[str]) -> dict[str, Kernel]:
    """Load these files, add their kernels to the registry and return them, by full name, in the order of writing.

    A file may import what lies beside it. Raises UsageError, with the file and line, for a file that cannot be loaded,
    declares no kernel, or names one as another is named.
    """
    modules = [_loaded(Path(file), number) for number, file in enumerate(files)]
    found = registry.kernels_in(modules)
    known = registry.all_kernels()
    for name in found:
        if name in known:
            raise UsageError(f"{files[0]} declares {name}, which the suite has already; rename it, or its family")
    for file, module in zip(files, modules, strict=True):
        if not registry.kernels_in([module]):
            raise UsageError(f"{file} declares no kernel; see python -m bench guide adding-a-kernel")
    registry.add_modules(modules)
    return found


def _loaded(path: Path, number: int) -> ModuleType:
    name = f"{_PREFIX}{number}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file; expected a file of kernels, as `kernels.py`")
    module = module_from_spec(spec)
    sys.modules[name] = module  # Numba finds a function's module again when it loads its code from the cache
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise UsageError(f"{_place(path, error)}: {type(error).__name__}: {_line(error)}; mend the file") from None
    _refuse_doubled(path, [kernel.body.__name__ for kernel in registry.kernels_in([module]).values()])
    return module


def _refuse_doubled(path: Path, kernels: Sequence[str]) -> None:
    """Raise UsageError for a kernel that is written twice: Python keeps the later one and forgets the other."""
    written: dict[str, int] = {}
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.FunctionDef) and statement.name in kernels:
            first = written.setdefault(statement.name, statement.lineno)
            if first != statement.lineno:
                raise UsageError(
                    f"{path} line {statement.lineno}: {statement.name} is written in line {first} already; rename one"
                )


def _place(path: Path, error: BaseException) -> str:
    """Return the file with the line in it that an error came from."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path} line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path} line {lines[-1]}" if lines else str(path)


def _line(error: BaseException) -> str:
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    return text[:500] or "no message"
