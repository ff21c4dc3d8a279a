"""Files of a user's own kernels, loaded; each way to be no such file is told with its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roofline.errors import UsageError
from roofline.kernels import registry
from roofline.kernels.user_files import load_user_files

GOOD = """
import numpy as np
from roofline import Work, kernel
from {helper} import factor

def data(n, dtype, rng):
    return np.empty(n, dtype), rng.random(n).astype(dtype) + dtype(0.5)

@kernel(
    family="{family}",
    work=lambda n, size: Work(flops=n, read_bytes=n * size, write_bytes=n * size, allocate_bytes=n * size),
    arguments=data,
    reference=lambda out, x: 3 * x,
)
def thrice(out, x):
    \"\"\"out[i] = 3 * x[i]\"\"\"
    for i in range(out.size):
        out[i] = factor() * x[i]

@kernel(improves=thrice)
def better(out, x):
    \"\"\"out = 3 * x\"\"\"
    out[:] = 3 * x
"""
HELPER = "from numba import njit\n\n@njit\ndef factor():\n    return {value}\n"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Leave no user's kernel and no module behind."""
    before, path = set(sys.modules), list(sys.path)
    yield
    registry._added.clear()
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.startswith(("roofline_user_", "helper_of_")):
            del sys.modules[name]


def written(folder: Path, family: str = "mine", value: int = 3, helper: str = "helper_of_mine") -> str:
    folder.mkdir(exist_ok=True)
    (folder / f"{helper}.py").write_text(HELPER.format(value=value))
    file = folder / "kernels.py"
    file.write_text(GOOD.format(family=family, helper=helper))
    return str(file)


def test_kernels_of_a_file_join_the_suites_own_and_may_use_what_lies_beside_it(tmp_path: Path) -> None:
    found = load_user_files([written(tmp_path)])
    assert list(found) == ["mine.thrice", "mine.better"]
    assert registry.kernel_named("mine.better").improves == "mine.thrice"
    assert list(registry.all_kernels())[-2:] == ["mine.thrice", "mine.better"]


@pytest.mark.canary("CACHE-STALE")
def test_an_edit_of_a_helper_beside_the_file_makes_another_digest(tmp_path: Path) -> None:
    one = load_user_files([written(tmp_path / "one", "one", 3, "helper_of_one")])["one.thrice"].digest
    other = load_user_files([written(tmp_path / "other", "other", 4, "helper_of_other")])["other.thrice"].digest
    assert one != other


@pytest.mark.canary("CACHE-STALE")
@pytest.mark.parametrize("imported", ["from helper_of_{0}.core import factor", "import helper_of_{0}.core as core"])
def test_an_edit_of_a_library_elsewhere_makes_another_digest(
    tmp_path: Path, imported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for name, value in (("first", 3), ("second", 4), ("third", 3)):
        library = tmp_path / name / f"helper_of_{name}"
        library.mkdir(parents=True)
        (library / "__init__.py").write_text("")
        (library / "core.py").write_text(HELPER.format(value=value))
        monkeypatch.syspath_prepend(library.parent)
        (tmp_path / name / "own").mkdir()
        file = tmp_path / name / "own" / "kernels.py"
        text = GOOD.format(family="mine", helper="?").replace("from ? import factor", imported.format(name))
        file.write_text(text if imported.startswith("from") else text.replace("factor()", "core.factor()"))
        digests.append(load_user_files([str(file)])["mine.thrice"].digest)
        registry._added.clear()
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.twin("CACHE-STALE")
def test_the_same_code_elsewhere_has_the_same_digest(tmp_path: Path) -> None:
    one = load_user_files([written(tmp_path / "one", "one", 3, "helper_of_one")])["one.better"].digest
    registry._added.clear()
    other = load_user_files([written(tmp_path / "other", "other", 3, "helper_of_other")])["other.better"].digest
    assert one == other


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = = 1", r"kernels.py line 1: SyntaxError: invalid syntax"),
        ("x = 1\nraise RuntimeError('on purpose')", r"kernels.py line 2: RuntimeError: on purpose"),
        ("import sys\nsys.exit(3)", r"kernels.py line 2: SystemExit: 3"),
        ("raise KeyboardInterrupt", r"kernels.py line 1: KeyboardInterrupt: no message"),
        ("import no_such_module_here", r"kernels.py line 1: ModuleNotFoundError: "),
        ("x = 1", "declares no kernel"),
        (
            "from roofline import kernel\n@kernel(family='a')\ndef f(x):\n    'x'",
            r"line 2: UsageError: kernel a.f declares no",
        ),
        ("\0", r"kernels.py.*: (SyntaxError|ValueError): "),
    ],
)
def test_a_file_that_is_none_of_kernels_is_told_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        load_user_files([str(file)])
    assert not registry._added


def test_a_kernel_that_is_written_twice_in_one_file_is_refused(tmp_path: Path) -> None:
    file = Path(written(tmp_path, "mine"))
    text = file.read_text()
    file.write_text(text + text[text.index("@kernel") :])
    with pytest.raises(UsageError, match=r"kernels\.py line \d+: thrice is written in line \d+ already; rename one"):
        load_user_files([str(file)])


def test_a_name_that_the_suite_has_already_is_refused(tmp_path: Path) -> None:
    file = Path(written(tmp_path, "gemm"))
    file.write_text(file.read_text().replace("def thrice", "def naive").replace("improves=thrice", "improves=naive"))
    with pytest.raises(UsageError, match=r"declares gemm\.naive, which the suite has already"):
        load_user_files([str(file)])


def test_two_files_with_one_name_are_refused(tmp_path: Path) -> None:
    files = [written(tmp_path / name, "mine", helper=f"helper_of_{name}") for name in ("one", "two")]
    with pytest.raises(UsageError, match=r"two kernels are called mine\.thrice"):
        load_user_files(files)
