"""The journal: what was measured before a crash is there after it."""

from __future__ import annotations

import json
import math
import resource
import shutil
from pathlib import Path
from zlib import crc32

import pytest
from msgspec.structs import replace
from small_run import small_run

from roofline.archive.journal import MAX_LINES, UNSAVED, Journal, is_being_written, journal_path, read_journal
from roofline.archive.store import load, save
from roofline.errors import ArchiveError, ResultsError
from roofline.model.ceilings import Ceilings
from roofline.model.final import rejudged
from roofline.model.run import (
    Caveat,
    CaveatFound,
    ComputeMeasured,
    Failure,
    KernelMeasured,
    LevelsFound,
    LibrariesFound,
    MemoryMeasured,
    PointFailed,
    Record,
    Run,
)

SMALL = rejudged(small_run())
START = replace(
    SMALL,
    ceilings=Ceilings(),
    levels=(),
    sweep=(),
    measurements=(),
    failures=(),
    caveats=(),
    complete=False,
    elapsed_s=None,
)
CAVEAT = CaveatFound(caveat=Caveat(code="STEAL", message="the hypervisor took 3 %"))
RECORDS: tuple[Record, ...] = (
    LevelsFound(levels=SMALL.levels, sweep=SMALL.sweep),
    *(ComputeMeasured(ceiling=ceiling) for ceiling in SMALL.ceilings.compute),
    *(MemoryMeasured(ceiling=ceiling) for ceiling in SMALL.ceilings.memory),
    *(KernelMeasured(measurement=measurement) for measurement in SMALL.measurements),
    *(PointFailed(failure=failure) for failure in SMALL.failures),
    *(CaveatFound(caveat=caveat) for caveat in SMALL.caveats),
    LibrariesFound(
        llvm=SMALL.environment.llvm or "20.1.8",
        target_cpu=SMALL.environment.target_cpu or "znver4",
        blas=SMALL.environment.blas,
    ),
)


def grown(*records: Record) -> Run:
    """Return the run that a journal with these records holds."""
    run = START
    for record in records:
        run = run.with_record(record)
    return replace(rejudged(run), reason=UNSAVED)


def written(results: Path, *records: Record) -> Path:
    """Write a journal and return its path."""
    with Journal(START, results) as journal:
        for record in records:
            journal.append(record)
    return journal.path


def line_of(text: str) -> bytes:
    """Return a line whose checksum fits."""
    return b"%08x %s\n" % (crc32(text.encode()), text.encode())


def test_a_run_is_rebuilt_from_its_records(tmp_path: Path) -> None:
    path = written(tmp_path, *RECORDS)
    assert read_journal(path) == (grown(*RECORDS), 0)
    rebuilt = load(path)
    assert (rebuilt.ceilings, rebuilt.levels, rebuilt.sweep) == (SMALL.ceilings, SMALL.levels, SMALL.sweep)
    assert (rebuilt.measurements, rebuilt.failures, rebuilt.caveats) == (
        SMALL.measurements,
        SMALL.failures,
        SMALL.caveats,
    )
    assert (rebuilt.environment.llvm, rebuilt.environment.target_cpu) == ("20.1.8", "znver4")


def test_the_journal_lies_beside_the_file(tmp_path: Path) -> None:
    assert journal_path(SMALL, tmp_path) == tmp_path / SMALL.machine.key / f"{SMALL.id}.jsonl.part"
    path = written(tmp_path)
    assert path == journal_path(SMALL, tmp_path)
    assert path.parent == save(START, tmp_path).parent


def test_a_record_is_there_as_soon_as_append_returns(tmp_path: Path) -> None:
    with Journal(START, tmp_path) as journal:
        for count in range(3):
            assert read_journal(journal.path) == (grown(*[CAVEAT] * count), 0)
            journal.append(CAVEAT)


def test_a_torn_last_line_loses_one_record(tmp_path: Path) -> None:
    path = written(tmp_path, *RECORDS[:3], CAVEAT)
    whole = path.read_bytes()
    start_of_last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for length in (start_of_last + 1, start_of_last + 9, start_of_last + 30, len(whole) - 2):
        path.write_bytes(whole[:length])
        run, lost = read_journal(path)
        assert lost == 1
        (caveat,) = run.caveats
        assert caveat.code == "JOURNAL_TORN"
        assert caveat.message.startswith("1 record of the journal lost")
        assert replace(run, caveats=()) == grown(*RECORDS[:3])


def test_a_last_line_without_its_newline_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path, CAVEAT)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert read_journal(path) == (grown(CAVEAT), 0)


