"""What a kernel's digest sees of the files, values and functions that its code is made from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from roofline.kernels.digest import digest_of

FILES = {
    "kernels_of_mine.py": """
import math
import numpy as np
import mine.settings
from mine import settings as chosen
from mine.below.inner import helper

TABLE = np.array([1, 2, 3])
PAIR = (np.array([1.0]), 2)
NOTHING = None

def by_attribute(x):
    return x * chosen.FACTOR

def by_path(x):
    return x * mine.settings.FACTOR

def by_table(x):
    return x * TABLE[0]

def by_pair(x):
    return x * PAIR[0][0] * PAIR[1]

def by_function(x):
    return helper(x)

def by_function_of_a_module(x):
    return chosen.scale(x)

def by_inner(x):
    def inside(y):
        return y * chosen.FACTOR
    return inside(x) if NOTHING is None else math.pi
""",
    "mine/__init__.py": "",
    "mine/settings.py": "FACTOR = 2\nDEEP = 1\n\ndef scale(x):\n    return x + DEEP\n",
    "mine/below/__init__.py": "",
    "mine/below/inner.py": "STEP = 1\n\ndef helper(x):\n    return x + STEP\n",
}
SETTINGS, INNER, KERNELS = "mine/settings.py", "mine/below/inner.py", "kernels_of_mine.py"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Leave no module behind."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mine", "kernels_of_mine")]:
        del sys.modules[name]


def digest(folder: Path, function: str, file: str = "", found: str = "", replaced: str = "") -> str:
    _forget()
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        assert name != file or found in text
        path.write_text(text.replace(found, replaced) if name == file else text)
    sys.path.insert(0, str(folder))
    spec = spec_from_file_location("kernels_of_mine", folder / KERNELS)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["kernels_of_mine"] = module
    spec.loader.exec_module(module)
    sys.path.remove(str(folder))
    return digest_of(getattr(module, function))


@pytest.mark.parametrize(
    ("function", "file", "found", "replaced"),
    [
        ("by_attribute", SETTINGS, "FACTOR = 2", "FACTOR = 3"),
        ("by_path", SETTINGS, "FACTOR = 2", "FACTOR = 3"),
        ("by_table", KERNELS, "[1, 2, 3]", "[1, 2, 4]"),
        ("by_table", KERNELS, "[1, 2, 3]", "[1, 2, 3], dtype=np.int8"),
        ("by_pair", KERNELS, "[1.0]", "[1.5]"),
        ("by_function", INNER, "x + STEP", "x - STEP"),
        ("by_function", INNER, "STEP = 1", "STEP = 2"),
        ("by_function_of_a_module", SETTINGS, "x + DEEP", "x - DEEP"),
        ("by_function_of_a_module", SETTINGS, "DEEP = 1", "DEEP = 2"),
        ("by_inner", SETTINGS, "FACTOR = 2", "FACTOR = 3"),
        ("by_inner", KERNELS, "NOTHING = None", "NOTHING = 1"),
    ],
)
def test_it_changes_with_all_that_the_compiler_writes_into_the_code(
    function: str, file: str, found: str, replaced: str, tmp_path: Path
) -> None:
    before = digest(tmp_path / "before", function)
    assert digest(tmp_path / "after", function, file, found, replaced) != before


@pytest.mark.parametrize("function", ["by_attribute", "by_table", "by_pair", "by_function", "by_inner"])
def test_it_stays_in_another_folder_and_when_what_is_not_read_changes(function: str, tmp_path: Path) -> None:
    before = digest(tmp_path / "before", function)
    assert digest(tmp_path / "after", function, SETTINGS, "DEEP = 1", "DEEP = 2") == before
