"""Compiled code is kept for exactly one source, compiler and CPU."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace
from sample_host import sample_machine

import roofline
from roofline.measurement.code_cache import Claims, CodeCache, code_cache

MACHINE = sample_machine()


def module_in(package: Path) -> ModuleType:
    """Return the module of code caches that stands in a copy of the package."""
    spec = importlib.util.spec_from_file_location("copied_code_cache", package / "measurement" / "code_cache.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the rooms whose source decides about the code, and of one that does not."""
    source = Path(roofline.__file__).parent
    for room in ("codegen", "kernels", "measurement", "model", "plotting"):
        shutil.copytree(source / room, tmp_path / "roofline" / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "roofline"


def folder_of(package: Path, base: Path) -> Path:
    """Return the cache folder that this copy of the package uses."""
    folder: Path = module_in(package).code_cache(MACHINE, base).folder
    return folder


@pytest.mark.canary("CACHE-STALE")
def test_one_byte_of_source_makes_another_folder(package: Path, tmp_path: Path) -> None:
    first = folder_of(package, tmp_path)
    assert folder_of(package, tmp_path) == first
    for room in ("codegen/emit.py", "kernels/gemm.py", "measurement/blocks.py", "model/isa.py"):
        path = package / room
        text = path.read_bytes()
        path.write_bytes(text + b"#")
        assert folder_of(package, tmp_path) != first, room
        path.write_bytes(text)
    assert folder_of(package, tmp_path) == first


@pytest.mark.parametrize(
    ("file", "decides"), [("codegen/emit.py", True), ("model/levels.py", True), ("plotting/table.py", False)]
)
def test_the_digest_of_the_suite_changes_with_what_decides_about_measuring(
    file: str, decides: bool, package: Path
) -> None:
    first = module_in(package).suite_digest()
    assert module_in(package).suite_digest() == first
    (package / file).write_bytes((package / file).read_bytes() + b"#")
    assert (module_in(package).suite_digest() != first) is decides


def test_a_new_or_renamed_source_makes_another_folder(package: Path, tmp_path: Path) -> None:
    first = folder_of(package, tmp_path)
    (package / "kernels" / "gemv.py").rename(package / "kernels" / "gemw.py")
    renamed = folder_of(package, tmp_path)
    (package / "kernels" / "new.py").write_text("")
    assert len({first, renamed, folder_of(package, tmp_path)}) == 3


def test_a_source_that_compiles_nothing_changes_no_folder(package: Path, tmp_path: Path) -> None:
    first = folder_of(package, tmp_path)
    (package / "plotting" / "table.py").write_text("changed")
    assert folder_of(package, tmp_path) == first


def test_another_checkout_has_another_folder(package: Path, tmp_path: Path) -> None:
    assert folder_of(package, tmp_path) != code_cache(MACHINE, tmp_path).folder


@pytest.mark.parametrize(
    "other",
    [
        replace(MACHINE, cpu_model="another"),
        replace(MACHINE, microarchitecture=None),
        replace(MACHINE, features=MACHINE.features[1:]),
    ],
)
def test_another_cpu_has_another_folder(other: object, tmp_path: Path) -> None:
    assert code_cache(other, tmp_path).folder != code_cache(MACHINE, tmp_path).folder  # type: ignore[arg-type]


@pytest.mark.twin("CACHE-STALE")
def test_what_decides_nothing_about_the_code_changes_no_folder(tmp_path: Path) -> None:
    other = replace(MACHINE, memory_bytes=1, virtualisation=None)
    assert code_cache(other, tmp_path).folder == code_cache(MACHINE, tmp_path).folder


def test_the_list_of_ready_code_survives_and_grows(tmp_path: Path) -> None:
    cache = code_cache(MACHINE, tmp_path)
    assert cache.ready == frozenset()
    cache.add_ready(["avx2 fma f64", "sweep"])
    code_cache(MACHINE, tmp_path).add_ready(["gemm.naive f64 serial"])
    assert code_cache(MACHINE, tmp_path).ready == {"avx2 fma f64", "sweep", "gemm.naive f64 serial"}


def test_a_list_that_cannot_be_read_is_empty_and_can_be_written_again(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path / "cache")
    (cache.folder / "ready.txt").write_bytes(b"\xff\xfe\x00")
    assert cache.ready == frozenset()
    cache.add_ready(["sweep"])
    assert cache.ready == {"sweep"}
    (cache.folder / "ready.txt").unlink()
    (cache.folder / "ready.txt").mkdir()
    assert cache.ready == frozenset()


def test_pruning_keeps_the_newest_folders_and_its_own(tmp_path: Path) -> None:
    names = [f"age{age:02}" for age in range(14)]
    for age, name in enumerate(names):
        CodeCache(tmp_path / name)
        (tmp_path / name / "code.nbi").write_text("code")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "a file").write_text("not a folder")
    own = CodeCache(tmp_path / "own")
    os.utime(tmp_path / "own", (1, 1))
    own.prune()
    assert {path.name for path in tmp_path.iterdir()} == {"own", *names[:11], "a file"}


def test_a_switch_of_the_compiler_has_a_cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = code_cache(MACHINE, tmp_path).folder
    monkeypatch.setenv("NUMBA_OPT", "0")
    assert code_cache(MACHINE, tmp_path).folder != plain
    monkeypatch.delenv("NUMBA_OPT")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert code_cache(MACHINE, tmp_path).folder == plain


def test_a_folder_that_cannot_be_made_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        code_cache(MACHINE, tmp_path / "file" / "base")


def test_claimed_work_goes_to_one_process_only(tmp_path: Path) -> None:
    with CodeCache(tmp_path / "cache").claims() as first:
        second = Claims(first.folder)
        assert [first.take(0), second.take(0), second.take(1), first.take(1)] == [True, False, True, False]
        first.finish(0)
        assert [second.is_finished(0), second.is_finished(1)] == [True, False]
    assert list((tmp_path / "cache").iterdir()) == []