def test_a_corrupt_line_loses_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path, *RECORDS)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"fma", b"fmb", 1)
    lines[4] = b"\xff\x00\n"
    path.write_bytes(b"".join(lines))
    run, lost = read_journal(path)
    assert lost == 2
    kept = [record for index, record in enumerate(RECORDS, start=1) if index not in (2, 4)]
    assert replace(run, caveats=run.caveats[:-1]) == grown(*kept)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "null",
        '{"record": "unknown"}',
        '{"record": "caveat", "caveat": {"code": 1, "message": ""}}',
        '{"record": "caveat", "record": "caveat", "caveat": {"code": "A", "message": ""}}',
        '{"record": "levels", "levels": [], "sweep": [{"size_bytes": 1, "byte_per_s": -1}]}',
    ],
)
def test_a_line_that_is_no_record_is_lost_although_its_checksum_fits(tmp_path: Path, text: str) -> None:
    path = written(tmp_path)
    path.write_bytes(
        path.read_bytes()
        + line_of(text)
        + line_of('{"record": "caveat", "caveat": {"code": "STEAL", "message": "the hypervisor took 3 %"}}')
    )
    run, lost = read_journal(path)
    assert lost == 1
    assert run.caveats[0] == CAVEAT.caveat


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:50], lambda data: b"x" + data])
def test_a_journal_without_its_first_line_is_refused(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    path = written(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ArchiveError, match=r"journal is empty|line 1: the checksum does not fit"):
        read_journal(path)


def test_a_first_line_of_a_newer_schema_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.part"
    path.write_bytes(line_of(json.dumps({"schema": 3})))
    with pytest.raises(ArchiveError, match=r"line 1: schema: found 3, .*upgrade"):
        load(path)


def test_a_journal_of_endless_lines_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + b"x\n" * MAX_LINES)
    with pytest.raises(ArchiveError, match="20001 lines"):
        read_journal(path)


def test_a_journal_never_overwrites_another(tmp_path: Path) -> None:
    path = written(tmp_path, CAVEAT)
    with pytest.raises(ResultsError, match="cannot write results"):
        Journal(START, tmp_path)
    assert read_journal(path) == (grown(CAVEAT), 0)


def test_a_header_that_could_not_be_read_back_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="id: found"):
        Journal(replace(START, id="../../escape"), tmp_path / "results")
    assert list(tmp_path.rglob("*")) == []


def test_a_record_that_could_not_be_read_back_is_refused_unwritten(tmp_path: Path) -> None:
    bad = replace(SMALL.measurements[0], samples_s=(math.nan,) * 12)
    with Journal(START, tmp_path) as journal:
        with pytest.raises(ArchiveError, match=r"measurement\.samples_s\[0\]: found NaN"):
            journal.append(KernelMeasured(measurement=bad))
        with pytest.raises(ArchiveError, match=r"measurement\.samples_s: found no samples"):
            journal.append(KernelMeasured(measurement=replace(bad, samples_s=())))
        with pytest.raises(ArchiveError, match=r"ceiling\.threads: found 0"):
            journal.append(ComputeMeasured(ceiling=replace(SMALL.ceilings.compute[0], threads=0)))
        journal.append(CAVEAT)
    assert read_journal(journal.path) == (grown(CAVEAT), 0)


def test_a_full_disk_loses_only_what_did_not_fit(tmp_path: Path) -> None:
    long = PointFailed(failure=Failure(kind="raised", point="gemm.naive", message="x" * 10_000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(START, tmp_path) as journal:
        journal.append(CAVEAT)
        resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 500, hard))
        try:
            with pytest.raises(ResultsError, match=r"cannot write results in .*: File too large"):
                journal.append(long)
            assert read_journal(journal.path) == (grown(CAVEAT), 0)
            journal.append(CAVEAT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        journal.append(long)
    assert read_journal(journal.path) == (grown(CAVEAT, CAVEAT, long), 0)


def test_a_journal_that_somebody_removes_is_made_again_with_all_that_it_held(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with Journal(START, results) as journal:
        journal.append(CAVEAT)
        shutil.rmtree(results)
        journal.append(RECORDS[1])
        journal.append(CAVEAT)
    assert read_journal(journal.path) == (grown(CAVEAT, RECORDS[1], CAVEAT), 0)


def test_a_journal_that_cannot_be_made_again_is_refused_and_kept_open_for_a_better_moment(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with Journal(START, results) as journal:
        journal.append(CAVEAT)
        shutil.rmtree(results)
        results.write_text("a file now")
        with pytest.raises(ResultsError, match="cannot write results"):
            journal.append(CAVEAT)
        results.unlink()
        journal.append(CAVEAT)
    assert read_journal(journal.path) == (grown(CAVEAT, CAVEAT), 0)


def test_a_closed_journal_takes_no_more(tmp_path: Path) -> None:
    with Journal(START, tmp_path) as journal:
        pass
    with pytest.raises(ValueError, match="closed"):
        journal.append(CAVEAT)


def test_a_journal_is_being_written_as_long_as_its_run_lives(tmp_path: Path) -> None:
    with Journal(START, tmp_path) as journal:
        assert is_being_written(journal.path)
        journal.path.unlink()
        journal.append(CAVEAT)  # made again
        assert is_being_written(journal.path)
    assert not is_being_written(journal.path)
    assert not is_being_written(tmp_path / "none")
