"""The files that CI services read of a run: tests, metrics, and series for benchmark trackers."""

from __future__ import annotations

from pathlib import Path

from bench.service.judgement import Judgement
from roofline.archive.disk import refuse_results
from roofline.archive.export import exported
from roofline.archive.export.github_action import BIGGER, SMALLER
from roofline.errors import NothingMeasured

JUNIT, METRICS, SUMMARY = "junit.xml", "metrics.txt", "summary.md"
_SERIES = {"openmetrics": METRICS, "bmf": "bmf.json", "github-action": ""}
"""Format and name; the last one brings its own names."""
NAMES = (JUNIT, METRICS, "bmf.json", BIGGER, SMALLER)


def write_artefacts(judgement: Judgement, folder: Path) -> list[Path]:
    """Write all formats into a folder and return the files; what an earlier run left there is replaced or removed.

    A run without any number has its failures only, as tests. Raises ResultsError when the folder cannot be written.
    """
    contents = {JUNIT: exported(judgement.run, "junit", judgement.outcomes)[""]}
    for to, name in _SERIES.items():
        try:
            files = exported(judgement.run, to)
        except NothingMeasured:
            continue
        contents |= {own or name: content for own, content in files.items()}
    no_artefacts(folder)
    try:
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        refuse_results(folder, error)
    return [folder / name for name in contents]


def no_artefacts(folder: Path) -> None:
    """Make the folder, and remove what an earlier job left in it. Raises ResultsError when that is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*NAMES, SUMMARY):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        refuse_results(folder, error)


def write_summary_file(text: str, folder: Path) -> Path:
    """Write the summary into the folder and return its file. Raises ResultsError when that is refused."""
    path = folder / SUMMARY
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse_results(folder, error)
    return path
