"""The house as the design draws it: who may import whom, read from the sources with `ast`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import roofline

ROOT = Path(__file__).parents[1]
PACKAGES = ("roofline", "bench")
BASE = {"roofline", "roofline.errors", "roofline.units"}
"""Under everything: anybody may import these."""
PUBLIC = {f"roofline.{name}" for name in roofline.__all__} - {"roofline.__version__"}
"""Names for users, which reach into every room: the house itself imports from where they live."""

ABOVE = {
    "roofline.model": (),
    "roofline.host": ("roofline.model",),
    "roofline.codegen": ("roofline.model", "roofline.host"),
    "roofline.kernels": ("roofline.model", "roofline.host", "roofline.codegen"),
    "roofline.measurement": ("roofline.model", "roofline.host", "roofline.codegen", "roofline.kernels"),
    "roofline.archive": ("roofline.model",),
    "roofline.compare": ("roofline.model", "roofline.archive"),
    "roofline.plotting": ("roofline.model", "roofline.archive", "roofline.compare"),
}
"""What each room may import besides itself: the rooms above it in its wing."""
ABOVE["roofline.testing"] = tuple(ABOVE)
ABOVE["bench"] = tuple(ABOVE)
READING_WING = ("roofline.archive", "roofline.compare", "roofline.plotting")

FOREIGN = {
    "llvmlite": ("roofline.codegen",),
    "numba.extending": ("roofline.codegen",),
    "numba.core": ("roofline.codegen",),
    "numba": ("roofline.codegen", "roofline.kernels", "roofline.measurement"),
    "numpy": ("roofline.host", "roofline.codegen", "roofline.kernels", "roofline.measurement", *READING_WING, "bench"),
    "scipy": ("roofline.host", "roofline.codegen", "roofline.kernels", "roofline.measurement", *READING_WING, "bench"),
    "pandas": ("roofline.plotting.table", "roofline.archive.export"),
    "pyarrow": ("roofline.archive.export",),
    "matplotlib": ("roofline.plotting.figure",),
    "textalloc": ("roofline.plotting.figure",),
    "plotly": ("roofline.plotting.report",),
    "jinja2": ("roofline.plotting.report",),
    "click": ("bench",),
    "rich": ("bench",),
    "msgspec": (
        "roofline.model",
        "roofline.kernels",
        "roofline.measurement",
        "roofline.archive",
        "roofline.compare",
        "roofline.testing",
        "bench",
    ),
    "psutil": ("roofline.host", "roofline.measurement", "bench.faults"),
    "archspec": ("roofline.host",),
    "threadpoolctl": ("roofline.kernels", "roofline.measurement"),
    "platformdirs": ("roofline.codegen", "roofline.kernels", "roofline.measurement"),
    "pytest": ("roofline.testing", "bench.test_kernels", "bench.conftest"),
}
"""Who may import which library; the longest name that fits decides. What is not here is imported by nobody."""

LAZY = {"roofline"}
"""Modules whose imports happen only when a name is asked for, so that they are no edge of the graph."""
MOST_LINES = 300


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def modules(root: Path) -> dict[str, Path]:
    """Return every module of both packages by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, module: str) -> Iterator[str]:
    """Yield every name that a module imports, wherever in the file: `from a.b import c` is `a.b.c`."""
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = module.split(".")[: len(module.split(".")) - node.level + is_package]
                base = ".".join([*up, *([base] if base else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def room(module: str) -> str:
    return "bench" if within(module, "bench") else ".".join(module.split(".")[:2])


def trespasses(root: Path) -> list[str]:
    """Return a line for each import that the design forbids."""
    found = []
    own = modules(root)
    for module, path in own.items():
        for name in imports(path, module):
            top = name.partition(".")[0]
            if top == "__future__" or (top in sys.stdlib_module_names and top not in PACKAGES):
                continue
            if top in PACKAGES:
                target = name if name in own or name in PUBLIC or "." not in name else name.rpartition(".")[0]
                above = (room(module), *ABOVE.get(room(module), ()))
                if not (target in BASE or any(within(target, package) for package in above)):
                    found.append(f"{module} imports {name}, which is not above it")
                continue
            rule = max((library for library in FOREIGN if within(name, library)), key=len, default=None)
            owners = FOREIGN[rule] if rule else ()
            if not any(within(module, owner) for owner in owners):
                found.append(f"{module} imports {name}; allowed in {', '.join(owners) or 'no room'}")
    return found


def graph(root: Path) -> dict[str, set[str]]:
    """Return which of our modules each of them imports."""
    own = modules(root)
    edges: dict[str, set[str]] = {}
    for module, path in own.items():
        targets = {name if name in own else name.rpartition(".")[0] for name in imports(path, module)}
        edges[module] = set() if module in LAZY else {target for target in targets if target in own} - {module}
    return edges


def plant(root: Path, files: dict[str, str]) -> Path:
    """Write a small tree of modules to try the rules on."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_imports_go_only_to_rooms_above() -> None:
    assert trespasses(ROOT) == []


def test_no_cycle_exists_between_modules() -> None:
    list(TopologicalSorter(graph(ROOT)).static_order())


def test_every_room_of_the_tree_is_in_the_design() -> None:
    rooms = {room(module) for module in modules(ROOT)} - BASE
    assert rooms <= set(ABOVE)


def test_no_file_is_long() -> None:
    paths = [*modules(ROOT).values(), *(ROOT / "tests").rglob("*.py")]
    long = {str(path.relative_to(ROOT)): lines for path in paths if (lines := _lines(path)) > MOST_LINES}
    assert long == {}


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert [module for module in modules(ROOT) if drawers & set(module.split("."))] == []


@pytest.mark.parametrize("package", ["roofline", *READING_WING, "bench.__main__"])
def test_reading_and_help_do_not_load_numba(package: str) -> None:
    names = [name for name in modules(ROOT) if within(name, package)] if package in READING_WING else [package]
    heavy = {"numba", "llvmlite"} | (set() if package in READING_WING else {"matplotlib", "pandas", "numpy", "rich"})
    code = f"""
import sys, importlib
for name in {names!r}:
    importlib.import_module(name)
print(sorted({heavy!r} & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("roofline/archive/store.py", "from roofline.measurement import worker", "not above it"),
        ("roofline/archive/store.py", "from roofline.plotting.table import Table", "not above it"),
        ("roofline/model/work.py", "import roofline.host.limits", "not above it"),
        ("roofline/codegen/emit.py", "from ..kernels import gemm", "not above it"),
        ("roofline/plotting/table.py", "def late():\n    import numba", "imports numba"),
        ("roofline/kernels/gemm.py", "from numba.extending import intrinsic", "imports numba.extending.intrinsic"),
        (
            "roofline/model/work.py",
            "from typing import TYPE_CHECKING as T\nif T:\n    import numpy",
            "imports numpy",
        ),
        ("roofline/measurement/launch.py", "from bench.plans import plan_for", "not above it"),
        ("bench/cli/plot.py", "import matplotlib", "imports matplotlib"),
        ("roofline/host/limits.py", "import requests", "no room"),
        ("roofline/model/work.py", "from roofline import kernel", "not above it"),
    ],
)
def test_a_forbidden_import_is_seen(tmp_path: Path, module: str, text: str, complaint: str) -> None:
    (found,) = trespasses(plant(tmp_path, {"roofline/__init__.py": "", module: text}))
    assert complaint in found


def test_allowed_imports_are_not_complained_about(tmp_path: Path) -> None:
    tree = {
        "roofline/errors.py": "",
        "roofline/model/work.py": "import msgspec\nfrom roofline.errors import UsageError",
        "roofline/kernels/gemm.py": "from numba import prange\nfrom roofline.model.work import Work",
        "bench/__main__.py": "import click\nimport roofline\nfrom roofline.archive import store",
    }
    assert trespasses(plant(tmp_path, tree)) == []


def test_a_cycle_is_seen(tmp_path: Path) -> None:
    tree = {
        "roofline/host/limits.py": "from roofline.host import topology",
        "roofline/host/topology.py": "def late():\n    from roofline.host.limits import quota",
    }
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph(plant(tmp_path, tree))).static_order())


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
