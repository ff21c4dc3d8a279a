"""Whose a Python file is: the user's, who edits it between two measurements, or installed, or this suite's."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

_INSTALLED = {"site-packages", "dist-packages"}
_SUITE = tuple(Path(__file__).resolve().parents[2] / package for package in ("roofline", "bench"))


def is_users(file: str | None) -> bool:
    """Return whether this is a file that is there, neither of an installed package nor of this suite."""
    if not file or not file.endswith(".py") or _INSTALLED & set(Path(file).parts):
        return False
    path = Path(file).resolve()
    if _INSTALLED & set(path.parts) or not path.is_file():
        return False
    standard = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
    return not any(path.is_relative_to(folder) for folder in (*standard, *_SUITE))


def users_sources() -> tuple[str, ...]:
    """Return the absolute path of every user's file that this process has loaded as a module, sorted."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return tuple(sorted(str(Path(file).resolve()) for file in files if isinstance(file, str) and is_users(file)))
