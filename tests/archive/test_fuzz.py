"""A taste of `tests/fuzz_archives.py`, and texts that are hostile in every field that a run has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_archives import SMALL, fuzz
from hostile import TEXTS, texts_of, value_at, with_value

from roofline.archive.document import decode, encode
from roofline.archive.store import save
from roofline.errors import ArchiveError, ResultsError
from roofline.plotting.summary import tables
from roofline.plotting.table import to_markdown

TREE = json.loads(SMALL)
FIELDS = sorted({tuple("*" if isinstance(step, int) else step for step in place) for place in texts_of(TREE)})


def test_mutated_files_are_refused_in_words_or_can_be_read_in_every_way() -> None:
    counted, slowest_s = fuzz(250, seed=20261201)
    assert counted["broken"] == counted["slow"] == 0
    assert min(counted["read"], counted["refused"]) > 20
    assert slowest_s < 10


def first_place(field: tuple[str, ...]) -> tuple[str | int, ...]:
    return next(place for place in texts_of(TREE) if tuple("*" if isinstance(s, int) else s for s in place) == field)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: ".".join(field))
def test_a_hostile_text_in_any_field_reaches_no_terminal_and_no_page(field: tuple[str, ...], tmp_path: Path) -> None:
    """Walks over what a run holds, so that a new field is tried as soon as there is one."""
    place = first_place(field)
    assert isinstance(value_at(TREE, place), str)
    for text in TEXTS:
        data = json.dumps(with_value(TREE, place, text)).encode()
        try:
            run = decode(data, "hostile")
        except ArchiveError as error:
            assert "\x1b" not in str(error) and "\u202e" not in str(error)
            continue
        for table in tables(run):
            cells = [table.title, *(cell for row in table.rows for cell in row)]
            assert all(cell.isprintable() for cell in cells), field
            page = to_markdown(table)
            assert not any(bad in page for bad in ("<script", "\x1b", "\u202e")), field
            assert not re.search(r"(?<!\\)\]\(", page), field  # no link
            assert not any(line.lstrip().startswith("::") for line in page.splitlines()), field
        try:
            saved = save(run, tmp_path / "results")
        except (ArchiveError, ResultsError):
            continue
        assert saved.resolve().is_relative_to((tmp_path / "results").resolve())
        saved.unlink()
    assert {path.name for path in tmp_path.iterdir()} <= {"results"}


READS = """
import sys
allowed = sys.argv[1]
watched = []
def hook(event, args):
    if event in ("exec", "compile", "subprocess.Popen", "os.system", "socket.connect", "os.exec", "os.spawn"):
        if event in ("exec", "compile") and not any(word in repr(args) for word in ("evil", "__import__")):
            return  # the program's own modules and types
        watched.append((event, repr(args)[:200]))
    if event == "open" and isinstance(args[0], str) and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        if not args[0].startswith(allowed):
            watched.append((event, args[0]))
from bench.__main__ import main
import bench.cli.show, bench.cli.verify, roofline.plotting.summary, roofline.archive.verification, bench.cli.render
sys.addaudithook(hook)
for verb in ("show", "verify"):
    main(["--results", allowed, verb, sys.argv[2]])
loaded = sorted({name.split(".")[0] for name in sys.modules} & {"numba", "llvmlite", "evil", "pickle_evil"})
print("\\nWATCHED", watched, loaded)
"""


def test_reading_a_hostile_file_runs_nothing_loads_no_numba_and_writes_nothing_elsewhere(tmp_path: Path) -> None:
    tree = json.loads(SMALL)
    tree["plan"] = {"mode": "run", "files": ["evil.py"], "kernels": ["__import__('os').system('x')"]}
    tree["measurements"][0]["kernel"] = "__import__('evil')"
    file = tmp_path / "run.json"
    file.write_text(json.dumps(tree))
    (tmp_path / "evil.py").write_text("raise SystemExit('loaded')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", READS, str(tmp_path), str(file)], capture_output=True, text=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "WATCHED [] []", done.stdout[-2000:] + done.stderr


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8", "POSIX"])
def test_output_is_the_same_in_every_locale(locale: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(encode(decode(SMALL, "small")))
    command = [sys.executable, "-m", "bench", "show", str(file), "--json"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    base = {**clean, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
    plain = subprocess.run(command, capture_output=True, env={**base, "LC_ALL": "C.UTF-8"})
    other = subprocess.run(command, capture_output=True, env={**base, "LC_ALL": locale, "PYTHONUTF8": "0"})
    assert other.returncode == plain.returncode == 0
    assert other.stdout == plain.stdout
