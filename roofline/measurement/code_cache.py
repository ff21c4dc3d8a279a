"""Where compiled code is kept between runs: a folder that belongs to exactly this checkout, compiler and CPU.

Numba does not notice when a helper in another file changes, nor a new llvmlite; so the folder's name is a hash of
all that decides about the code. What decides about a user's code nobody knows: every run compiles it anew. The cache is
pickle: it is never read from an archive or anybody else's folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

from roofline.codegen.kept import FOLDER
from roofline.model.machine import Machine

_ROOMS = ("codegen", "kernels", "measurement", "model")
"""What they hold decides what is measured, and how; the ISAs of the model shape the tiles, its levels size the data."""
_PACKAGE = Path(__file__).resolve().parents[1]
_PACKAGES = ("numba", "llvmlite", "numpy")
NUMBA_FOLDER = "NUMBA_CACHE_DIR"
_HARMLESS_VARIABLES = (NUMBA_FOLDER, "NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT")
_READY = "ready.txt"
_DONE = ".done"
_CLAIMS = "claims-"
_CLAIMS_LAST_S = 3600.0
"""Compiling ahead never takes so long."""
_KEEP_FOLDERS = 12


class Claims:
    """A folder through which processes share out numbered work: each takes the next that no other has taken."""

    def __init__(self, folder: Path) -> None:
        """`folder` must exist."""
        self.folder = folder

    def take(self, number: int) -> bool:
        """Return True to exactly one process: the work of this number is its own."""
        try:
            (self.folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def finish(self, number: int) -> None:
        """Note that the work of this number has been done."""
        (self.folder / f"{number}{_DONE}").touch()

    def is_finished(self, number: int) -> bool:
        """Whether a process has done the work of this number."""
        return (self.folder / f"{number}{_DONE}").exists()


class CodeCache:
    """The folder of compiled code for this source, these compilers and this CPU."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made when it does not exist. Raises OSError when that is refused."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    @property
    def ready(self) -> frozenset[str]:
        """Names (`Point.code`) of what has been compiled into this folder; empty when that cannot be read."""
        try:
            return frozenset((self.folder / _READY).read_text(encoding="utf-8").splitlines())
        except (OSError, UnicodeDecodeError):
            return frozenset()

    def add_ready(self, codes: Collection[str]) -> None:
        """Note that these have been compiled. Raises OSError when it cannot be written."""
        (self.folder / _READY).write_text("".join(f"{code}\n" for code in sorted(self.ready | set(codes))), "utf-8")

    @contextmanager
    def claims(self) -> Iterator[Claims]:
        """Lend a folder of claims until the context ends. Raises OSError when it cannot be made."""
        with TemporaryDirectory(prefix=_CLAIMS, dir=self.folder, ignore_cleanup_errors=True) as folder:
            yield Claims(Path(folder))

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def prune(self) -> None:
        """Remove all but the newest folders beside this one, whose sources and compilers are gone, and old claims."""
        for claims in self.folder.glob(f"{_CLAIMS}*"):
            if time.time() - claims.stat().st_mtime > _CLAIMS_LAST_S:  # a launcher that was killed left them
                shutil.rmtree(claims, ignore_errors=True)
        beside = [path for path in self.folder.parent.iterdir() if path.is_dir() and path != self.folder]
        newest_first = sorted(beside, key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first[_KEEP_FOLDERS - 1 :]:
            shutil.rmtree(path, ignore_errors=True)


def folders_of_code(cache: CodeCache | None, scratch: Path | None) -> dict[str, str]:
    """Return the variables by which a worker keeps the suite's code in `cache`, and a user's in `scratch`.

    `scratch` is given where there is a user's code, and removed with the run: see `codegen.kept`.
    """
    lasting = {} if cache is None else {FOLDER: str(cache.folder)}
    numba = scratch or (cache.folder if cache is not None else None)
    return lasting if numba is None else {**lasting, NUMBA_FOLDER: str(numba)}


def share_code(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether processes with these environments write code to one folder."""
    return one.get(NUMBA_FOLDER) == other.get(NUMBA_FOLDER) or (FOLDER in one and one[FOLDER] == other.get(FOLDER))


@contextmanager
def scratch_for(files: Sequence[str]) -> Iterator[Path | None]:
    """Lend a folder for the code of a user's files, removed when the context ends; None when there are no files."""
    if not files:
        yield None
        return
    with TemporaryDirectory(prefix="roofline-code-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def code_cache(machine: Machine, base: Path | None = None) -> CodeCache:
    """Return the cache for this source tree on this machine, below `base` (default: the user's cache folder).

    Raises OSError when the folder cannot be made.
    """
    base = base or Path(platformdirs.user_cache_dir("roofline-suite", appauthor=False)) / "code"
    return CodeCache(base / _digest(machine))


def suite_digest() -> str:
    """Return 16 hex digits over the source of this suite that decides about what is measured, and how."""
    return hashlib.sha256(_source()).hexdigest()[:16]


def _source() -> bytes:
    files = sorted(path for room in _ROOMS for path in (_PACKAGE / room).rglob("*.py"))
    return b"".join(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes() + b"\0" for path in files)


def _digest(machine: Machine) -> str:
    digest = hashlib.sha256(_source())
    # Numba keys its cache by CPU, but not by its own switches: code made with NUMBA_OPT=0 would be loaded without it.
    switches = sorted(f"{name}={value}" for name, value in os.environ.items() if _decides_code(name))
    versions = [_version(name) for name in _PACKAGES]
    facts = [_PACKAGE, machine.cpu_model, machine.microarchitecture, *machine.features, *versions, *switches]
    digest.update("\0".join(map(str, facts)).encode())
    return digest.hexdigest()[:16]


def _decides_code(variable: str) -> bool:
    return variable.startswith("NUMBA_") and variable not in _HARMLESS_VARIABLES


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
