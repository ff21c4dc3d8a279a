"""Mutated run files and journals: only ArchiveError may come out, and what loads can be shown, drawn and verified.

    python tests/fuzz_archives.py [EXAMPLES]

Prints how many were refused and how many were read, the slowest and by how much memory grew, and ends with 1 when any
broke a promise.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path
from zlib import crc32

from hostile import Mutations
from small_run import small_run

from roofline.archive.document import decode, encode
from roofline.archive.journal import read_journal
from roofline.archive.store import runs
from roofline.archive.verification import verify
from roofline.errors import ArchiveError, RooflineError
from roofline.model.final import rejudged
from roofline.model.ladder import family_of, ladders_of
from roofline.model.run import Run
from roofline.plotting.ladder_text import heading, sentences
from roofline.plotting.summary import tables
from roofline.plotting.table import to_markdown

MOST_S = 1.0
MOST_BYTES = 200 * 2**20
DRAWN_EVERY = 40
"""Drawing takes long: so many runs that load are drawn each."""
SMALL = encode(rejudged(small_run()))


def use(run: Run, drawn: bool) -> None:
    """Do everything with a run that a reader can; anything but an error of ours is a defect."""
    for table in tables(run):
        to_markdown(table)
    encode(run)
    for family in {family_of(measurement.kernel) for measurement in run.measurements}:
        with suppress(RooflineError):
            for ladder in ladders_of(run, family):
                heading(ladder)
                sentences(ladder)
    if drawn:
        from roofline.plotting.figure import draw

        with suppress(RooflineError):
            draw(run)


def as_journal(document: bytes) -> bytes:
    """Return a journal whose only line is this document, with a checksum that fits."""
    line = document.replace(b"\n", b" ")
    return b"%08x %s\n" % (crc32(line), line)


def read(data: bytes, folder: Path, number: int) -> bool:
    """Read one file in every way; return whether it was read."""
    path = folder / "m" / ("20261104-101500-a1b2.json" if number % 5 else "20261104-101500-a1b2.jsonl.part")
    path.write_bytes(data if number % 5 else as_journal(data))
    try:
        run = decode(data, "fuzz") if number % 5 else read_journal(path)[0]
        verify(path)
    except ArchiveError as error:
        assert str(error).isprintable() or "\n" not in str(error)
        return False
    finally:
        runs(folder)
        path.unlink()
    use(run, number % DRAWN_EVERY == 0)
    return True


def fuzz(examples: int, seed: int) -> tuple[Counter[str], float]:
    """Read so many mutated files; return what became of them, and the longest time."""
    counted: Counter[str] = Counter()
    slowest_s = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "m").mkdir()
        for number, data in enumerate(islice(Mutations(SMALL, seed), examples)):
            started_s = time.perf_counter()
            try:
                counted["read" if read(data, folder, number) else "refused"] += 1
            except Exception:
                counted["broken"] += 1
                traceback.print_exc()
                print(f"example {number} of seed {seed}", file=sys.stderr)
            took_s = time.perf_counter() - started_s
            slowest_s = max(slowest_s, took_s if number % DRAWN_EVERY else 0.0)
            counted["slow"] += took_s > MOST_S and bool(number % DRAWN_EVERY)
    return counted, slowest_s


def main() -> int:
    """Fuzz and report."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    counted, slowest_s = fuzz(examples, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    grown_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before_bytes
    print(f"{examples} files: {dict(counted)}; slowest {slowest_s:.2f} s, memory grew by {grown_bytes / 2**20:.0f} MiB")
    return int(bool(counted["broken"] or counted["slow"] or grown_bytes > MOST_BYTES))


if __name__ == "__main__":
    sys.exit(main())
