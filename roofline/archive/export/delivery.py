"""Exported files on disk: where each goes, written without taking another thing's place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from roofline.archive.disk import read_bytes
from roofline.archive.export.asv_results import BENCHMARKS, with_earlier
from roofline.errors import ResultsError, UsageError


def deliver(files: Mapping[str, bytes], to: str, output: Path) -> list[Path]:
    """Write what `exported` returned in the format `to` and return the paths, in order.

    One file: `output` is its name. `asv`: `output` is the results folder, and its `benchmarks.json` keeps what it has
    already. Several files otherwise: `output` is a folder that is there, or what their names begin with.

    Raises UsageError where `output` is a folder and should be none, or the other way round, ArchiveError for a
    `benchmarks.json` that is none, and ResultsError where nothing can be written.
    """
    places = _places(files, to, output)
    contents = dict(files)
    if to == "asv" and (known := output / BENCHMARKS).exists():
        contents[BENCHMARKS] = with_earlier(files[BENCHMARKS], read_bytes(known, "benchmarks.json of asv"), str(known))
    for name, path in places.items():
        try:
            if to == "asv":
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents[name])
        except OSError as error:
            raise ResultsError(f"cannot write {path}: {error.strerror or error}; name another with -o") from error
        except ValueError as error:  # a name with a NUL
            raise UsageError(f"cannot write {str(path)!r}: {error}; name another with -o") from error
    return list(places.values())


def _places(files: Mapping[str, bytes], to: str, output: Path) -> dict[str, Path]:
    is_folder = os.path.isdir(output)  # noqa: PTH112  (Path.is_dir raises for names that no file can have)
    if to == "asv":
        if os.path.exists(output) and not is_folder:  # noqa: PTH110
            raise UsageError(f"-o {str(output)!r} is a file, expected the results folder of asv, which may be new")
        return {name: output / name for name in files}
    if list(files) == [""]:
        if is_folder or not output.name:
            raise UsageError(f"-o {str(output)!r} is a folder, expected the name of a file, as {output / f'run.{to}'}")
        return {"": output}
    if is_folder:
        return {name: output / name for name in files}
    return {name: output.with_name(f"{output.name.removesuffix('.json')}-{name}") for name in files}
