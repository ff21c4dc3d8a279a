"""The results folder: written durably or not at all."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.disk import check_writable, read_bytes, write_synced
from roofline.archive.journal import Journal, journal_path
from roofline.archive.store import load, save
from roofline.errors import ArchiveError, ResultsError

SMALL = small_run()
KEY = SMALL.machine.key


def content(folder: Path) -> list[str]:
    """Return every file below a folder, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@contextmanager
def files_limited_to(size_bytes: int) -> Iterator[None]:
    """A disk that takes only files of this size: the kernel refuses the rest, as it does on a full one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_run_is_saved_under_its_machine_and_id(tmp_path: Path) -> None:
    path = save(SMALL, tmp_path / "new" / "results")
    assert path == tmp_path / "new" / "results" / KEY / "20261104-101500-a1b2.json"
    assert load(path) == SMALL
    assert content(tmp_path) == [f"new/results/{KEY}/20261104-101500-a1b2.json"]


def test_a_saved_run_is_never_overwritten(tmp_path: Path) -> None:
    path = save(SMALL, tmp_path)
    with pytest.raises(ResultsError, match=r"a1b2\.json is already there and is never overwritten"):
        save(replace(SMALL, label="other"), tmp_path)
    assert load(path) == SMALL
    assert content(tmp_path) == [f"{KEY}/{SMALL.id}.json"]


def no_links(source: Path, target: Path) -> None:
    """Refuse as a file system without hard links does."""
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_a_file_system_without_links_is_no_obstacle(tmp_path: Path) -> None:
    path = save(SMALL, tmp_path, link=no_links)
    assert load(path) == SMALL
    with pytest.raises(ResultsError, match="never overwritten"):
        save(replace(SMALL, label="other"), tmp_path, link=no_links)
    assert load(path) == SMALL
    assert content(tmp_path) == [f"{KEY}/{SMALL.id}.json"]


def test_a_disk_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing(source: Path, target: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(ResultsError, match=r"cannot write results in .*: Input/output error; check the disk, or name"):
        save(SMALL, tmp_path, link=failing)
    assert content(tmp_path) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with files_limited_to(1000), pytest.raises(ResultsError, match=r"cannot write results in .*: File too large"):
        save(SMALL, tmp_path)
    assert content(tmp_path) == []


def test_a_run_that_could_not_be_read_back_is_not_saved(tmp_path: Path) -> None:
    for run_id in ("../../escape", "/etc/escape", "", "20261104-101500-a1b2\x00", "20261104-101500-A1B2"):
        with pytest.raises(ArchiveError, match="id: found"):
            save(replace(SMALL, id=run_id), tmp_path / "results")
    assert content(tmp_path) == []


def test_saving_removes_the_journal(tmp_path: Path) -> None:
    Journal(SMALL, tmp_path).close()
    assert journal_path(SMALL, tmp_path).exists()
    save(SMALL, tmp_path)
    assert content(tmp_path) == [f"{KEY}/{SMALL.id}.json"]


def in_a_file(tmp_path: Path) -> Path:
    """Return a results folder that is a file."""
    (tmp_path / "file").write_text("here first")
    return tmp_path / "file"


def below_a_file(tmp_path: Path) -> Path:
    """Return a results folder below a file."""
    return in_a_file(tmp_path) / "results"


@pytest.mark.parametrize("place", [in_a_file, below_a_file])
def test_a_file_in_the_way_of_the_results_is_refused(place: Callable[[Path], Path], tmp_path: Path) -> None:
    results = place(tmp_path)
    for attempt in (lambda: check_writable(results), lambda: save(SMALL, results), lambda: Journal(SMALL, results)):
        with pytest.raises(
            ResultsError, match=r"cannot write results in .*; move the file that is in the way, or name"
        ):
            attempt()
    assert content(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ResultsError, match="check its permissions"):
        check_writable(tmp_path)


def test_a_full_disk_is_found_before_measuring(tmp_path: Path) -> None:
    with files_limited_to(0), pytest.raises(ResultsError, match="cannot write results"):
        check_writable(tmp_path)


def test_the_check_makes_the_folder_and_leaves_nothing_in_it(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "results")
    assert (tmp_path / "a" / "results").is_dir()
    assert content(tmp_path) == []


def test_what_cannot_be_read_is_an_archive_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path, reason in (
        (tmp_path / "missing.json", "No such file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe.json", "not a regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
        (tmp_path / "a\x00b", "null byte"),
    ):
        with pytest.raises(ArchiveError, match=reason):
            load(path)


def test_an_oversized_file_is_refused_without_reading_all_of_it(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(2**40)  # sparse: no memory could hold it
    with pytest.raises(ArchiveError, match="larger than 64 MiB"):
        load(tmp_path / "huge.json")


def test_a_new_file_never_replaces_another(tmp_path: Path) -> None:
    write_synced(tmp_path / "a", b"first")
    with pytest.raises(FileExistsError):
        write_synced(tmp_path / "a", b"second")
    assert read_bytes(tmp_path / "a") == b"first"
